"""Headings, columns, tables, lists and running text of drawn pages."""

from __future__ import annotations

from corpus_pipeline.records import BlockKind

KINDS = BlockKind


def kinds(document, kind):
    return [block.text for block in document.blocks if block.kind is kind]


def test_headings_have_levels_by_size_and_the_largest_is_the_title(tmp_path, pages, convert):
    def page(canvas):
        pages.text(canvas, 72, 90, "Travel Rules", size=22, font="Helvetica-Bold")
        top = pages.paragraph(canvas, 72, 130, pages.PARAGRAPH)
        pages.text(canvas, 72, top + 20, "Who may travel", size=15, font="Helvetica-Bold")
        top = pages.paragraph(canvas, 72, top + 45, pages.PARAGRAPH)
        pages.text(canvas, 72, top + 20, "Staff", size=12, font="Helvetica-Bold")
        top = pages.paragraph(canvas, 72, top + 45, pages.PARAGRAPH)
        pages.text(canvas, 72, top + 20, "What is paid", size=15, font="Helvetica-Bold")
        pages.paragraph(canvas, 72, top + 45, pages.PARAGRAPH)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    headings = [(block.text, block.level) for block in document.blocks if block.kind is KINDS.HEADING]
    assert headings == [("Who may travel", 2), ("Staff", 3), ("What is paid", 2)]
    assert document.title == "Travel Rules"
    assert document.blocks[0].kind is KINDS.TITLE
    assert kinds(document, KINDS.PARAGRAPH) == [pages.PARAGRAPH] * 4
    assert document.properties["pdf_grade"] == "geometry"


def test_blocks_carry_page_and_box_from_the_top_left(tmp_path, pages, convert):
    document = convert(
        pages.draw(tmp_path / "a.pdf", lambda canvas: pages.text(canvas, 100, 200, "One line of text on a page."))
    )

    (block,) = document.blocks
    left, top, right, bottom = block.bbox
    assert (block.page, round(left)) == (1, 100)
    assert 188 < top < 196
    assert 199 < bottom < 206
    assert 210 < right < 250
    assert document.text[block.char_start : block.char_end] == block.text


def test_two_columns_are_read_one_after_the_other_under_a_common_heading(tmp_path, pages, convert):
    left_text = " ".join(f"left{number} word here" for number in range(80))
    right_text = " ".join(f"right{number} word here" for number in range(80))

    def page(canvas):
        pages.text(canvas, 180, 80, "A heading over both columns", size=18, font="Helvetica-Bold")
        pages.paragraph(canvas, 60, 120, left_text, width=230)
        pages.paragraph(canvas, 320, 120, right_text, width=230)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    words = document.text.replace("\n", " ").split()
    assert words[:2] == ["A", "heading"]
    assert words.index("left79") < words.index("right0")
    assert not document.text.count("|")


def grid(canvas, xs, ys):
    for x in xs:
        canvas.line(x, 792 - ys[0], x, 792 - ys[-1])
    for y in ys:
        canvas.line(xs[0], 792 - y, xs[-1], 792 - y)


def test_ruled_table_keeps_cells_and_header(tmp_path, pages, convert):
    rows = [["Plan", "Seats", "Price"], ["Free", "3", "0"], ["Team", "25", "49"]]

    def page(canvas):
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        grid(canvas, [72, 200, 300, 400], [200, 220, 240, 260])
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                font = "Helvetica-Bold" if row == 0 else "Helvetica"
                pages.text(canvas, 78 + [0, 128, 228][column], 214 + 20 * row, cell, font=font)
        pages.paragraph(canvas, 72, 300, pages.PARAGRAPH)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    (table,) = [block for block in document.blocks if block.kind is KINDS.TABLE]
    assert [list(row) for row in table.table.rows] == rows
    assert table.table.header_rows == 1
    assert table.text == "Plan | Seats | Price\nFree | 3 | 0\nTeam | 25 | 49"


