"""The three grades of PDF: which one runs, what it says when it cannot, what its fingerprint holds."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionOutcome, pdf_models
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.pdf_models import missing_for_models, resolved_grade, weights_version
from corpus_pipeline.conversion.single_file import convert_file
from corpus_pipeline.records import ConvertedDocument
from corpus_pipeline.registry import ConversionLimits

LAYOUT = "docling-project--docling-layout-heron/model.safetensors"
TABLES = "docling-project--docling-models/model_artifacts/tableformer/accurate/tableformer_accurate.safetensors"


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out as docling's download lays it out; only names and bytes matter to detection."""
    folder = tmp_path / "models"
    for name in (LAYOUT, TABLES):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(name.encode())
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(folder))
    monkeypatch.setattr(pdf_models, "_PACKAGES", ())
    return folder


def convert(path: Path, grade: str) -> ConversionOutcome:
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    limits = ConversionLimits().model_dump()
    return convert_file(ConversionJob("a", str(path), "pdf", "auto", targets, limits, pdf_grade=grade))


def write_pdf(path: Path) -> None:
    canvas = Canvas(str(path))
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawString(72, 760, "Heading")
    canvas.setFont("Helvetica", 11)
    for line in range(8):
        canvas.drawString(72, 720 - 14 * line, f"Line {line} of a paragraph that goes on over several lines of text")
    canvas.save()


def test_auto_takes_the_models_where_their_weights_are(weights: Path) -> None:
    assert missing_for_models() == []
    assert resolved_grade("auto") == "models"
    (weights / LAYOUT).unlink()
    assert resolved_grade("auto") == "geometry"
    assert resolved_grade("native") == "native"
    assert any("layout" in what for what in missing_for_models())


def test_other_weights_are_another_converter(weights: Path) -> None:
    before = weights_version()
    assert before.startswith("weights ")
    (weights / TABLES).write_bytes(b"other weights")
    assert weights_version() != before


def test_models_that_are_asked_for_and_absent_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", str(tmp_path / "nowhere"))
    write_pdf(tmp_path / "a.pdf")
    refused = convert(tmp_path / "a.pdf", "models")
    assert refused.tried == ("docling-standard",)  # nothing stands in for what was asked for by name
    assert refused.reason == "converter_error"
    assert "weights" in refused.message
    assert "DOCLING_ARTIFACTS_PATH" in refused.message


def test_grades_are_converters_of_their_own_and_native_has_no_structure(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf")
    made = {grade: convert(tmp_path / "a.pdf", grade) for grade in ("geometry", "native")}
    documents = {
        grade: ConvertedDocument.model_validate_json(zlib.decompress(each.content)) for grade, each in made.items()
    }
    assert made["native"].converter == "docling-native"
    assert documents["native"].properties["pdf_grade"] == "native"
    assert [block.kind.value for block in documents["native"].blocks] == ["paragraph"] * 9
    assert [block.kind.value for block in documents["geometry"].blocks] == ["heading", "paragraph"]
    fingerprints = {
        CATALOGUE[name].fingerprint(FileFormat.PDF, "pdf")
        for name in ("docling-standard", "docling-native", "docling-native-geometry", "rapidocr-geometry")
    }
    assert len(fingerprints) == 4
