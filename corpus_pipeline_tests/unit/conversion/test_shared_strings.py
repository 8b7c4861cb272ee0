import zipfile

import pytest

from corpus_pipeline.conversion.shared_strings import LONGEST_CELL, check_shared_strings
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import QuarantineReason


def workbook(path, texts, uses):
    cells = "".join(f'<c r="A{row}" t="s"><v>{number}</v></c>' for row, number in enumerate(uses, start=1))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "xl/sharedStrings.xml", "<sst>" + "".join(f"<si><t>{text}</t></si>" for text in texts) + "</sst>"
        )
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet><sheetData>{cells}</sheetData></worksheet>")
    return path


def test_one_endless_text_in_thousands_of_cells_is_a_bomb(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["x" * (LONGEST_CELL + 1)], [0] * 1_000)
    with pytest.raises(ConversionError, match="repeat its texts") as caught:
        check_shared_strings(path, max_text_chars=20_000_000)
    assert caught.value.reason is QuarantineReason.BOMB


def test_long_text_shown_once_and_short_texts_shown_often_are_no_bomb(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["x" * (LONGEST_CELL + 1), "yes"], [0] + [1] * 5_000)
    check_shared_strings(path, max_text_chars=20_000_000)


def test_workbook_without_shared_texts_passes(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    check_shared_strings(tmp_path / "a.xlsx", max_text_chars=10)
