"""Members of archives through conversion: cached by content, quarantined one by one."""

from __future__ import annotations

import tarfile
from pathlib import Path

from corpus_pipeline.conversion import (
    convert_corpus,
    converted_document,
    documents,
    quarantined_files,
    request_replay,
)
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.records import QuarantineReason
from corpus_pipeline.store import StageContext, StageResult
from corpus_pipeline_tests.packing import special, tar_of, zip_of


def run(context: StageContext) -> StageResult:
    take_inventory(context)
    return convert_corpus(context)


def test_members_are_converted_cached_and_quarantined_like_files(context: StageContext, corpus_folder: Path) -> None:
    guide = "# Guide\n\nRefunds are paid within 30 days.\n"
    link = special("latest.md", tarfile.SYMTYPE, "/etc/passwd")
    inner = tar_of({"deep/guide.md": guide, "notes.txt": "Notes of May.\n"}, special=[link])
    (corpus_folder / "a.zip").write_bytes(zip_of({"guide.md": guide, "in.tgz": inner, "cut.bin": b"PK\x03\x04 cut"}))
    (corpus_folder / "cut.tgz").write_bytes(tar_of({"a.txt": "A" * 9000})[:-60])
    first = run(context)
    with context.database.connection() as connection:
        converted = {document.document_id: document for document in documents(connection, "handbook")}
        refused = {file.document_id: file for file in quarantined_files(connection, "handbook")}
        text = converted_document(connection, converted["handbook/a.zip!/in.tgz!/notes.txt"]).text
    assert list(converted) == [
        "handbook/a.zip!/guide.md", "handbook/a.zip!/in.tgz!/deep/guide.md", "handbook/a.zip!/in.tgz!/notes.txt",
    ]  # fmt: skip
    assert text == "Notes of May."
    assert converted["handbook/a.zip!/guide.md"].source_uri == str(corpus_folder / "a.zip!/guide.md")
    assert first.counts["converted"] == 2, "the same bytes are converted once, wherever they lie"
    assert {name: file.reason for name, file in refused.items()} == {
        "handbook/a.zip!/cut.bin": QuarantineReason.CORRUPT,
        "handbook/a.zip!/in.tgz!/latest.md": QuarantineReason.UNSUPPORTED,
        "handbook/cut.tgz": QuarantineReason.CORRUPT,
    }
    assert all("\n" in file.message for file in refused.values()), "what is wrong, and what to do"
    assert not list((context.settings.state_folder / "scratch").iterdir())

    second = run(context)
    assert (second.counts["converted"], second.output_sha256) == (0, first.output_sha256)
    with context.database.connection() as connection:
        assert {file.attempts for file in quarantined_files(connection, "handbook")} == {1}
        request_replay(connection, "handbook", None)
    assert run(context).output_sha256 == first.output_sha256
    with context.database.connection() as connection:
        assert {file.attempts for file in quarantined_files(connection, "handbook")} == {2}
