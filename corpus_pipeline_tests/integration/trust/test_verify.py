"""One tampered row at each link, and the link that is named."""

from __future__ import annotations

import zlib

import pytest

from corpus_pipeline.records import sha256_hex
from corpus_pipeline.trust import Link

REFUND = "handbook/refund.md"


def test_a_sound_corpus_holds_from_the_files_to_the_root(published) -> None:
    report = published.verify(sources=True)
    assert report.broken == ()
    assert report.root_sha256 == published.root
    counts = {count.link: count.checked for count in report.counts}
    assert counts[Link.FILE] == counts[Link.CONVERSION] == 5
    (rows,) = published.rows("SELECT count(*) FROM {table} WHERE generation_to IS NULL")
    assert counts[Link.VECTOR] == rows["count"] > 5
    assert counts[Link.GENERATION_ROOT] == 1
    assert all(not count.broken and not count.skipped for count in report.counts)


def test_files_are_read_only_when_asked(published) -> None:
    (published.folder / "refund.md").write_text("# Refund policy\n\nNo refunds.\n")
    assert published.verify().is_sound
    fault = published.verify(sources=True).first
    assert (fault.link, fault.document_id) == (Link.FILE, REFUND)
    assert (
        fault.expected
        == published.rows("SELECT sha256 FROM corpus.source_files WHERE document_id = %s", REFUND)[0]["sha256"]
    )


def test_a_member_of_an_archive_is_read_again(published) -> None:
    from zipfile import ZipFile

    with ZipFile(published.folder / "more.zip", "w") as archive:
        archive.writestr("recipes.md", "# Recipes\n\nThe drawer is empty.\n")
    fault = published.verify(sources=True).first
    assert fault.link is Link.FILE
    assert fault.document_id == "handbook/more.zip!/recipes.md"


def test_a_file_that_changed_after_an_inventory_is_no_broken_link(published) -> None:
    (published.folder / "refund.md").write_text("# Refund policy\n\nNo refunds.\n")
    from corpus_pipeline.inventory import take_inventory

    take_inventory(published.context)
    report = published.verify(sources=True)
    assert report.is_sound
    (files,) = [count for count in report.counts if count.link is Link.FILE]
    assert (files.checked, files.skipped) == (4, "1 have changed or gone since the publication")


TAMPERING = {
    "converted text": (
        Link.CONVERSION,
        REFUND,
        (
            "UPDATE corpus.conversions SET content = %s WHERE source_sha256 ="
            " (SELECT sha256 FROM corpus.source_files WHERE document_id = 'handbook/refund.md')"
        ),
        zlib.compress(b'{"blocks":[],"text":"forged"}'),
    ),
    "hash of the converted text": (
        Link.CONVERSION,
        REFUND,
        (
            "UPDATE corpus.conversions SET text_sha256 = %s WHERE source_sha256 ="
            " (SELECT sha256 FROM corpus.source_files WHERE document_id = 'handbook/refund.md')"
        ),
        sha256_hex("forged"),
    ),
    "structured document": (
        Link.CONVERSION,
        REFUND,
        (
            "UPDATE corpus.conversions SET document_sha256 = %s WHERE source_sha256 ="
            " (SELECT sha256 FROM corpus.source_files WHERE document_id = 'handbook/refund.md')"
        ),
        sha256_hex("forged"),
    ),
    "served text": (
        Link.FRAGMENT,
        REFUND,
        "UPDATE {table} SET text = %s WHERE document_id = 'handbook/refund.md' AND generation_to IS NULL",
        "forged",
    ),
    "served text with its hash": (
        Link.FRAGMENT,
        REFUND,
        (
            "UPDATE {table} SET text = %s, text_sha256 = encode(sha256('forged'), 'hex')"
            " WHERE document_id = 'handbook/refund.md' AND generation_to IS NULL"
        ),
        "forged",
    ),
    "served parent": (
        Link.FRAGMENT,
        REFUND,
        "UPDATE serving.parents SET text = %s WHERE document_id = 'handbook/refund.md' AND generation_to IS NULL",
        "forged",
    ),
    "place in the text": (
        Link.FRAGMENT,
        REFUND,
        (
            "UPDATE {table} SET char_end = char_start + %s WHERE document_id = 'handbook/refund.md'"
            " AND generation_to IS NULL"
        ),
        3,
    ),
    "text for the next generation": (
        Link.FRAGMENT,
        REFUND,
        "UPDATE corpus.fragments SET text = %s WHERE document_id = 'handbook/refund.md'",
        "forged",
    ),
    "embedded string": (
        Link.FRAGMENT,
        REFUND,
        "UPDATE corpus.fragments SET embedded_text = %s WHERE document_id = 'handbook/refund.md'",
        "forged",
    ),
    "cached vector": (
        Link.VECTOR,
        REFUND,
        (
            "UPDATE corpus.embeddings SET vector = l2_normalize((SELECT array_agg(%s * sin(n))::vector"
            " FROM generate_series(1, vector_dims(vector)) n)) WHERE embedded_sha256 IN"
            " (SELECT embedded_sha256 FROM corpus.fragments WHERE document_id = 'handbook/refund.md')"
        ),
        1.0,
    ),
    "length of a cached vector": (
        Link.VECTOR,
        REFUND,
        (
            "UPDATE corpus.embeddings SET vector = vector * (SELECT array_agg(%s::real)::vector"
            " FROM generate_series(1, vector_dims(vector))) WHERE embedded_sha256 IN"
            " (SELECT embedded_sha256 FROM corpus.fragments WHERE document_id = 'handbook/refund.md')"
        ),
        2.0,
    ),
    "dimensions of a cached vector": (
        Link.VECTOR,
        REFUND,
        (
            "UPDATE corpus.embeddings SET vector = %s::vector WHERE embedded_sha256 IN"
            " (SELECT embedded_sha256 FROM corpus.fragments WHERE document_id = 'handbook/refund.md')"
        ),
        "[1,0,0]",
    ),
    "served vector": (
        Link.VECTOR,
        REFUND,
        (
            "UPDATE {table} SET embedding = (SELECT embedding FROM {table} WHERE document_id = %s LIMIT 1)"
            " WHERE document_id = 'handbook/refund.md' AND generation_to IS NULL"
        ),
        "handbook/parking.md",
    ),
    "lost vector": (
        Link.VECTOR,
        REFUND,
        (
            "DELETE FROM corpus.embeddings WHERE embedded_sha256 IN"
            " (SELECT embedded_sha256 FROM corpus.fragments WHERE document_id = %s)"
        ),
        REFUND,
    ),
    "what the model is": (
        Link.VECTOR,
        None,
        "UPDATE corpus.embedding_models SET parts = parts || jsonb_build_object('model', %s::text)",
        "another",
    ),
    "access groups": (
        Link.SERVING_ROW,
        REFUND,
        "UPDATE {table} SET acl_groups = ARRAY[%s] WHERE document_id = 'handbook/refund.md' AND generation_to IS NULL",
        "strangers",
    ),
    "access groups of a parent": (
        Link.SERVING_ROW,
        REFUND,
        (
            "UPDATE serving.parents SET acl_groups = ARRAY[%s] WHERE document_id = 'handbook/refund.md'"
            " AND generation_to IS NULL"
        ),
        "strangers",
    ),
    "other sources": (
        Link.SERVING_ROW,
        REFUND,
        (
            "UPDATE {table} SET also_in = jsonb_build_array(%s::text) WHERE document_id = 'handbook/refund.md'"
            " AND generation_to IS NULL"
        ),
        "forged",
    ),
    "digest of a row": (
        Link.SERVING_ROW,
        REFUND,
        "UPDATE {table} SET row_sha256 = %s WHERE document_id = 'handbook/refund.md' AND generation_to IS NULL",
        sha256_hex("forged"),
    ),
    "lost row": (
        Link.GENERATION_ROOT,
        None,
        "DELETE FROM {table} WHERE document_id = %s AND generation_to IS NULL",
        REFUND,
    ),
    "retired row brought back": (
        Link.GENERATION_ROOT,
        None,
        "UPDATE {table} SET generation_to = NULL WHERE document_id = %s",
        REFUND,
    ),
    "pointer": (
        Link.GENERATION_ROOT,
        None,
        "UPDATE serving.publications SET root_sha256 = %s",
        sha256_hex("forged"),
    ),
}


