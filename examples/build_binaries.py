"""Builds the binary files of the example corpora. They are committed; run this only to change them.

.venv/bin/python examples/build_binaries.py
"""

from __future__ import annotations

import io
from pathlib import Path

HERE = Path(__file__).parent
OLD_REFUND_TEXT = [
    (
        "Refund period",
        "Customers may ask for a refund within 14 days of the purchase. The request must state a reason, and "
        "the reason must be checked by the account manager before the refund is approved. After 14 days no refund is "
        "possible, whatever the reason.",
    ),
    (
        "Amount",
        "A processing fee of 10 percent is kept. Annual plans are refunded at half of the remaining value. Monthly "
        "plans are not refunded once the month has begun.",
    ),
    (
        "Payment",
        "Refunds are paid by voucher only. The voucher is valid for twelve months and cannot be exchanged for money.",
    ),
]
PASSWORD_RESET = [
    ("Resetting the password of a customer", None),
    (
        "Before you begin",
        "Ask for the customer number and the last invoice amount. Never ask for the present password.",
    ),
    ("Steps", None),
    ("1.", "Open the customer in the console and choose Security."),
    ("2.", "Choose Send reset link. The link is valid for 20 minutes."),
    ("3.", "Stay on the line until the customer has set the new password."),
    (
        "If the link does not arrive",
        "Check the address in the delivery log. When the mailbox refuses the message, send the link "
        "to the billing contact instead and note it in the ticket.",
    ),
]


def _pdf(path: Path, title: str, parts: list[tuple[str, str | None]]) -> None:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

    styles = getSampleStyleSheet()
    story = [Paragraph(title, styles["Title"])]
    for heading, text in parts:
        if heading.endswith(".") and text:
            story.append(Paragraph(f"{heading} {text}", styles["BodyText"]))
            continue
        if heading != title:
            story.append(Paragraph(heading, styles["Heading2"]))
        if text:
            story += [Paragraph(text, styles["BodyText"]), Spacer(1, 6)]
    SimpleDocTemplate(str(path), pagesize=A4, title=title, author="Brightwater", invariant=1).build(story)


def _docx(path: Path, title: str, parts: list[tuple[str, str | None]]) -> None:
    from docx import Document

    document = Document()
    document.core_properties.title = title
    document.core_properties.author = "Brightwater"
    document.add_heading(title, level=1)
    for heading, text in parts:
        if heading.endswith(".") and text:
            document.add_paragraph(f"{heading} {text}")
            continue
        if heading != title:
            document.add_heading(heading, level=2)
        if text:
            document.add_paragraph(text)
    document.save(str(path))


def _travel_expenses(path: Path) -> None:
    from docx import Document

    document = Document()
    document.core_properties.title = "Travel expenses"
    document.add_heading("Travel expenses", level=1)
    document.add_heading("Trains and flights", level=2)
    document.add_paragraph(
        "Journeys of up to five hours are made by train, second class. Flights are booked in economy class "
        "and at least fourteen days ahead."
    )
    document.add_heading("Hotels", level=2)
    document.add_paragraph(
        "A night may cost up to the amount below. More needs the approval of the manager before booking."
    )
    rows = [
        ("City", "Limit per night", "Breakfast"),
        ("Lisbon", "140 euros", "included"),
        ("Oslo", "190 euros", "included"),
        ("Toronto", "170 euros", "up to 18 euros"),
        ("elsewhere", "120 euros", "up to 15 euros"),
    ]
    table = document.add_table(rows=0, cols=3)
    table.style = "Table Grid"
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_heading("Claiming", level=2)
    document.add_paragraph("Receipts are handed in within 30 days of the journey. Later claims are not paid.")
    document.save(str(path))


def _incident_policy(path: Path, version: str, hours: str, extra: str) -> None:
    import pypandoc

    text = f"""---
title: Security incident policy {version}
---
# Security incident policy

## Reporting

Whoever notices a security incident reports it to the security team within {hours}, by telephone or in the channel *security*.
A lost laptop, a suspicious e-mail that was opened, and data sent to a wrong recipient are security incidents.

## First steps

The security team decides within an hour whether customers are affected. Affected systems are isolated, not switched off, so that
traces are kept. {extra}

## Informing customers

Customers whose data are affected are informed within 72 hours. The legal team approves the text.
"""
    pypandoc.convert_text(text, path.suffix[1:], format="md", outputfile=str(path))


