"""What stays together, and what a fragment repeats."""

from __future__ import annotations

from typing import Any

import pytest

from corpus_pipeline.chunking import TokenCounter
from corpus_pipeline.records import Block, BlockKind, Fragment, TableData

PARAGRAPH, HEADING, ITEM = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST_ITEM


def heading(text: str, level: int = 1) -> Block:
    return Block(kind=HEADING, text=text, level=level)


def paragraph(text: str) -> Block:
    return Block(kind=PARAGRAPH, text=text)


def table_of(rows: int, *, caption: str = "", header_rows: int = 1) -> Block:
    cells = [("Plan", "Requests"), *((f"plan {number}", f"{number} per minute") for number in range(rows))]
    text = "\n".join(" | ".join(row) for row in cells)
    return Block(
        kind=BlockKind.TABLE,
        text=text,
        table=TableData(rows=tuple(cells), header_rows=header_rows, caption=caption),
    )


def holding(fragments: tuple[Fragment, ...], text: str) -> list[Fragment]:
    return [fragment for fragment in fragments if text in fragment.text]


def test_the_context_path_is_title_section_and_subsection(chunk: Any) -> None:
    cut = chunk([heading("Refunds"), heading("Gift cards", 2), paragraph("They are excluded.")], title="Handbook")
    assert [f.section_path for f in cut.fragments] == [("Refunds", "Gift cards")]
    assert cut.fragments[0].embedded_text.split("\n")[0] == "Handbook > Refunds > Gift cards"


def test_a_heading_that_repeats_the_title_is_named_once(chunk: Any) -> None:
    cut = chunk([heading("Handbook"), heading("Refunds", 2), paragraph("Within 30 days.")], title="Handbook")
    assert cut.fragments[0].section_path == ("Refunds",)
    assert cut.fragments[0].embedded_text.startswith("Handbook > Refunds\n")


def test_without_a_title_the_file_name_begins_the_path(chunk: Any) -> None:
    assert chunk([paragraph("Text.")], title=None).fragments[0].embedded_text == "a\nText."


def test_a_long_path_is_shortened_to_its_ends_within_a_quarter_of_the_budget(chunk: Any, counter: TokenCounter) -> None:
    blocks = [heading(f"Level {level} with a long name of many words", level) for level in range(1, 5)]
    cut = chunk([*blocks, paragraph("Text.")], child_tokens=120)
    path = cut.fragments[-1].embedded_text.split("\n")[0]
    assert path == "Handbook > … > Level 4 with a long name of many words"
    assert counter.plain_counts([path])[0] <= 30


def test_fragments_do_not_reach_over_headings(chunk: Any) -> None:
    cut = chunk([heading("One"), paragraph("First."), heading("Two"), paragraph("Second.")])
    assert [f.section_path for f in cut.fragments] == [("One",), ("Two",)]
    assert len(cut.parents) == 1


def test_a_table_is_cut_between_rows_and_repeats_caption_and_header(chunk: Any) -> None:
    caption = Block(kind=BlockKind.CAPTION, text="Table 1: Limits of each plan")
    cut = chunk([heading("Limits"), caption, table_of(60)], child_tokens=96)
    first, *continued = cut.fragments
    assert "Table 1: Limits of each plan\n\nPlan | Requests\nplan 0" in first.text
    assert len(continued) > 3
    for fragment in continued:
        assert fragment.text.startswith("Table 1: Limits of each plan\nPlan | Requests\nplan ")
        assert fragment.text.rstrip().endswith("per minute")
    rows = [line for f in cut.fragments for line in f.text.split("\n") if line.startswith("plan ")]
    assert rows == [f"plan {number} | {number} per minute" for number in range(60)]


def test_a_parent_that_begins_inside_a_table_repeats_its_header_too(chunk: Any) -> None:
    cut = chunk([heading("Limits"), table_of(120)], child_tokens=64, parent_tokens=128)
    assert all(parent.text.startswith("Plan | Requests\n") for parent in cut.parents[1:])


def test_a_table_whose_cells_hold_line_breaks_keeps_its_header(chunk: Any) -> None:
    rows = (("Plan", "Notes"), *((f"plan {n}", "first line\nsecond line of it") for n in range(40)))
    block = Block(
        kind=BlockKind.TABLE, text="\n".join(" | ".join(row) for row in rows), table=TableData(rows=rows, header_rows=1)
    )
    cut = chunk([block], child_tokens=80)
    assert len(cut.fragments) > 3
    assert all(fragment.text.startswith("Plan | Notes\n") for fragment in cut.fragments)


