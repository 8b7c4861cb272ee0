"""Word differences: they lead from one text to the other, and show what changed."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.cli.differences import diff_json, diff_text
from corpus_pipeline.word_diff import ChangeKind, WordRun, changed_words, shortened, word_diff

TEXTS = st.lists(st.sampled_from(["a", "b", "the", "fee", "50"]), max_size=30).map(" ".join)


@given(before=TEXTS, after=TEXTS)
def test_the_runs_make_both_texts(before: str, after: str) -> None:
    runs = word_diff(before, after)
    assert " ".join(run.text for run in runs if run.kind is not ChangeKind.ADDED).split() == before.split()
    assert " ".join(run.text for run in runs if run.kind is not ChangeKind.REMOVED).split() == after.split()
    assert all(left.kind is not right.kind for left, right in pairwise(runs))
    assert all(run.words == len(run.text.split()) > 0 for run in runs)
    assert (changed_words(runs) == (0, 0)) == (before == after)


@given(before=TEXTS, after=TEXTS)
def test_shortening_loses_only_equal_words_and_counts_them(before: str, after: str) -> None:
    runs = word_diff(before, after)
    short = shortened(runs, 2)
    assert [run for run in short if run.kind in (ChangeKind.ADDED, ChangeKind.REMOVED)] == [
        run for run in runs if run.kind is not ChangeKind.SAME
    ]
    assert sum(run.words for run in short) == sum(run.words for run in runs)
    assert all(run.words <= 5 for run in short if run.kind is ChangeKind.SAME)


def test_a_changed_sentence_in_a_long_text_is_found_by_itself() -> None:
    sentences = [
        f"sentence {number} says that the value of item {number} is {number * 7} euros." for number in range(900)
    ]
    other = [*sentences[:450], "An entirely new remark stands here.", *sentences[451:]]
    runs = word_diff("\n".join(sentences), " ".join(other))
    assert [(run.kind, run.text) for run in runs if run.kind is not ChangeKind.SAME] == [
        (ChangeKind.REMOVED, sentences[450]),
        (ChangeKind.ADDED, "An entirely new remark stands here."),
    ]


def test_other_line_breaks_are_no_difference() -> None:
    assert word_diff("one\ntwo  three", "one two\r\nthree") == [WordRun(ChangeKind.SAME, "one two three", 3)]
    assert diff_text("one\ntwo", "one two").plain == "the same words"


def test_a_terminal_gets_marks_and_no_commands() -> None:
    shown = diff_text("fee of \x1b[31m50 [bold]EUR[/]", "fee of \x9b2J75 [bold]EUR[/]")
    assert shown.plain == "1 words removed, 1 added\nfee of [-[31m50-] {+2J75+} [bold]EUR[/]"
    assert not any(span.style == "bold" for span in shown.spans)


def test_a_difference_without_end_is_cut() -> None:
    before, after = " ".join(f"old{n}" for n in range(5_000)), " ".join(f"new{n}" for n in range(5_000))
    shown = diff_text(before, after).plain
    assert "3000 words more" in shown
    assert len(shown.split()) < 4_200
    assert sum(run["words"] for run in diff_json(before, after)) == 10_000
