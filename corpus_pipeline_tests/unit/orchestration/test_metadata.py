"""What the Dagster UI shows of a verdict: failing documents, what to do, and no markup from file names."""

from __future__ import annotations

from corpus_pipeline.orchestration.metadata import MAX_ROWS, check_description, check_metadata, stage_metadata
from corpus_pipeline.records import Stage
from corpus_pipeline.store import StageResult, Verdict


def _verdict(*documents: str, severity: str = "critical") -> Verdict:
    failure = {
        "expectation": "few_quarantined",
        "severity": severity,
        "expected": "at most 10% of the files to be quarantined",
        "found": "quarantined_ratio = 0.5",
        "documents": list(documents),
        "details": {documents[0]: "corrupt: cut off"} if documents else {},
        "failing": len(documents) or 1,
        "remedy": "Repair the files listed.",
    }
    return Verdict("handbook", Stage.CONVERTED_DOCUMENTS, "o" * 64, "t" * 64, severity != "critical", (failure,), 5)


def test_a_passed_verdict_says_how_many_expectations_hold() -> None:
    verdict = Verdict("handbook", Stage.FRAGMENTS, "o" * 64, "t" * 64, True, (), 4)
    assert check_description(verdict) == "all 4 expectations hold"
    assert set(check_metadata(verdict)) == {"expectations", "failed", "output_sha256"}


def test_a_failed_verdict_names_expectation_documents_and_remedy() -> None:
    verdict = _verdict("handbook/a.pdf", "handbook/b.docx")
    assert check_description(verdict).startswith("critical: expected at most 10%")
    metadata = check_metadata(verdict)
    assert "Repair the files listed." in metadata["what failed and what to do"].value
    assert "handbook/a.pdf | corrupt: cut off |" in metadata["failing documents"].value
    assert "handbook/b.docx" in metadata["failing documents"].value


def test_file_names_are_inert_in_markdown() -> None:
    name = "handbook/<img src=x onerror=alert(1)>|[click](https://example.com)`x`\n# head.md"
    text = check_metadata(_verdict(name))["failing documents"].value
    assert "<img" not in text
    assert "[click](" not in text.replace("\\[", "").replace("\\]", "")
    assert len(text.splitlines()) == 3, "a name must not add a row or a line"


def test_long_lists_are_cut_with_a_hint_where_the_rest_is() -> None:
    verdict = _verdict(*[f"handbook/{number:03}.pdf" for number in range(MAX_ROWS + 7)])
    text = check_metadata(verdict)["failing documents"].value
    assert text.count("handbook/") == MAX_ROWS
    assert "7 more" in text
    assert "status --json" in text


def test_a_stage_shows_counts_seconds_and_output() -> None:
    result = StageResult("handbook", Stage.FRAGMENTS, "i", "o", {"fragments": 12}, 1.2345, unchanged=False)
    assert stage_metadata(result) == {"fragments": 12, "seconds": 1.23, "unchanged": False, "output_sha256": "o"}