def test_a_list_stays_with_its_lead_in_and_later_parts_carry_it_in_their_path(chunk: Any) -> None:
    items = [Block(kind=ITEM, text=f"{n}. Do step number {n} and wait for its result.", level=1) for n in range(1, 13)]
    cut = chunk([heading("Passwords"), paragraph("For all plans. To reset a password:"), *items], child_tokens=90)
    assert "To reset a password:\n\n1. Do step" in cut.fragments[0].text
    assert len(cut.fragments) > 1
    for fragment in cut.fragments[1:]:
        assert fragment.embedded_text.startswith("Handbook > Passwords > To reset a password:\n")


def test_code_stays_with_its_lead_in(chunk: Any) -> None:
    filler = paragraph("Words about something else. " * 14)
    code = Block(kind=BlockKind.CODE, text="\n".join(f"step_{n}()" for n in range(8)))
    cut = chunk([filler, paragraph("Run the steps."), code], child_tokens=130)
    assert "Run the steps.\n\nstep_0()" in holding(cut.fragments, "step_7()")[0].text


@pytest.mark.parametrize("child_tokens", range(40, 90, 7))
def test_an_exception_stays_with_its_rule(chunk: Any, child_tokens: int) -> None:
    text = (
        "Orders are packed in the morning and leave the house at noon. Customers may return goods within thirty days. "
        "However, gift cards are excluded from that. The money is paid back to the card within five working days. "
    )
    cut = chunk([paragraph(text * 3)], child_tokens=child_tokens)
    for fragment in holding(cut.fragments, "However"):
        assert fragment.text.count("thirty days. However") == fragment.text.count("However")


def test_a_heading_never_ends_a_fragment_that_has_text_after_it(chunk: Any) -> None:
    cut = chunk([heading("Refunds"), paragraph("A sentence of some words. " * 60)], child_tokens=64)
    assert cut.fragments[0].text.startswith("Refunds\n\nA sentence")


def test_a_section_is_cut_into_parts_of_about_equal_size(chunk: Any) -> None:
    cut = chunk(
        [heading("Refunds"), *[paragraph("A sentence of some words. " * 3) for _ in range(12)]], child_tokens=150
    )
    sizes = [fragment.token_count for fragment in cut.fragments]
    assert len(sizes) > 1
    assert min(sizes) * 2 > max(sizes)


def test_parents_are_whole_sections_where_they_fit(chunk: Any) -> None:
    text = "A sentence of some words. " * 20
    blocks = [
        b for n in range(6) for b in (heading(f"Part {n}"), paragraph(text), heading("Detail", 2), paragraph(text))
    ]
    cut = chunk(blocks, parent_tokens=300, child_tokens=100)
    assert [parent.section_path for parent in cut.parents] == [(f"Part {n}",) for n in range(6)]


def test_pages_are_those_of_the_first_block(chunk: Any) -> None:
    blocks = [
        heading("A"),
        Block(kind=PARAGRAPH, text="x", page=2),
        heading("B"),
        Block(kind=PARAGRAPH, text="y", page=3),
    ]
    pages = [f.page_number for f in chunk([b.model_copy(update={"page": b.page or 2}) for b in blocks]).fragments]
    assert pages == [2, 2]


def test_token_windows_overlap_by_the_tokens_asked_for(chunk: Any, counter: TokenCounter) -> None:
    cut = chunk(
        [paragraph("word " * 500)], strategy="token_window", child_tokens=100, overlap_tokens=10, parent_tokens=4096
    )
    first, second = cut.fragments[:2]
    assert second.char_start < first.char_end
    shared = cut.fragments[0].text[second.char_start :]
    assert counter.plain_counts([shared]) == [10]


def test_docling_hybrid_merges_peers_and_stops_at_headings(chunk: Any) -> None:
    blocks = [heading("A"), paragraph("One."), paragraph("Two."), heading("B"), paragraph("Three.")]
    texts = [f.text.strip() for f in chunk(blocks, strategy="docling_hybrid").fragments]
    assert texts == ["A\n\nOne.\n\nTwo.", "B\n\nThree."]


