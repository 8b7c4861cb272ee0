"""Limits, options and passwords are policy: what changes one of them changes what depends on it alone."""

from __future__ import annotations

import dataclasses
import time
from io import BytesIO
from pathlib import Path

import docx
import pytest
from PIL import Image
from pydantic import SecretStr
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion import convert_corpus, converted_document, documents, quarantined_files
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.store import StageContext, StageResult


def run(context: StageContext) -> StageResult:
    take_inventory(context)
    return convert_corpus(context)


def with_conversion(context: StageContext, **changes) -> StageContext:
    conversion = context.spec.conversion.model_copy(update=changes)
    return dataclasses.replace(context, spec=context.spec.model_copy(update={"conversion": conversion}))


def with_limits(context: StageContext, **changes) -> StageContext:
    return with_conversion(context, limits=context.spec.conversion.limits.model_copy(update=changes))


def names(context: StageContext) -> list[str]:
    with context.database.connection() as connection:
        return [document.relative_path for document in documents(connection, "handbook")]


def write_pdf(path: Path, password: str = "") -> None:
    canvas = Canvas(str(path))
    for line in range(12):
        canvas.drawString(72, 760 - 14 * line, f"Line {line} of the guide explains how a refund is asked for.")
    canvas.save()
    if password:
        writer = PdfWriter(clone_from=PdfReader(path))
        writer.encrypt(password, algorithm="AES-256")
        writer.write(path)


def test_stricter_limits_reach_what_was_converted_under_laxer_ones(context: StageContext, corpus_folder: Path) -> None:
    (corpus_folder / "long.txt").write_text("word " * 400)
    (corpus_folder / "short.txt").write_text("word " * 4)
    lax = run(context)
    assert names(context) == ["long.txt", "short.txt"]
    strict = with_limits(context, max_text_chars=1000)
    again = run(strict)
    assert names(context) == ["short.txt"]
    with context.database.connection() as connection:
        assert [file.reason.value for file in quarantined_files(connection, "handbook")] == ["too_large"]
    assert run(strict).counts["converted"] == 0  # what keeps the strict limit is known to keep it
    assert run(strict).output_sha256 == again.output_sha256
    back = run(context)
    assert back.counts["converted"] == 0
    assert back.output_sha256 == lax.output_sha256


@pytest.mark.slow
def test_a_pdf_grade_converts_pdfs_again_and_nothing_else(context: StageContext, corpus_folder: Path) -> None:
    write_pdf(corpus_folder / "guide.pdf")
    (corpus_folder / "notes.txt").write_text("Notes.")
    first = run(with_conversion(context, pdf_grade="geometry"))
    assert first.counts["converted"] == 2
    native = run(with_conversion(context, pdf_grade="native"))
    assert native.counts["converted"] == 1
    with context.database.connection() as connection:
        found = {each.relative_path: each.effective_converter for each in documents(connection, "handbook")}
    assert found == {"guide.pdf": "docling-native", "notes.txt": "plain"}
    back = run(with_conversion(context, pdf_grade="geometry"))
    assert back.counts["converted"] == 0
    assert back.output_sha256 == first.output_sha256


@pytest.mark.slow
def test_keeping_pictures_converts_what_may_hold_some_again(context: StageContext, corpus_folder: Path) -> None:
    drawn = BytesIO()
    Image.new("RGB", (40, 30), "red").save(drawn, "PNG")
    plan = docx.Document()
    plan.add_paragraph("The plan.")
    plan.add_picture(drawn)
    plan.save(str(corpus_folder / "plan.docx"))
    (corpus_folder / "notes.txt").write_text("Notes.")
    keep = with_conversion(context, embedded_images="keep")
    first = run(context)
    kept = run(keep)
    assert (first.counts["converted"], kept.counts["converted"]) == (2, 1)
    with context.database.connection() as connection:
        plan_row = next(each for each in documents(connection, "handbook") if each.relative_path == "plan.docx")
        assert len(converted_document(connection, plan_row).images) == 1
    assert run(keep).output_sha256 == kept.output_sha256 != first.output_sha256
    back = run(context)
    assert (back.counts["converted"], back.output_sha256) == (0, first.output_sha256)


