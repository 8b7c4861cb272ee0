"""A corpus of archives and mails, from the folder to a cited answer."""

from __future__ import annotations

import io
import json

import pytest
from docx import Document

from corpus_pipeline_tests.acceptance.installation import Installation
from corpus_pipeline_tests.packing import mail_of, tar_of, zip_of


def office_document(heading: str, text: str) -> bytes:
    document, buffer = Document(), io.BytesIO()
    document.add_heading(heading, 1)
    document.add_paragraph(text)
    document.save(buffer)
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.timeout(4000)
def test_members_of_archives_and_mails_are_found_and_cited(installation: Installation) -> None:
    folder = installation.root / "alpha"
    reports = zip_of(
        {
            "2024/anchors.md": "# Anchor chains\n\nAnchor chains are measured with a caliper every autumn.\n",
            "2024/scan.docx": b"PK\x03\x04 cut off",
            "older.tar.gz": tar_of({"paint.txt": "Red hull paint is renewed every third spring by the yard.\n"}),
        }
    )
    (folder / "reports.zip").write_bytes(reports)
    letter = mail_of(
        "The harbour master wants the sirens tested on Mondays.\n",
        [("cranes.docx", office_document("Cranes", "Cranes lift at most forty tonnes when the wind is calm."))],
    )
    (folder / "letter.eml").write_bytes(bytes(letter))
    (folder / "bomb.zip").write_bytes(zip_of({"zeros.bin": bytes(60_000_000)}))
    config = installation.config.read_text().replace(
        "owner: tests@example.com", "owner: tests@example.com\n    gates:\n      max_quarantined_ratio: 0.5", 1
    )
    installation.config.write_text(config)

    first = json.loads(installation.run("ingest", "alpha", "--json", timeout=1500).stdout)["corpora"][0]
    assert first["published"]
    assert first["stages"]["source_inventory"]["members"] == 4
    for question, citation in (
        ("How are anchor chains measured?", "reports.zip!/2024/anchors.md"),
        ("Who renews red hull paint?", "reports.zip!/older.tar.gz!/paint.txt"),
        ("How much do cranes lift?", "letter.eml!/cranes.docx"),
        ("When are sirens tested?", "letter.eml"),
    ):
        found = installation.json("search", question, "-c", "alpha")
        assert found["accepted"][0]["source_uri"] == str(folder / citation), json.dumps(found, indent=1)
    quarantined = {one["document_id"]: one for one in installation.json("quarantine", "list", "alpha")["files"]}
    assert {name: one["reason"] for name, one in quarantined.items()} == {
        "alpha/bomb.zip": "bomb",
        "alpha/reports.zip!/2024/scan.docx": "corrupt",
    }
    assert "source.exclude" in quarantined["alpha/bomb.zip"]["message"]

    again = installation.run("ingest", "alpha", timeout=1500)
    assert "Nothing changed: nothing was converted, chunked or embedded." in again.stdout

    (folder / "reports.zip").write_bytes(
        zip_of({"2024/anchors.md": "# Anchor chains\n\nAnchors are weighed in June.\n"})
    )
    third = json.loads(installation.run("ingest", "alpha", "--json", timeout=1500).stdout)["corpora"][0]
    assert third["stages"]["converted_documents"]["converted"] == 1
    found = installation.json("search", "Who renews red hull paint?", "-c", "alpha")
    assert not any("paint.txt" in one["source_uri"] for one in found["accepted"])