def test_lines_of_a_text_with_a_paragraph_on_each_are_kept_whole(chunk: Any) -> None:
    lines = [f"Paragraph {n} says something. " + f"It goes on about matter {n} for a while. " * 5 for n in range(6)]
    cut = chunk([paragraph("\n".join(lines))], child_tokens=100)
    assert [fragment.text.strip() for fragment in cut.fragments] == [line.strip() for line in lines]


def test_lines_broken_to_a_width_are_no_paragraphs(chunk: Any) -> None:
    text = "Customers may return goods\nwithin thirty days. The money\nis paid back to the card.\n" * 8
    for fragment in chunk([paragraph(text)], child_tokens=64).fragments:
        assert fragment.text.strip().endswith(".")


def test_a_paragraph_that_must_be_cut_is_not_mixed_with_the_one_before(chunk: Any) -> None:
    short = paragraph("Words about the first matter, enough of them to stand alone as a fragment of their own here.")
    cut = chunk([short, paragraph("A sentence about the second matter. " * 14)], child_tokens=80)
    assert cut.fragments[0].text.strip() == short.text
    sizes = [fragment.token_count for fragment in cut.fragments[1:]]
    assert len(sizes) > 1
    assert min(sizes) * 2 > max(sizes)


def test_a_numbered_procedure_keeps_its_title_in_every_part(chunk: Any) -> None:
    steps = [Block(kind=ITEM, text=f"{n}. Press button {n}, then wait for lamp {n}.", level=1) for n in range(1, 25)]
    cut = chunk([heading("Restart the pump"), *steps], child_tokens=64)
    assert cut.fragments[0].text.startswith("Restart the pump\n\n1. Press button 1")
    assert len(cut.fragments) > 3
    for fragment in cut.fragments:
        assert fragment.embedded_text.startswith("Handbook > Restart the pump\n")
        assert fragment.section_path == ("Restart the pump",)


def test_code_keeps_its_explanation_before_or_after(chunk: Any) -> None:
    code = Block(kind=BlockKind.CODE, text="pump.restart()")
    filler = paragraph("Words about something else that fill the fragment up. " * 8)
    before = chunk([filler, paragraph("This restarts the pump:"), code, filler], child_tokens=110)
    assert "This restarts the pump:\n\npump.restart()" in holding(before.fragments, "pump.restart()")[0].text
    after = chunk([heading("Pump"), code, paragraph("The call above restarts the pump."), filler], child_tokens=110)
    assert "The call above" in holding(after.fragments, "pump.restart()")[0].text


def test_prose_is_cut_near_its_target_though_the_limit_is_far(chunk: Any, counter: TokenCounter) -> None:
    lines = [f"Sentence number {n} of the paragraph says something about matter {n * 7}. " for n in range(24)]
    cut = chunk([paragraph("".join(lines))], child_tokens=200, target_tokens=60)
    sizes = counter.plain_counts([fragment.text for fragment in cut.fragments])
    assert all(45 <= size <= 75 for size in sizes)
    assert all(fragment.text.rstrip().endswith(".") for fragment in cut.fragments)


def test_short_paragraphs_are_joined_up_to_the_target_and_long_ones_stay_apart(chunk: Any) -> None:
    short = [paragraph(f"Note {n} is brief and says little.") for n in range(4)]
    long = paragraph("A sentence about quite another matter with some words. " * 7)
    texts = [f.text.strip() for f in chunk([*short, long], child_tokens=200, target_tokens=60).fragments]
    assert texts == ["\n\n".join(each.text for each in short), long.text.strip()]


def test_a_list_that_fits_the_limit_is_whole_whatever_the_target(chunk: Any) -> None:
    items = [Block(kind=ITEM, text=f"{n}. Press button {n}, then wait for lamp {n}.", level=1) for n in range(1, 13)]
    cut = chunk([heading("Restart"), paragraph("To restart:"), *items], child_tokens=200, target_tokens=30)
    assert len(cut.fragments) == 1


def test_the_target_is_never_above_the_limit(chunk: Any) -> None:
    cut = chunk([paragraph("A sentence of some words. " * 60)], child_tokens=64, target_tokens=2048)
    sizes = [fragment.token_count for fragment in cut.fragments]
    assert max(sizes) <= 64
    assert min(sizes) * 2 > max(sizes)


def test_sentences_of_a_text_without_capitals_are_found(chunk: Any) -> None:
    text = "the fee is paid each quarter. the rate may vary between two bounds. no amount was drawn at year end. "
    for fragment in chunk([paragraph(text * 6)], target_tokens=40).fragments:
        assert fragment.text.strip().endswith(".")