def test_missing_rule_makes_a_spanning_cell(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        grid(canvas, [72, 172, 272, 372], [220, 240, 260])
        canvas.line(72, 792 - 200, 372, 792 - 200)
        for x in (72, 172, 372):
            canvas.line(x, 792 - 200, x, 792 - 220)
        pages.text(canvas, 78, 214, "Region")
        pages.text(canvas, 240, 214, "Sales")
        for column, cell in enumerate(("North", "10", "12")):
            pages.text(canvas, 78 + 100 * column, 234, cell)
        for column, cell in enumerate(("South", "20", "22")):
            pages.text(canvas, 78 + 100 * column, 254, cell)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    (table,) = [block.table for block in document.blocks if block.kind is KINDS.TABLE]
    assert table.rows[0] == ("Region", "Sales", "Sales")
    assert table.spans == ((0, 1, 1, 2),)


def test_table_without_rules_is_found_by_its_columns(tmp_path, pages, convert):
    rows = [
        ["Year", "Revenue", "Cost"],
        ["2021", "$ 1,204", "(318)"],
        ["2022", "$ 1,377", "(322)"],
        ["2023", "98", "-"],
    ]

    def page(canvas):
        top = pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                width = canvas.stringWidth(cell, "Helvetica", 10)
                pages.text(canvas, 72 if column == 0 else 200 + 120 * column - width, top + 20 + 14 * row, cell)
        pages.paragraph(canvas, 72, top + 110, pages.PARAGRAPH)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    (table,) = [block.table for block in document.blocks if block.kind is KINDS.TABLE]
    assert [list(row) for row in table.rows] == rows


def test_list_items_keep_their_numbers_and_depth(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        for position, (x, item) in enumerate(
            ((72, "1. Ask before you travel"), (72, "2. Book the cheapest train"), (92, "\u2022 second class"))
        ):
            pages.text(canvas, x, 180 + 14 * position, item)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    items = [(block.text, block.level) for block in document.blocks if block.kind is KINDS.LIST_ITEM]
    assert items == [("1. Ask before you travel", 1), ("2. Book the cheapest train", 1), ("- second class", 2)]


def test_drawn_bullets_make_list_items(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        for position, item in enumerate(("first", "second", "third")):
            canvas.circle(80, 792 - (176 + 16 * position), 1.7, stroke=0, fill=1)
            pages.text(canvas, 92, 180 + 16 * position, f"the {item} of three drawn bullets")

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    assert kinds(document, KINDS.LIST_ITEM)[0] == "- the first of three drawn bullets"
    assert len(kinds(document, KINDS.LIST_ITEM)) == 3


def test_running_headers_and_page_numbers_go_but_chapter_openings_stay(tmp_path, pages, convert):
    def chapter(number):
        def page(canvas):
            pages.text(canvas, 72, 40, "Handbook of Examples", size=8)
            pages.text(canvas, 72, 95, f"Chapter {number}", size=20, font="Helvetica-Bold")
            top = pages.paragraph(canvas, 72, 140, pages.PARAGRAPH)
            pages.paragraph(canvas, 72, top + 20, pages.PARAGRAPH)
            pages.text(canvas, 300, 760, str(number), size=8)

        return page

    document = convert(pages.draw(tmp_path / "a.pdf", *(chapter(number) for number in range(1, 6))))

    assert "Handbook of Examples" not in document.text
    assert kinds(document, KINDS.HEADING) == [f"Chapter {number}" for number in range(1, 6)]
    assert document.page_count == 5
    assert document.text.count(pages.PARAGRAPH) == 10


def test_bold_words_that_open_a_paragraph_are_no_heading(tmp_path, pages, convert):
    def page(canvas):
        top = pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        for _ in range(3):
            pages.text(canvas, 72, top + 16, "Note.", font="Helvetica-Bold")
            pages.text(canvas, 104, top + 16, "A claim without receipts is paid at the flat rate of the country and no")
            top = pages.paragraph(
                canvas, 72, top + 28, "more, whatever it says about the price of the room that night."
            )

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    assert kinds(document, KINDS.HEADING) == []
    assert sum(text.startswith("Note. A claim without") for text in kinds(document, KINDS.PARAGRAPH)) == 3


def test_word_broken_over_a_line_is_whole_and_a_compound_keeps_its_hyphen(tmp_path, pages, convert):
    def page(canvas):
        pages.text(canvas, 72, 100, "Every long-term plan of the office has been written with the help of the imple-")
        pages.text(canvas, 72, 112, "mentation guide, and every other plan of the office is likewise a sound long-")
        pages.text(canvas, 72, 124, "term plan that the office keeps.")

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    assert "the implementation guide" in document.text
    assert "a sound long-term plan" in document.text


def test_code_keeps_lines_and_indentation(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 72, 100, pages.PARAGRAPH)
        pages.text(canvas, 72, 180, "def double(number):", font="Courier")
        pages.text(canvas, 72 + 4 * 6, 192, "return 2 * number     # exact", font="Courier")

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    assert kinds(document, KINDS.CODE) == ["def double(number):\n    return 2 * number     # exact"]


def test_same_file_gives_the_same_document(tmp_path, pages, convert):
    path = pages.draw(tmp_path / "a.pdf", lambda canvas: pages.paragraph(canvas, 72, 100, pages.PARAGRAPH))

    assert convert(path).document_sha256 == convert(path).document_sha256


CODE = (
    (0, "record {"),
    (2, "id      INTEGER,"),
    (2, "name    TEXT"),
    (0, "}"),
    (0, ""),
    (0, "-h, --help     shows this"),
    (0, "-o, --output   writes a file"),
)


def test_code_keeps_its_lines_and_columns_and_bullets_in_its_font_are_a_list(tmp_path, pages, convert):
    def page(canvas):
        top = pages.paragraph(canvas, 72, 90, pages.PARAGRAPH * 2)
        for number, (indent, line) in enumerate(CODE):
            pages.text(canvas, 90 + 6 * indent, top + 20 + 13 * number, line, font="Courier")
        top = pages.paragraph(canvas, 72, top + 140, pages.PARAGRAPH)
        for number, name in enumerate(("INTEGER", "BOOLEAN", "TEXT")):
            pages.text(canvas, 90, top + 20 + 14 * number, f"\u2022 {name};", font="Courier")

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    (code,) = kinds(document, KINDS.CODE)
    assert [line.split() for line in code.splitlines()] == [line.split() for _, line in CODE]
    assert kinds(document, KINDS.LIST_ITEM) == ["- INTEGER;", "- BOOLEAN;", "- TEXT;"]
    assert not kinds(document, KINDS.TABLE)


def test_a_table_of_contents_has_a_line_an_entry_and_no_headings(tmp_path, pages, convert):
    entries = ("1 Purpose", "1.1 Scope of these rules", "2 Payment", "Annex A Forms")

    def contents(canvas):
        pages.text(canvas, 72, 90, "Contents", size=16, font="Helvetica-Bold")
        for number, entry in enumerate(entries):
            font = "Helvetica" if "." in entry else "Helvetica-Bold"
            canvas.setFont(font, 10)
            start = 74 + canvas.stringWidth(entry, font, 10)
            pages.text(canvas, 72, 130 + 14 * number, entry, font=font)
            pages.text(canvas, start, 130 + 14 * number, "." * int((480 - start) / 2.78), font=font)
            pages.text(canvas, 500, 130 + 14 * number, str(3 + number), font=font)

    def body(canvas):
        pages.paragraph(canvas, 72, 90, pages.PARAGRAPH * 4)

    document = convert(pages.draw(tmp_path / "a.pdf", contents, body))

    listed = [block for block in document.blocks if block.page == 1]
    assert [block.kind for block in listed[1:]] == [KINDS.PARAGRAPH] * 4
    for block, entry, number in zip(listed[1:], entries, range(3, 7), strict=True):
        assert block.text.startswith(entry)
        assert block.text.endswith(str(number))


def test_a_large_first_letter_opens_its_word(tmp_path, pages, convert):
    def page(canvas):
        pages.text(canvas, 72, 104, "M", size=34, font="Times-Roman")
        pages.text(canvas, 104, 90, "anagement of pastures has received more attention in the last", font="Times-Roman")
        pages.text(
            canvas, 104, 102, "years, and rules for it were written by several agencies that", font="Times-Roman"
        )
        pages.text(canvas, 72, 114, "share one table of limits and one form for all of the fields.", font="Times-Roman")
        pages.paragraph(canvas, 72, 150, pages.PARAGRAPH)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    assert document.blocks[0].text.startswith("Management of pastures has received")
    assert document.blocks[0].text.endswith("for all of the fields.")


def test_initials_of_names_start_no_list(tmp_path, pages, convert):
    def page(canvas):
        pages.text(canvas, 72, 90, "P. B. Ruiz, M. Okoye and others")
        pages.paragraph(canvas, 72, 120, pages.PARAGRAPH)
        for number, line in enumerate(("A. Purpose of the rules", "B. Scope of the rules", "C. Payment of claims")):
            pages.text(canvas, 90, 200 + 14 * number, line)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    assert document.blocks[0].kind is KINDS.PARAGRAPH
    assert [text[:2] for text in kinds(document, KINDS.LIST_ITEM)] == ["A.", "B.", "C."]


def test_letters_of_a_font_of_ornaments_are_bullets(tmp_path, pages, convert):
    def page(canvas):
        pages.paragraph(canvas, 72, 90, pages.PARAGRAPH)
        for number, name in enumerate(("Ebola viruses", "Lassa fever virus", "Monkeypox virus", "Ricin")):
            pages.text(canvas, 72, 160 + 14 * number, "n", font="ZapfDingbats")
            pages.text(canvas, 90, 160 + 14 * number, name)

    document = convert(pages.draw(tmp_path / "a.pdf", page))

    names = ["- Ebola viruses", "- Lassa fever virus", "- Monkeypox virus", "- Ricin"]
    assert kinds(document, KINDS.LIST_ITEM) == names
