from corpus_pipeline.conversion.pdf.capture import FontStyle, Word
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import build_lines, close_gaps
from corpus_pipeline.conversion.pdf.rules import Rule

REGULAR = FontStyle("Body", bold=False, italic=False, monospaced=False)
BOLD = FontStyle("Body-Bold", bold=True, italic=False, monospaced=False)
CODE = FontStyle("Courier", bold=False, italic=False, monospaced=True)


def word(text, left, *, top=100, width=None, size=10, font=REGULAR, right_to_left=False):
    box = Box(left, top, left + (5 * len(text) if width is None else width), top + size)
    return Word(text, box, font, size, right_to_left)


def texts(lines):
    return [line.text for line in lines]


def test_words_on_one_baseline_make_a_line_and_a_gap_parts_cells():
    words = [word("beta", 75), word("alpha", 50, width=22), word("42", 200)]
    assert texts(build_lines(words)) == ["alpha beta", "42"]


def test_a_vertical_rule_parts_words_that_stand_close():
    words = [word("left", 50), word("right", 74)]
    assert texts(build_lines(words, [Rule(72, 90, 120)])) == ["left", "right"]


def test_a_change_of_font_inside_a_word_makes_no_space():
    words = [word("pre", 50), word("fix", 65, font=BOLD), word("word", 85)]
    (line,) = build_lines(words)
    assert line.text == "prefix word"
    assert not line.bold


def test_a_bullet_far_from_its_text_belongs_to_it():
    assert texts(build_lines([word("•", 50), word("item", 80)])) == ["• item"]


def test_in_a_table_a_number_is_a_cell_of_its_own():
    words = [word("1.", 50), word("Ubuntu", 80)]
    assert texts(build_lines(words)) == ["1. Ubuntu"]
    assert texts(build_lines(words, enumerator_gap=0.9)) == ["1.", "Ubuntu"]


def test_spaces_in_code_are_kept():
    words = [word("x", 50, width=6, font=CODE), word("=", 74, width=6, font=CODE)]
    assert texts(build_lines(words, code_gap=30)) == ["x   ="]


def test_right_to_left_line_starts_at_its_right_end_and_keeps_numbers_forward():
    words = [
        word("אחת", 190, right_to_left=True),
        word("שתיים", 160, right_to_left=True),
        word("12", 145),
        word("kg", 130),
        word("סוף", 110, right_to_left=True),
    ]
    assert texts(build_lines(words)) == ["אחת שתיים kg 12 סוף"]


def test_gap_is_closed_where_the_lines_around_run_across_it():
    full = [word("wide", 50 + 25 * position, width=22, top=top) for top in (88, 112) for position in range(9)]
    torn = [word("torn", 50, width=100), word("apart", 180, width=92)]
    assert texts(close_gaps(build_lines(full + torn)))[1] == "torn apart"


def test_gap_between_cells_stays():
    cells = [word(text, left, top=top) for top in (88, 100, 112) for text, left in (("name", 50), ("17", 90))]
    assert len(close_gaps(build_lines(cells))) == 6


def test_a_number_belongs_to_the_leaders_before_it():
    row = [word("Scope", 50), word("..........", 78), word("12", 140), word("beside", 300)]
    assert texts(build_lines(row)) == ["Scope .......... 12", "beside"]
    assert texts(build_lines([word("Scope", 50), word("12", 140)])) == ["Scope", "12"]
