from corpus_pipeline.conversion.pdf.capture import FontStyle, Word
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import build_lines, rows_of
from corpus_pipeline.conversion.pdf.table_cells import read_table
from corpus_pipeline.conversion.pdf.table_columns import column_intervals, join_currency
from corpus_pipeline.conversion.pdf.table_region import TableRegion

FONT = FontStyle("Body", bold=False, italic=False, monospaced=False)


def word(text, left, top, *, width=None):
    return Word(text, Box(left, top, left + (5 * len(text) if width is None else width), top + 10), FONT, 10)


def rows(words):
    return rows_of(build_lines(words))


def test_a_head_over_two_columns_does_not_join_them():
    words = [word("Sales", 120, 80, width=80)]
    for top in (100, 115, 130):
        words += [word("item", 20, top), word("10", 120, top), word("20", 190, top)]
    assert len(column_intervals(rows(words))) == 3


def test_sign_of_the_next_column_does_not_stick_to_the_amount_before():
    joined = join_currency([word("Total", 20, 100), word("98", 100, 100), word("$", 114, 100), word("77", 200, 100)])
    assert [(found.text, found.box.left) for found in joined] == [("Total", 20), ("98", 100), ("$ 77", 200)]


def test_closing_bracket_and_percent_belong_to_the_amount():
    joined = join_currency([word("(5", 100, 100), word(")", 111, 100), word("34.2", 200, 100), word("%", 225, 100)])
    assert [found.text for found in joined] == ["(5)", "34.2 %"]


def test_cell_of_several_lines_stays_one_cell():
    words = [word("Name", 20, 80), word("Text", 100, 80)]
    for top, name in ((100, "first"), (140, "second")):
        words += [word(name, 20, top), word("a cell that is", 100, top), word("two lines high", 100, top + 12)]
    grid = read_table(TableRegion(Box(18, 78, 180, 165)), words)
    texts = {(cell.row, cell.column): " ".join(cell.lines) for cell in grid.cells}
    assert texts[1, 1] == "a cell that is two lines high"
    assert grid.row_count == 3


def test_region_with_one_column_is_no_table():
    assert read_table(TableRegion(Box(0, 0, 200, 200)), [word("one", 20, 100), word("two", 20, 120)]) is None
