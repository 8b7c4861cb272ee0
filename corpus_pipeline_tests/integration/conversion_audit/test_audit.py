"""The audit: a page that shows hostile text as text, and signed results that are held against their report."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from corpus_pipeline.conversion.audit import make_audit, read_result, record_result, recorded_audits
from corpus_pipeline.errors import AuditError, UpstreamMissingError
from corpus_pipeline.inventory import take_inventory
from corpus_pipeline.store import StageContext

HOSTILE = "</script></pre><script>document.title='owned'</script><img src=x onerror=alert(1)>\"'{{ 7*7 }}{% raw %}"


class Page(HTMLParser):
    """Elements with their attributes, and text by the element that holds it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.elements[-1][0] if self.elements else "", data))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def audited(context: StageContext, corpus_folder: Path, tmp_path: Path) -> tuple[StageContext, Path]:
    (corpus_folder / "notes.txt").write_text(f"First.\n\n{HOSTILE}\n")
    (corpus_folder / '"><svg onload=alert(1)>.txt').write_text("Second note.\n")
    (corpus_folder / "guide.md").write_text(f"# Guide {HOSTILE}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| {1} | 2 |\n")
    canvas = Canvas(str(corpus_folder / "report.pdf"))
    for page in range(1, 4):
        canvas.drawString(72, 815, "Yearly report")
        canvas.setFont("Helvetica-Bold", 16)
        canvas.drawString(72, 740, f"Chapter of page {page}")
        canvas.setFont("Helvetica", 11)
        for line in range(6):
            canvas.drawString(
                72, 700 - 14 * line, f"Line {line} of page {page} tells how the berths were let to ships."
            )
        canvas.showPage()
    canvas.save()
    take_inventory(context)
    out = tmp_path / "audit.html"
    make_audit(context.database, context.settings, context.spec, out=out, per_format=2)
    return context, out


def signed(page: str, **changes: Any) -> dict[str, Any]:
    """The result that a reviewer who is content downloads."""
    frame = json.loads(re.search(r'<script type="application/json" id="result">(.*?)</script>', page, re.DOTALL)[1])
    files = [{**file, "verdict": "bad", "converter": "", "comment": ""} for file in frame["files"]]
    result = {**frame, "files": files, "reviewer": "Ada Reader", "reviewed_on": "2026-11-01", "comment": "All read."}
    return {**result, **changes}


def test_the_page_is_self_contained_shows_hostile_text_as_text_and_signed_results_are_kept(
    audited: tuple[StageContext, Path], tmp_path: Path
) -> None:
    context, out = audited
    text = out.read_text()
    page = Page(text)
    # nothing of a document became markup, and the page refers to nothing outside itself
    assert [attributes.get("onload") or attributes.get("onerror") for _, attributes in page.elements] == [None] * len(
        page.elements
    )
    assert page.of("img") == page.of("link") == page.of("iframe") == []
    assert len(page.of("script")) == 2
    shown = "".join(data for _, data in page.texts)
    assert shown.count("document.title='owned'") >= 3
    assert "{{ 7*7 }}{% raw %}" in shown
    targets = [
        value for _, attributes in page.elements for name, value in attributes.items() if name in {"href", "src"}
    ]
    assert {str(target).partition(":")[0].partition("-")[0] for target in targets} <= {"data", "#file"}
    # the policy allows exactly the style and the script of the page
    policy = next(attributes["content"] for attributes in page.of("meta") if "http-equiv" in attributes)
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, name in (("style", "style-src"), ("script", "script-src")):
        body = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[-1]
        assert f"{name} 'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'" in policy
    # the PDF: pictures of its pages, boxes with numbers in reading order, the running header found
    assert len(page.of("image")) == 3
    assert len([box for box in page.of("rect") if box["class"] in {"heading", "title"}]) >= 3
    assert "Yearly report" in next(data for tag, data in page.texts if tag == "q")
    # every candidate: the route's first and those that read the format besides
    assert {option for tag, option in page.texts if tag == "option"} >= {
        "docling-native-geometry",
        "pdfium-text",
        "plain",
    }

    path = tmp_path / "signed.json"
    path.write_text(json.dumps(signed(text)))
    with context.database.connection() as connection:
        first = record_result(connection, "handbook", read_result(path), who="someone")
        again = record_result(connection, "handbook", read_result(path), who="someone")
    assert (first["new"], again["new"]) == (True, False)
    assert first["audit_id"] == again["audit_id"]
    with context.database.connection() as connection:
        (kept,) = recorded_audits(connection, "handbook")
    assert kept["audit_id"] == first["audit_id"]
    assert kept["html_sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert kept["reviewer"] == "Ada Reader"
    assert {file["sha256"] for file in kept["verdicts"]} == {
        hashlib.sha256(file.read_bytes()).hexdigest() for file in (tmp_path / "docs").iterdir()
    }
    assert len(kept["converters"]["docling-native-geometry"]) == 64

    refused(context, tmp_path, text)


def refused(context: StageContext, tmp_path: Path, text: str) -> None:
    """Results that do not fit their report are named with what is wrong and not kept."""
    good = signed(text)
    pdf = next(file for file in good["files"] if file["document_id"].endswith(".pdf"))
    wrong = [
        ({"report_id": "0" * 64}, "not made here"),
        ({"corpus": "other"}, "not made here"),
        ({"files": good["files"][1:]}, "no verdict on"),
        ({"files": [*good["files"], good["files"][0]]}, "two verdicts"),
        ({"files": [*good["files"][:-1], {**good["files"][-1], "sha256": "0" * 64}]}, "another SHA-256"),
        ({"reviewed_on": "2999-01-01"}, "in the future"),
        ({"reviewer": " "}, "reviewer"),
        ({"surprise": 1}, "surprise"),
        ({"files": [{**file, "converter": "magic"} if file is pdf else file for file in good["files"]]}, "magic"),
        ({"files": [{**file, "verdict": "good"} for file in good["files"]]}, "no converter"),
    ]
    for changes, said in wrong:
        path = tmp_path / "wrong.json"
        path.write_text(json.dumps({**good, **changes}))
        with pytest.raises(AuditError, match=said), context.database.connection() as connection:
            record_result(connection, "handbook", read_result(path), who="someone")
    path.write_text("{")
    with pytest.raises(AuditError, match="no signed result"):
        read_result(path)
    with context.database.connection() as connection:
        assert len(recorded_audits(connection, "handbook")) == 1


def test_a_corpus_without_inventory_says_what_to_run(context: StageContext, tmp_path: Path) -> None:
    with pytest.raises(UpstreamMissingError, match="no readable file"):
        make_audit(context.database, context.settings, context.spec, out=tmp_path / "a.html", per_format=1)


@pytest.mark.slow
def test_in_a_browser_hostile_text_runs_nothing_and_the_form_checks_what_is_missing(
    audited: tuple[StageContext, Path], tmp_path: Path
) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no browser")
    _, out = audited
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*command, "--virtual-time-budget=3000", "--dump-dom", out.as_uri()],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "<title>Conversion audit of handbook</title>" in done.stdout
    assert done.stdout.count('class="boxes shown"') == 3
