import pytest

from corpus_pipeline.conversion.pdf.document_info import iso_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D:20240229083000Z", "2024-02-29T08:30:00+00:00"),
        ("D:20240229083000-05'30'", "2024-02-29T08:30:00-05:30"),
        ("20240229", "2024-02-29"),
        ("D:20241332", None),
        ("", None),
    ],
)
def test_pdf_dates(text, expected):
    assert iso_date(text) == expected
