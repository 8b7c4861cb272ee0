"""Tables as financial statements set them: heads over rules, wrapped labels, totals between short rules."""

from corpus_pipeline.conversion.pdf.capture import FontStyle, Word
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import build_lines
from corpus_pipeline.conversion.pdf.rules import PageRules, Rule
from corpus_pipeline.conversion.pdf.table_cells import read_table
from corpus_pipeline.conversion.pdf.table_region import TableRegion
from corpus_pipeline.conversion.pdf.table_regions import find_tables

FONT = FontStyle("Body", bold=False, italic=False, monospaced=False)


def words(text, left, top, *, right=None, size=10):
    """Words of one line, 5 points a character, set from ``left`` or up to ``right``."""
    left = left if right is None else right - 5 * len(text) * size / 10
    placed = []
    for part in text.split(" "):
        width = 5 * len(part) * size / 10
        placed.append(Word(part, Box(left, top, left + width, top + size), FONT, size))
        left += width + 0.3 * size
    return placed


def amounts(top, *texts, label="", first=280):
    row = words(label, 20, top) if label else []
    for position, text in enumerate(texts):
        row += words(text, 0, top, right=first + 80 * position)
    return row


def read(found, rules=(), region=None):
    box = region or Box(15, 75, 620, 400)
    grid = read_table(TableRegion(box), found, rules)
    rows = [[""] * grid.column_count for _ in range(grid.row_count)]
    for cell in grid.cells:
        rows[cell.row][cell.column] = " ".join(cell.lines)
    return rows, grid


def test_head_over_a_rule_spans_the_columns_under_the_rule_and_keeps_a_row_of_its_own():
    found = words("Three Months", 265, 80) + words("Nine Months", 425, 80)
    found += amounts(92, "June 25,", "June 26,", "June 25,", "June 26,") + amounts(102, "2022", "2021", "2022", "2021")
    for top in (116, 130, 144):
        found += amounts(top, "1,100", "2,200", "3,300", "4,400", label=f"Row at {top}")
    rules = [Rule(91, 230, 362), Rule(91, 392, 522)]

    rows, grid = read(found, rules)

    assert rows[0] == ["", "Three Months", "", "Nine Months", ""]
    assert rows[1] == ["", "June 25, 2022", "June 26, 2021", "June 25, 2022", "June 26, 2021"]
    assert [(cell.column, cell.column_end) for cell in grid.cells if cell.row == 0 and cell.lines] == [(1, 3), (3, 5)]
    assert len(rows) == 5
    assert grid.header_rows == 2


def test_heads_over_a_full_rule_share_the_columns_evenly():
    found = words("(In millions)", 20, 92) + words("Three Months", 300, 80) + words("March 31,", 310, 92)
    found += words("Nine Months", 460, 80) + words("March 31,", 470, 92)
    found += amounts(112, "2023", "2022", "2023", "2022")
    for top in (128, 142, 156):
        found += amounts(top, "1,100", "2,200", "3,300", "4,400", label=f"Row at {top}")

    rows, grid = read(found, [Rule(105, 18, 525)])

    assert grid.header_rows == 2
    assert rows[0] == ["(In millions)", "Three Months March 31,", "", "Nine Months March 31,", ""]
    assert rows[1] == ["", "2023", "2022", "2023", "2022"]


def test_lines_of_column_heads_are_one_cell_also_where_some_begin_lower():
    found = amounts(80, "Interest", first=360) + amounts(92, "Cost", "Rate", label="Loan")
    for top in (110, 124, 138):
        found += amounts(top, "1,000", "4.5%", label=f"Loan {top}")

    rows, _ = read(found)

    assert rows[0] == ["Loan", "Cost", "Interest Rate"]
    assert len(rows) == 4


def test_label_that_wraps_above_its_amounts_is_one_row():
    found = amounts(100, "1,000", "2,000", label="Balance at the start")
    found += words("Gains and losses, net of the tax of", 20, 114) + amounts(125, "30", "40", label="the period before")
    found += amounts(139, "5,000", "6,000", label="Balance at the end")

    rows, _ = read(found)

    assert [row[0] for row in rows] == [
        "Balance at the start",
        "Gains and losses, net of the tax of the period before",
        "Balance at the end",
    ]


def test_title_of_the_rows_below_is_no_wrapped_label():
    found = amounts(100, "1,000", "2,000", label="Balance")
    found += words("Operating expenses of the whole company:", 20, 114) + amounts(126, "30", "40", label="research")
    found += amounts(140, "50", "60", label="sales")

    rows, _ = read(found)

    assert [row[0] for row in rows] == ["Balance", "Operating expenses of the whole company:", "research", "sales"]


def test_amounts_under_one_another_are_never_one_cell_though_rules_part_other_rows():
    found = []
    for top in (100, 120, 140, 160, 172, 184):
        found += amounts(top, "1,000", "2,000", label=f"Row {top}")
    region = TableRegion(Box(15, 95, 400, 200), ys=[116, 136, 156])

    grid = read_table(region, found)

    assert grid.row_count == 6


def test_head_joins_its_body_over_a_unit_in_brackets_and_a_label():
    found = amounts(80, "October 29,", "October 30,", "October 29,") + amounts(91, "2023", "2022", "2023")
    found += words("(In millions)", 270, 105) + words("Revenue:", 20, 117)
    for top in (129, 141, 153):
        found += amounts(top, "1,100", "2,200", "3,300", label=f"Region {top}")
    lines = build_lines(found)
    rules = PageRules(horizontal=[Rule(top, 15, 445) for top in (128, 140, 152, 164)])

    (table,) = find_tables(lines, rules, 600, 800)

    assert table.box.top < 82
    assert table.box.bottom > 160


def test_heading_with_its_number_apart_is_no_row_of_the_table_below():
    found = words("Note 6 :", 20, 60, size=16) + words("Other Charges", 130, 60, size=16)
    for top in (90, 104, 118, 132):
        found += amounts(top, "1,100", "2,200", label=f"Charge {top}")

    (table,) = find_tables(build_lines(found), PageRules(), 600, 800)

    assert table.box.top > 80