def _workbook(path: Path, sheets: dict[str, list[tuple[object, ...]]]) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
    book.save(str(path))


def _slides(path: Path) -> None:
    from pptx import Presentation

    deck = Presentation()
    for title, lines in [
        ("How Relay delivers a message", ["From the API call to the telephone in under two seconds"]),
        (
            "Components",
            [
                "The gateway accepts messages and answers with an id",
                "The router chooses the operator by price and quality",
                "The connector speaks the operator's protocol",
                "The recorder keeps delivery receipts",
            ],
        ),
        (
            "When an operator fails",
            [
                "The router measures the share of delivered messages every minute",
                "Below 90 percent it moves the traffic to the second operator",
                "It moves back after 15 minutes above 97 percent",
            ],
        ),
    ]:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(lines)
    deck.save(str(path))


def _getting_started(path: Path) -> None:
    import pypandoc

    text = """---
title: Getting started with Relay
lang: en
---
# Your first message

Create an account, confirm the e-mail, and open the console. Under *Access tokens* create a token with the scope `messages:write`.

## Sending

Send a message with `relay send --to +351910000000 --text "Hello"`. The command prints the message id and waits for the delivery
receipt.

# Test numbers

Messages to numbers that begin with +999 are accepted but never delivered and never billed. Use them in automatic tests.
"""
    pypandoc.convert_text(text, "epub", format="md", outputfile=str(path))


def _encrypted_pdf(path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    plain = path.with_name("plain.pdf")
    _pdf(plain, "Acquisition plan", [("Target", "This text is only for the board.")])
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(plain.read_bytes())))
    writer.encrypt("brightwater-board", algorithm="AES-256")
    writer.write(str(path))
    plain.unlink()


def _truncated_docx(path: Path) -> None:
    _docx(path, "Supplier contract", [("Term", "The contract runs for two years. " * 40)])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def main() -> None:
    """Writes all binary example files."""
    policies, product, support = HERE / "policies", HERE / "product_docs", HERE / "support"
    _pdf(policies / "training" / "refund-training-2023.pdf", "Refund policy", list(OLD_REFUND_TEXT))
    _travel_expenses(policies / "travel-expenses.docx")
    _incident_policy(
        policies / "security-incident-policy-v1.docx", "v1", "24 hours", "The system owner is told by e-mail."
    )
    _incident_policy(
        policies / "security-incident-policy-v2.odt", "v2", "one hour", "The duty lead opens a conference call at once."
    )
    _workbook(
        policies / "hr" / "salary-bands.xlsx",
        {
            "Bands 2026": [
                ("Band", "From (euros)", "To (euros)"),
                ("E1", 38000, 46000),
                ("E2", 45000, 57000),
                ("E3", 56000, 72000),
                ("M1", 70000, 90000),
            ]
        },
    )
    _encrypted_pdf(policies / "acquisition-plan.pdf")
    _truncated_docx(policies / "supplier-contract.docx")
    _workbook(
        product / "pricing.xlsx",
        {
            "Plans": [
                ("Plan", "Monthly fee (euros)", "Messages included", "Price of a further message (euros)"),
                ("Free", 0, 500, "not sold"),
                ("Pro", 49, 10000, 0.012),
                ("Enterprise", 900, 500000, 0.007),
            ],
            "Numbers": [
                ("Country", "Setup (euros)", "Monthly rent (euros)"),
                ("Portugal", 5, 2),
                ("Brazil", 15, 6),
                ("Norway", 5, 3),
                ("Canada", 3, 1),
            ],
        },
    )
    _slides(product / "architecture.pptx")
    _getting_started(product / "getting-started.epub")
    _docx(support / "password-reset.docx", PASSWORD_RESET[0][0], PASSWORD_RESET)
    _pdf(support / "password-reset-copy.pdf", PASSWORD_RESET[0][0], PASSWORD_RESET)


if __name__ == "__main__":
    main()
