"""Figures that the checks of converted documents rest on."""

from __future__ import annotations

import pytest

from corpus_pipeline.conversion.measures import measure_document
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument, TableData

ENGLISH = (
    "The harbour office keeps a list of all ships that wait for a berth, and whoever comes first is served first. "
)
GERMAN = (
    "Das Hafenamt führt eine Liste aller Schiffe, die auf einen Liegeplatz warten, und wer zuerst kommt, ist dran. "
)


def document(*texts: str, page_count: int | None = None, pages: tuple[int, ...] = (), **properties: str):
    blocks = [
        Block(kind=BlockKind.PARAGRAPH, text=text, page=pages[number] if pages else None)
        for number, text in enumerate(texts)
    ]
    return ConvertedDocument.from_blocks(blocks, page_count=page_count, properties=properties)


@pytest.mark.parametrize("text", ["CafÃ© donâ€™t", "Caf\ufffd don\ufffdt", "(cid:12)(cid:3) a", "caf\x82 \ue001"])
def test_text_that_was_not_decoded_is_found(text: str) -> None:
    assert measure_document(document(text))["garbled_ratio"] > 0.1


@pytest.mark.parametrize(
    "text",
    [
        "Caf\u00e9 \u2013 don\u2019t \u201cquote\u201d \u00a35 \u00b7 30 \u00b0C",
        "S\u00e3o Tom\u00e9, \u00c2NGELA N\u00c3O",
        "\uf0b7 a bullet",
        "日本語 текст",
    ],
)
def test_sound_text_of_any_script_is_not_garbled(text: str) -> None:
    assert measure_document(document(text))["garbled_ratio"] == 0.0


def test_a_page_is_covered_by_text_by_being_blank_or_by_the_rest_of_a_block_and_by_nothing_else() -> None:
    found = measure_document(
        document("a" * 50, "b" * 50, page_count=6, pages=(1, 5), pdf_blank_pages="2", pdf_continued_pages="6")
    )
    assert found["uncovered_pages"] == [3, 4]
    assert found["text_pages"] == 5
    assert found["characters_per_page"] == pytest.approx(102 / 5, abs=0.1)


def test_formats_without_pages_have_no_page_figures() -> None:
    assert "uncovered_pages" not in measure_document(document("text"))


def test_tables_found_are_set_against_tables_kept() -> None:
    table = Block(kind=BlockKind.TABLE, text="a | b", table=TableData(rows=(("a", "b"),)))
    found = measure_document(ConvertedDocument.from_blocks([table], properties={"tables_dropped": "2"}))
    assert (found["tables"], found["tables_dropped"]) == (1, 2)


def test_the_language_is_told_the_same_each_time_and_only_from_enough_prose() -> None:
    assert [measure_document(document(GERMAN * 4))["language"] for _ in range(3)] == ["de"] * 3
    assert measure_document(document(ENGLISH * 4))["language"] == "en"
    assert "language" not in measure_document(document(ENGLISH))
    code = ConvertedDocument.from_blocks([Block(kind=BlockKind.CODE, text=ENGLISH * 10)])
    assert "language" not in measure_document(code)