@pytest.mark.parametrize(("link", "document", "statement", "value"), TAMPERING.values(), ids=TAMPERING)
def test_the_first_broken_link_is_named(published, link, document, statement, value) -> None:
    assert published.tamper(statement, value) >= 1
    fault = published.verify().first
    assert fault is not None
    assert (fault.link, fault.document_id) == (link, document)
    assert fault.expected != fault.found
    assert "forged" not in f"{fault.what} {fault.expected} {fault.found}"


class Reports:
    """What was reported while something ran."""

    def __init__(self) -> None:
        self.done: dict[str, list[int]] = {}
        self._now = ""

    def start(self, _stage: object, total: int | None, what: str) -> None:
        self._now = what
        self.done[what] = [0, total or 0]

    def advance(self, items: int = 1) -> None:
        self.done[self._now][0] += items

    def note(self, _message: str) -> None:
        raise AssertionError


def test_rows_are_read_in_portions_whose_size_changes_nothing(published, monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.trust import repository, verification

    whole = published.verify()
    monkeypatch.setattr(repository, "PORTION_ROWS", 1)
    monkeypatch.setattr(verification, "BATCH_DOCUMENTS", 1)
    assert published.verify() == whole
    published.rows("UPDATE serving.parents SET text = text || '!' WHERE document_id = %s RETURNING 1", REFUND)
    assert published.verify().first.document_id == REFUND


def test_a_parent_of_a_document_without_fragments_is_held_against_its_hash(published) -> None:
    published.rows("DELETE FROM {table} WHERE document_id = %s RETURNING 1", REFUND)
    published.rows("UPDATE serving.parents SET text = text || '!' WHERE document_id = %s RETURNING 1", REFUND)
    found = {fault.link: fault.document_id for fault in published.verify().broken}
    assert found[Link.FRAGMENT] == REFUND
    assert Link.GENERATION_ROOT in found


def test_audits_say_how_far_they_are(published) -> None:
    from dataclasses import replace

    from corpus_pipeline.trust import audit_drift, verify_corpus

    reports = Reports()
    context = replace(published.context, progress=reports)
    verify_corpus(context, sources=True)
    audit_drift(context)
    own = {
        "files read again": 5,
        "documents verified": 5,
        "links verified in the database": 4,
        "parts of the audit": 2,
    }
    assert {what: reports.done[what] for what in own} == {what: [total, total] for what, total in own.items()}
