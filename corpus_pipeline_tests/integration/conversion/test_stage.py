"""The stage on real files of many formats, in real workers, in a real database."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from openpyxl import Workbook
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion import (
    CATALOGUE,
    convert_corpus,
    converted_document,
    converted_documents,
    documents,
    quarantined_files,
    request_replay,
)
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.records import BlockKind, QuarantineReason
from corpus_pipeline.store import StageContext, StageResult


def run(context: StageContext) -> StageResult:
    take_inventory(context)
    return convert_corpus(context)


def with_conversion(context: StageContext, **changes) -> StageContext:
    conversion = context.spec.conversion.model_copy(update=changes)
    return dataclasses.replace(context, spec=context.spec.model_copy(update={"conversion": conversion}))


def write_workbook(path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Plans"
    for row in (["Plan", "Price"], ["Free", 0], ["Pro", 9]):
        sheet.append(row)
    book.save(path)


def write_pdf(path: Path, password: str | None = None) -> None:
    canvas = Canvas(str(path))
    canvas.setFont("Helvetica", 11)
    for line in range(12):
        canvas.drawString(72, 760 - 14 * line, f"Line {line} of the guide explains how a refund is asked for.")
    canvas.save()
    if password:
        writer = PdfWriter(clone_from=PdfReader(path))
        writer.encrypt(password, algorithm="AES-256")
        writer.write(path)


@pytest.fixture
def light(corpus_folder: Path) -> Path:
    """Files whose converters are imported in no time: three good ones and three bad ones."""
    (corpus_folder / "guide.md").write_text("---\ntitle: The guide\n---\n# Guide\n\n## Refunds\n\nWithin 30 days.\n")
    (corpus_folder / "rule.rst").write_text("Rule\n====\n\nHolds.\n")
    (corpus_folder / "notes.txt").write_text("First.\n\nSecond.\n")
    (corpus_folder / "empty.txt").write_bytes(b"")
    (corpus_folder / "cut.bin").write_bytes(b"PK\x03\x04\x14\x00\x06\x00" + os.urandom(200))
    (corpus_folder / "tool.bin").write_bytes(bytes(range(256)) * 20)
    return corpus_folder


@pytest.fixture
def mixed(light: Path) -> Path:
    """The light files and some for docling."""
    (light / "page.html").write_text("<html lang='en'><title>Page</title><h1>Page</h1><p>Hello.</p>")
    write_workbook(light / "plans.xlsx")
    return light


def reasons(context: StageContext) -> dict[str, QuarantineReason]:
    with context.database.connection() as connection:
        return {file.document_id: file.reason for file in quarantined_files(connection, context.spec.slug)}


def test_good_files_become_documents_and_bad_ones_are_quarantined_with_a_class(
    context: StageContext, mixed: Path
) -> None:
    result = run(context)
    assert result.counts["documents"] == 5
    assert result.counts["converted"] == 5
    assert reasons(context) == {
        "handbook/cut.bin": QuarantineReason.CORRUPT,
        "handbook/empty.txt": QuarantineReason.EMPTY,
        "handbook/tool.bin": QuarantineReason.UNSUPPORTED,
    }
    with context.database.connection() as connection:
        found = {document.relative_path: document for document in documents(connection, "handbook")}
        guide = converted_document(connection, found["guide.md"])
        plans = converted_document(connection, found["plans.xlsx"])
        assert [doc.relative_path for doc, _ in converted_documents(connection, found.values())] == sorted(found)
    assert {path: document.effective_converter for path, document in found.items()} == {
        "guide.md": "markdown-it",
        "notes.txt": "plain",
        "page.html": "docling",
        "plans.xlsx": "docling",
        "rule.rst": "docutils",
    }
    assert found["guide.md"].requested_converter == "auto"
    assert found["guide.md"].title == "The guide"
    assert found["page.html"].language == "en"
    assert "markdown-it-py" in found["guide.md"].processor_version
    assert guide.text == "Guide\n\nRefunds\n\nWithin 30 days."
    assert guide.document_sha256 == found["guide.md"].document_sha256
    table = next(block.table for block in plans.blocks if block.kind is BlockKind.TABLE)
    assert table.rows == (("Plan", "Price"), ("Free", "0"), ("Pro", "9"))
    assert table.header_rows == 1


def test_a_second_run_converts_nothing_and_gives_the_same_output(context: StageContext, light: Path) -> None:
    first = run(context)
    second = run(context)
    assert second.counts["converted"] == 0
    assert second.counts["reused"] == 3
    assert second.output_sha256 == first.output_sha256
    assert second.unchanged
    with context.database.connection() as connection:
        assert {file.attempts for file in quarantined_files(connection, "handbook")} == {1}


def test_a_changed_file_is_converted_alone_and_a_removed_one_leaves(context: StageContext, light: Path) -> None:
    first = run(context)
    (light / "notes.txt").write_text("First.\n\nThird.\n")
    (light / "rule.rst").unlink()
    result = run(context)
    assert (result.counts["converted"], result.counts["documents"]) == (1, 2)
    assert result.output_sha256 != first.output_sha256


def test_worker_count_and_a_rebuild_do_not_change_the_output(context: StageContext, light: Path) -> None:
    first = run(context)
    with context.database.connection() as connection:
        connection.execute("TRUNCATE corpus.conversions, corpus.conversion_routes, corpus.documents, corpus.quarantine")
    settings = context.settings.model_copy(update={"workers": 1})
    again = convert_corpus(dataclasses.replace(context, settings=settings))
    assert again.counts["converted"] == 3
    assert again.output_sha256 == first.output_sha256


def test_copies_of_a_file_are_converted_once(context: StageContext, corpus_folder: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (corpus_folder / name).write_text("The same text.\n")
    result = run(context)
    assert (result.counts["documents"], result.counts["converted"], result.counts["reused"]) == (3, 1, 2)


def test_replay_tries_quarantined_files_again(context: StageContext, light: Path) -> None:
    run(context)
    with context.database.connection() as connection:
        assert request_replay(connection, "handbook", ["handbook/empty.txt", "handbook/none.txt"]) == 1
    run(context)
    with context.database.connection() as connection:
        attempts = {file.document_id: file for file in quarantined_files(connection, "handbook")}
        assert request_replay(connection, "handbook", None) == 3
    assert attempts["handbook/empty.txt"].attempts == 2
    assert attempts["handbook/cut.bin"].attempts == 1
    replayed = attempts["handbook/empty.txt"]
    assert replayed.first_failed_at < replayed.last_failed_at


def test_changed_limits_retry_what_failed(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "long.txt").write_text("word " * 1000)
    limits = context.spec.conversion.limits
    small = with_conversion(context, limits=limits.model_copy(update={"max_text_chars": 100}))
    run(small)
    assert reasons(context) == {"handbook/long.txt": QuarantineReason.TOO_LARGE}
    assert run(context).counts["documents"] == 1
    assert reasons(context) == {}


def test_a_password_opens_an_encrypted_pdf(context: StageContext, corpus_folder: Path) -> None:
    write_pdf(corpus_folder / "secret.pdf", password="open sesame")
    run(context)
    assert reasons(context) == {"handbook/secret.pdf": QuarantineReason.ENCRYPTED}
    from pydantic import SecretStr

    result = run(with_conversion(context, password=SecretStr("open sesame")))
    assert (result.counts["documents"], result.counts["pages"]) == (1, 1)
    with context.database.connection() as connection:
        document = documents(connection, "handbook")[0]
        assert "Line 3 of the guide" in converted_document(connection, document).text
    assert document.effective_converter == "docling-native-geometry"


def test_an_extension_that_lies_is_not_believed(context: StageContext, corpus_folder: Path) -> None:
    write_pdf(corpus_folder / "really.docx")
    write_workbook(corpus_folder / "table.pdf")
    (corpus_folder / "page.xls").write_text(
        "<html><body><table><tr><th>A</th></tr><tr><td>1</td></tr></table></body></html>"
    )
    (corpus_folder / "text.pptx").write_text("Only text, whatever the name says.")
    run(context)
    with context.database.connection() as connection:
        effective = {doc.relative_path: doc.effective_converter for doc in documents(connection, "handbook")}
    assert effective == {
        "really.docx": "docling-native-geometry",
        "table.pdf": "docling",
        "page.xls": "docling",
        "text.pptx": "plain",
    }


def test_a_converter_by_glob_is_used_and_has_no_fallback(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "a.html").write_text("<html><body><p>Hello there, this is a page.</p></body></html>")
    (corpus_folder / "b.html").write_text("<html><body><p>Hello there, this is a page.</p></body></html>")
    (corpus_folder / "c.xlsx").write_bytes(b"")
    write_workbook(corpus_folder / "c.xlsx")
    run(with_conversion(context, overrides={"a.*": "unstructured", "c.*": "plain"}))
    with context.database.connection() as connection:
        found = {doc.relative_path: doc for doc in documents(connection, "handbook")}
    assert found["a.html"].effective_converter == found["a.html"].requested_converter == "unstructured"
    assert found["b.html"].effective_converter == "docling"
    assert reasons(context) == {"handbook/c.xlsx": QuarantineReason.UNSUPPORTED}


SLEEPING = """
import time
from corpus_pipeline.conversion.plain_converter import PlainConverter

