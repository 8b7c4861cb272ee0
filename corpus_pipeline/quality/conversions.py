"""The suite of ``converted_documents``: was everything converted, all of it, and can it be read?

A single faulty document warns, because an owner may well want to publish without waiting for it; the
share of faulty documents blocks, because a corpus of which much is missing answers wrongly.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from corpus_pipeline import conversion
from corpus_pipeline.quality.rules import DOCUMENTS_BATCH, Rule, absent, at_least, at_most, between
from corpus_pipeline.records import Document, QuarantinedFile
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import Connection

__all__ = ["Reading", "conversion_rules", "read_conversions"]

Reading = (
    tuple[list[dict[str, Any]], dict[str, Any], dict[str, list[str]]]
    | tuple[list[dict[str, Any]], dict[str, Any], dict[str, list[str]], dict[str, str]]
)
"""Rows a document, figures of the corpus, culprits and, where there are any, notes by rule."""

SURE = 0.95
"""The language detector is believed from here on."""
SHOWN_PAGES = 8
_ALIKE = ("no nb nn da", "hr sr bs sh", "id ms", "cs sk", "bg mk", "hi mr ne")
"""Languages that a detector of letters and short words mixes up."""


def conversion_rules(spec: CorpusSpec) -> tuple[Rule, ...]:
    """The rules of the suite under the thresholds of a corpus."""
    return (*_presence_rules(spec), *_quality_rules(spec), *_document_rules(spec))


def _presence_rules(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    return (
        between(
            "enough_documents",
            at_least("documents", gates.min_documents),
            "critical",
            f"at least {gates.min_documents} converted documents",
            f"See why files were refused: corpus-pipeline quarantine list {spec.slug}.",
        ),
        between(
            "few_quarantined",
            at_most("quarantined_ratio", gates.max_quarantined_ratio),
            "critical",
            f"at most {gates.max_quarantined_ratio:.0%} of the files to be quarantined",
            "Repair or exclude the files listed, or raise gates.max_quarantined_ratio of this corpus.",
            detail="quarantined",
        ),
        absent(
            "not_quarantined",
            "quarantined",
            "warning",
            "every file to be converted",
            f"Repair the file, give its password, or exclude it; then: corpus-pipeline quarantine replay {spec.slug}.",
        ),
        Rule(
            "concrete_converter",
            DOCUMENTS_BATCH,
            "ExpectColumnValuesToNotBeInSet",
            {"column": "effective_converter", "value_set": ["auto", ""]},
            "critical",
            "each document to name the converter that made it",
            "This is a fault of the conversion room; report it.",
        ),
    )


def _quality_rules(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    return (
        between(
            "page_coverage",
            at_least("page_coverage", gates.min_page_coverage),
            "critical",
            f"at least {gates.min_page_coverage:.0%} of all pages to have text or to be blank",
            f"See how the documents listed were read: corpus-pipeline audit-conversion {spec.slug}.",
            detail="uncovered",
        ),
        between(
            "few_unreadable",
            at_most("unreadable_ratio", gates.max_unreadable_ratio),
            "critical",
            f"at most {gates.max_unreadable_ratio:.0%} of the documents to be unreadable",
            "A wrong encoding or fonts without characters: export the files again, or install text recognition.",
            detail="garbled_ratio",
        ),
    )


def _document_rules(spec: CorpusSpec) -> tuple[Rule, ...]:
    gates = spec.gates
    audit = f"corpus-pipeline audit-conversion {spec.slug}"
    return (
        absent(
            "every_page_covered",
            "uncovered",
            "warning",
            "every page to have text or to be known as blank",
            f"Open the file at the pages named: pictures of text need text recognition. Compare converters: {audit}.",
        ),
        between(
            "readable_text",
            at_most("garbled_ratio", gates.max_replacement_ratio),
            "warning",
            f"at most {gates.max_replacement_ratio:.1%} of a text to be U+FFFD, mojibake or glyphs without a character",
            "It was saved in another encoding, or its fonts have no characters: export it again as UTF-8 or PDF/A.",
            per_document=True,
            detail="garbled_ratio",
        ),
        between(
            "enough_text",
            at_least("characters", gates.min_characters),
            "warning",
            f"at least {gates.min_characters} characters in each document",
            "Open the file: a form, a picture or a broken export? Exclude it if it says nothing.",
            per_document=True,
            detail="characters",
        ),
        between(
            "enough_text_a_page",
            at_least("characters_per_page", gates.min_characters_per_page),
            "warning",
            f"at least {gates.min_characters_per_page} characters a page",
            "Probably a scan or slides of pictures: install text recognition, or add a version with text.",
            per_document=True,
            detail="characters_per_page",
        ),
        between(
            "tables_kept",
            at_most("tables_dropped", 0),
            "warning",
            "every table that was found to be kept",
            f"Compare converters with {audit} and choose one with conversion.overrides.",
            per_document=True,
            detail="tables",
        ),
        absent(
            "language_as_declared",
            "language",
            "warning",
            "each text to be in the language it declares",
            "Correct `language` in the sidecar, the front matter or corpora.yaml; or the file is the wrong one.",
        ),
    )


def read_conversions(connection: Connection, spec: CorpusSpec) -> Reading:
    """Documents and quarantined files of a corpus, with how well they were converted."""
    converted = conversion.documents(connection, spec.slug)
    refused = conversion.quarantined_files(connection, spec.slug)
    measures = conversion.document_measures(connection, spec.slug)
    rows = [_document_row(document, measures[document.document_id]) for document in converted]
    unreadable = [row["document_id"] for row in rows if row["garbled_ratio"] > spec.gates.max_replacement_ratio]
    incomplete = [row["document_id"] for row in rows if row["uncovered"]]
    rows += [_quarantined_row(file) for file in refused]
    text_pages = sum(each.get("text_pages", 0) for each in measures.values())
    uncovered = sum(len(each.get("uncovered_pages", ())) for each in measures.values())
    corpus = {
        "documents": len(converted),
        "quarantined_ratio": len(refused) / len(rows) if rows else 0.0,
        "unreadable_ratio": len(unreadable) / len(converted) if converted else 0.0,
        "page_coverage": 1 - uncovered / text_pages if text_pages else 1.0,
    }
    culprits = {
        "few_quarantined": [file.document_id for file in refused],
        "few_unreadable": unreadable,
        "page_coverage": incomplete,
    }
    classes = Counter(file.reason.value for file in refused)
    note = ", ".join(f"{count} {reason}" for reason, count in classes.most_common())
    return rows, corpus, culprits, {"few_quarantined": note, "not_quarantined": note} if note else {}


def _document_row(document: Document, measures: dict[str, Any]) -> dict[str, Any]:
    dropped = measures.get("tables_dropped", 0)
    return {
        "document_id": document.document_id,
        "quarantined": None,
        "effective_converter": document.effective_converter,
        "characters": document.char_count,
        "garbled_ratio": measures.get("garbled_ratio", 0.0),
        "uncovered": _shown_pages(measures.get("uncovered_pages", [])),
        "characters_per_page": measures.get("characters_per_page"),
        "tables_dropped": dropped,
        "tables": f"{measures.get('tables', 0)} of {measures.get('tables', 0) + dropped} kept",
        "language": _language_doubt(document.metadata.language or document.language, measures),
    }


def _quarantined_row(file: QuarantinedFile) -> dict[str, Any]:
    attempts = f", attempt {file.attempts}" if file.attempts > 1 else ""
    return {
        **dict.fromkeys(("effective_converter", "characters", "garbled_ratio", "uncovered", "characters_per_page")),
        **dict.fromkeys(("tables_dropped", "tables", "language")),
        "document_id": file.document_id,
        "quarantined": f"{file.reason.value}{attempts}: {'. '.join(file.message.splitlines())}",
    }


def _shown_pages(pages: list[int]) -> str | None:
    if not pages:
        return None
    shown = ", ".join(map(str, pages[:SHOWN_PAGES]))
    more = len(pages) - SHOWN_PAGES
    return f"pages {shown}{f' and {more} more' if more > 0 else ''}"


def _language_doubt(declared: str | None, measures: dict[str, Any]) -> str | None:
    """What is said of a text that is surely not in its declared language."""
    found = str(measures.get("language", "")).partition("-")[0]
    said = (declared or "").strip().lower().replace("_", "-").partition("-")[0]
    if not found or len(said) != 2 or said == found or measures["language_confidence"] < SURE:  # noqa: PLR2004 - ISO 639-1
        return None
    if any({said, found} <= set(alike.split()) for alike in _ALIKE):
        return None
    return f"declared {declared}, looks like {found}"