PASSWORDS = ("sidecar-secret-one", "registry-secret-two", "corpus-secret-three")


@pytest.mark.slow
def test_each_file_has_its_own_password_and_none_is_kept(context: StageContext, corpus_folder: Path) -> None:
    for name, password in zip(("beside", "named", "other"), PASSWORDS, strict=True):
        write_pdf(corpus_folder / f"{name}.pdf", password)
    run(context)
    assert names(context) == []
    (corpus_folder / "beside.pdf.meta.yaml").write_text(f"title: Beside\npassword: {PASSWORDS[0]}\n")
    spec = context.spec.model_copy(
        update={
            "documents": {"named.pdf": {"password": SecretStr(PASSWORDS[1]), "title": "Named"}},
            "conversion": context.spec.conversion.model_copy(update={"password": SecretStr(PASSWORDS[2])}),
        }
    )
    opened = dataclasses.replace(context, spec=spec)
    run(opened)
    assert names(context) == ["beside.pdf", "named.pdf", "other.pdf"]
    assert run(opened).counts["converted"] == 0
    with context.database.connection() as connection:
        kept = {each.relative_path: each for each in documents(connection, "handbook")}
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema = 'corpus'"
        ).fetchall()
        dump = "".join(
            str(connection.execute(f"SELECT t::text FROM {row['table_schema']}.{row['table_name']} t").fetchall())
            for row in map(dict, tables)
        )
    assert kept["beside.pdf"].metadata.title == "Beside"
    assert kept["named.pdf"].metadata.title == "Named"
    assert "password" not in kept["beside.pdf"].metadata_provenance
    assert "beside.pdf" in dump
    for password in PASSWORDS:
        assert password not in dump
        assert password not in repr(spec)
        assert password not in spec.model_dump_json()


def test_a_changed_password_beside_a_file_is_noticed(context: StageContext, corpus_folder: Path) -> None:
    write_pdf(corpus_folder / "guide.pdf", "right")
    sidecar = corpus_folder / "guide.pdf.meta.yaml"
    sidecar.write_text("password: wrong\n")
    run(context)
    with context.database.connection() as connection:
        assert [file.reason.value for file in quarantined_files(connection, "handbook")] == ["encrypted"]
    time.sleep(0.01)
    sidecar.write_text("password: right\n")
    run(context)
    assert names(context) == ["guide.pdf"]


@pytest.mark.parametrize(
    ("lines", "blocks"),
    [
        (
            [
                '{"title": "T", "metadata": {"source": "x"}}',
                '{"text": "Intro", "kind": "heading"}',
                '{"text": "Body."}',
            ],
            [("heading", "Intro"), ("paragraph", "Body.")],
        ),
        (
            ['{"name": "Bolt"}', '{"name": "Nut"}'],
            [("paragraph", '{"name": "Bolt"}'), ("paragraph", '{"name": "Nut"}')],
        ),
    ],
)
def test_canonical_json_lines_are_taken_as_they_are_and_marked_so(
    context: StageContext, corpus_folder: Path, lines: list[str], blocks: list[tuple[str, str]]
) -> None:
    (corpus_folder / "text.jsonl").write_text("\n".join(lines))
    run(context)
    with context.database.connection() as connection:
        [document] = documents(connection, "handbook")
        converted = converted_document(connection, document)
    outside = document.properties.get("conversion_boundary") == "outside"
    assert outside == lines[0].startswith('{"title"')
    assert document.effective_converter == "plain"
    assert [(block.kind.value, block.text) for block in converted.blocks] == blocks
    if outside:
        assert document.title == "T"
        assert document.properties["source"] == "x"