class Sleeping(PlainConverter):
    def convert(self, source):
        if b"Second" in source.path.read_bytes():
            time.sleep(300)
        return super().convert(source)
"""


def test_a_timeout_is_quarantined_while_the_others_are_converted(
    context: StageContext, light: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sleeping_converter.py").write_text(SLEEPING)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    sleeping = dataclasses.replace(CATALOGUE["plain"], target="sleeping_converter:Sleeping", options={"sleeps": True})
    limits = context.spec.conversion.limits
    hasty = with_conversion(context, limits=limits.model_copy(update={"timeout_seconds": 5.0}))
    take_inventory(hasty)
    result = convert_corpus(hasty, catalogue={**CATALOGUE, "plain": sleeping})
    assert result.counts["documents"] == 2
    assert result.counts["quarantined_timeout"] == 1
    assert reasons(context)["handbook/notes.txt"] is QuarantineReason.TIMEOUT
    assert convert_corpus(hasty).counts["documents"] == 3  # another converter: tried again


def test_an_unreadable_file_is_quarantined(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "good.txt").write_text("Good.")
    (corpus_folder / "gone.txt").write_text("Soon gone.")
    take_inventory(context)
    (corpus_folder / "gone.txt").unlink()
    result = convert_corpus(context)
    assert result.counts["documents"] == 1
    assert reasons(context) == {"handbook/gone.txt": QuarantineReason.UNREADABLE}


def test_an_empty_corpus_has_an_output(context: StageContext) -> None:
    assert run(context).counts["documents"] == 0


def test_nothing_is_left_in_the_scratch_folder(context: StageContext, light: Path) -> None:
    run(context)
    assert list((context.settings.state_folder / "scratch").iterdir()) == []


def test_a_changed_converter_converts_its_own_documents_again(context: StageContext, light: Path) -> None:
    run(context)
    changed = dataclasses.replace(CATALOGUE["docutils"], mapping_version=99)
    result = convert_corpus(context, catalogue={**CATALOGUE, "docutils": changed})
    assert result.counts["converted"] == 1
    with context.database.connection() as connection:
        fingerprints = {doc.relative_path: doc.converter_fingerprint for doc in documents(connection, "handbook")}
    again = convert_corpus(context)
    assert again.counts["converted"] == 1
    with context.database.connection() as connection:
        back = {doc.relative_path: doc.converter_fingerprint for doc in documents(connection, "handbook")}
    assert {path for path in back if back[path] != fingerprints[path]} == {"rule.rst"}


def test_another_corpus_takes_over_conversions(context: StageContext, light: Path) -> None:
    run(context)
    other = dataclasses.replace(context, spec=context.spec.model_copy(update={"slug": "mirror"}))
    result = run(other)
    assert (result.counts["documents"], result.counts["converted"]) == (3, 0)


def test_a_killed_run_loses_no_finished_batch_and_converges(
    context: StageContext, corpus_folder: Path, tmp_path: Path
) -> None:
    for number in range(60):
        (corpus_folder / f"f{number:02}.txt").write_text(f"Text number {number}.\n")
    take_inventory(context)
    process = start_run(context, tmp_path)
    cached = 0
    for _ in range(1200):
        with context.database.connection() as connection:
            cached = connection.execute("SELECT count(*) AS n FROM corpus.conversions").fetchone()["n"]
        if cached or process.poll() is not None:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert cached > 0
    result = convert_corpus(context)
    assert result.counts["documents"] == 60
    assert result.counts["converted"] <= 60 - cached
    with context.database.connection() as connection:
        connection.execute("TRUNCATE corpus.conversions, corpus.conversion_routes, corpus.documents")
    assert convert_corpus(context).output_sha256 == result.output_sha256


def start_run(context: StageContext, tmp_path: Path) -> subprocess.Popen[bytes]:
    script = f"""
from datetime import date
from pathlib import Path
from corpus_pipeline.conversion import convert_corpus
from corpus_pipeline.registry import CorpusSpec, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext
folder = Path({str(tmp_path)!r})
spec = CorpusSpec(slug="handbook", base_folder=folder, owner="docs@example.com", source=SourceSpec(url="docs"))
settings = Settings(home=folder / "state", config=folder / "corpora.yaml", workers=2)
registry = Registry(path=folder / "corpora.yaml", corpora={{"handbook": spec}})
with Database.connect({context.database.url!r}) as database:
    convert_corpus(StageContext(database=database, settings=settings, registry=registry, spec=spec,
                                as_of=date(2026, 11, 1), run_id="killed"))
"""
    return subprocess.Popen([sys.executable, "-c", script])
