"""Large files shared between workers: the same document, one outcome, nothing left behind, whatever a slice does."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path

import psutil
import pytest
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionOutcome, ConversionPool
from corpus_pipeline.conversion.pdf import convert_pdf
from corpus_pipeline.records import ConvertedDocument, QuarantineReason
from corpus_pipeline.registry import ConversionLimits

CONVERTERS = '''
import os, time
from pathlib import Path
import psutil
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument


def paragraphs(texts):
    return ConvertedDocument.from_blocks([Block(kind=BlockKind.PARAGRAPH, text=text) for text in texts])


class Sliced:
    """A file is one order a line, each a slice of its own."""

    def convert(self, source):
        raise AssertionError("a sliced file is never converted whole")

    def orders(self, source):
        return source.path.read_text().splitlines()

    def slices(self, source):
        return [(number, number) for number, _ in enumerate(self.orders(source), start=1)]

    def capture_slice(self, source, pages):
        order, *rest = self.orders(source)[pages[0] - 1].split()
        return getattr(self, order)(source, *rest).encode()

    def assemble_slices(self, source, files):
        texts = [file.read_text() for file in files]
        if "count workers" in texts:
            texts.append(f"workers: {self.workers_left()}")
        return paragraphs(texts + [str(os.getpid())])

    def workers_left(self):
        """How many workers live once those with nothing to do have had ten seconds to end."""
        supervisor = psutil.Process(os.getppid())
        deadline = time.monotonic() + 10
        while len(supervisor.children()) > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        return len(supervisor.children())

    def meet(self, source, name, other):
        (source.path.parent / name).touch()
        deadline = time.monotonic() + 20
        while not (source.path.parent / other).exists():
            if time.monotonic() > deadline:
                return "alone"
            time.sleep(0.01)
        return "met"

    def say(self, source, *texts):
        return " ".join(texts)

    def sleep(self, source, seconds):
        time.sleep(float(seconds))
        return "slept"

    def abort(self, source):
        os.abort()

    def fill(self, source):
        hoard = []
        while True:
            hoard.append(bytearray(16_000_000))

    def refuse(self, source):
        raise ConversionError("the slice is damaged", reason="corrupt", remedy="Export it again.")

    def fail(self, source):
        raise ValueError("secret words of the document")

    def flaky(self, source):
        mark = source.path.parent / "tried"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return "second time"


class Whole:
    def convert(self, source):
        return paragraphs(["the fallback"])
'''


@pytest.fixture(autouse=True)
def converters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "sliced_converters.py").write_text(CONVERTERS)
    monkeypatch.syspath_prepend(str(folder))


def job(path: Path, candidates: tuple[str, ...] = ("sliced",), **limits: float) -> ConversionJob:
    return ConversionJob(
        key=path.name,
        path=str(path),
        extension="txt",
        requested="auto",
        targets={"sliced": "sliced_converters:Sliced", "whole": "sliced_converters:Whole"},
        candidates=candidates,
        limits=ConversionLimits(**limits).model_dump(),
    )


def convert(
    tmp_path: Path, orders: dict[str, str], *, workers: int = 2, **limits: float
) -> dict[str, ConversionOutcome]:
    jobs = []
    for name, order in orders.items():
        (tmp_path / name).write_text(order)
        candidates = ("sliced", "whole") if name.startswith("fallback") else ("sliced",)
        jobs.append(job(tmp_path / name, candidates, **limits))
    scratch = tmp_path / "scratch"
    with ConversionPool(scratch, workers=workers) as pool:
        outcomes = list(pool.run(jobs))
        # Other than rglob, a walk does not mind the folder of an ended worker that goes meanwhile.
        left = [name for _, folders, _ in os.walk(scratch) for name in folders if name.startswith("slices-")]
    assert len(outcomes) == len(orders)
    assert left == []
    assert list(scratch.iterdir()) == []
    assert not [
        child for child in psutil.Process().children(recursive=True) if "supervisor" in " ".join(child.cmdline())
    ]
    return {outcome.key: outcome for outcome in outcomes}


def texts(outcome: ConversionOutcome) -> list[str]:
    return [block["text"] for block in json.loads(zlib.decompress(outcome.content))["blocks"]]


def test_slices_of_one_file_are_captured_at_the_same_time_and_come_back_in_order(tmp_path: Path) -> None:
    outcomes = convert(tmp_path, {"a.txt": "meet a b\nmeet b a\nsay third\nsay fourth"})
    assert texts(outcomes["a.txt"])[:4] == ["met", "met", "third", "fourth"]
    assert outcomes["a.txt"].tried == ("sliced",)


def test_workers_with_nothing_to_do_end_while_a_file_is_put_together(tmp_path: Path) -> None:
    outcomes = convert(tmp_path, {"a.txt": "meet a b\nmeet b a\nsay count workers"})
    assert texts(outcomes["a.txt"])[3] == "workers: 1"


def test_a_file_of_one_worker_is_sliced_too_and_others_get_their_turn(tmp_path: Path) -> None:
    outcomes = convert(tmp_path, {"a.txt": "say 1\nsay 2", "b.txt": "say 3\nsay 4\nsay 5"}, workers=1)
    assert texts(outcomes["a.txt"])[:2] == ["1", "2"]
    assert texts(outcomes["b.txt"])[:3] == ["3", "4", "5"]


@pytest.mark.parametrize(
    ("order", "limits", "reason", "named"),
    [
        (
            "sleep 600",
            {"timeout_seconds": 3},
            QuarantineReason.TIMEOUT,
            "pages 2 to 2 of the file took more than 3 sec",
        ),
        ("abort", {}, QuarantineReason.CONVERTER_ERROR, "crashed on pages 2 to 2 of the file (signal 6)"),
        ("fill", {"memory_mb": 256}, QuarantineReason.OUT_OF_MEMORY, "pages 2 to 2 of the file took more than 256 MB"),
    ],
)
def test_a_slice_that_is_stopped_quarantines_its_file_with_the_pages_named_and_no_other(
    tmp_path: Path, order: str, limits: dict[str, float], reason: QuarantineReason, named: str
) -> None:
    orders = {"fallback.txt": f"say 1\n{order}\nsay 3\nsay 4", "good.txt": "say 1\nsay 2"}
    outcomes = convert(tmp_path, orders, **limits)
    assert outcomes["fallback.txt"].reason == reason
    assert named in outcomes["fallback.txt"].message
    assert texts(outcomes["good.txt"])[:2] == ["1", "2"]


def test_a_slice_whose_worker_died_once_is_captured_again(tmp_path: Path) -> None:
    assert texts(convert(tmp_path, {"a.txt": "flaky\nsay 2"})["a.txt"])[:2] == ["second time", "2"]


def test_a_slice_that_cannot_be_read_leaves_the_file_to_the_declared_fallback(tmp_path: Path) -> None:
    outcomes = convert(tmp_path, {"fallback.txt": "say 1\nrefuse\nsay 3", "strict.txt": "say 1\nfail"})
    assert outcomes["fallback.txt"].tried == ("sliced", "whole")
    assert texts(outcomes["fallback.txt"]) == ["the fallback"]
    assert outcomes["strict.txt"].reason == QuarantineReason.CONVERTER_ERROR
    assert "secret" not in outcomes["strict.txt"].message
    assert "ValueError" in outcomes["strict.txt"].message


def write_report(path: Path, pages: int) -> None:
    """Headings, running headers, page numbers and a table, so that document-wide decisions matter."""
    canvas = Canvas(str(path))
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(72, 810, "Annual report of the harbour")
        canvas.drawString(290, 30, str(page))
        if page % 7 == 1:
            canvas.setFont("Helvetica-Bold", 15)
            canvas.drawString(72, 770, f"{page // 7 + 1} Berths of the quarter")
        canvas.setFont("Times-Roman", 11)
        for line in range(4):
            canvas.drawString(72, 740 - 14 * line, f"On page {page} line {line} says that berths were let to ships.")
        for row in range(4):
            for column in range(3):
                canvas.rect(72 + 120 * column, 400 - 20 * row, 120, 20)
                canvas.drawString(76 + 120 * column, 406 - 20 * row, f"{'Berth' if not row else page} {row} {column}")
        canvas.showPage()
    canvas.save()


def test_a_pdf_shared_by_workers_gives_the_document_it_gives_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.pdf"
    write_report(path, 103)
    monkeypatch.setattr("corpus_pipeline.conversion.pdf.converter.SLICE_PAGES", 200)
    whole = convert_pdf(path, password=None, max_pages=500)
    order = ConversionJob(
        key="report",
        path=str(path),
        extension="pdf",
        requested="auto",
        targets={name: entry.target for name, entry in CATALOGUE.items()},
        limits=ConversionLimits().model_dump(),
    )
    with ConversionPool(tmp_path / "scratch", workers=2) as pool:
        (outcome,) = pool.run([order])
    assert outcome.tried == ("docling-native-geometry",)
    shared = ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))
    assert shared == whole
    assert {block.page for block in shared.blocks} == set(range(1, 104))
    assert sum(block.kind == "heading" for block in shared.blocks) == 15
    assert "Annual report" not in shared.text


def test_a_pdf_gives_the_same_document_however_it_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.pdf"
    write_report(path, 17)
    found: list[ConvertedDocument] = []
    for size in (100, 7, 1):
        monkeypatch.setattr("corpus_pipeline.conversion.pdf.converter.SLICE_PAGES", size)
        found.append(convert_pdf(path, password=None, max_pages=500))
    assert found[0] == found[1] == found[2]
    assert found[0].page_count == 17
