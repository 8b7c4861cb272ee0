import pytest

from corpus_pipeline.conversion.pdf import patterns


@pytest.mark.parametrize(
    "text", ["• item", "- item", "1. item", "(b) item", "iv) item", "[3] item", "\uf0b7 item", "\ufffd item"]
)
def test_list_items(text):
    assert patterns.is_list_item(text)


@pytest.mark.parametrize("text", ["1.2 Scope", "2024 was a year", "word", "-5 degrees"])
def test_not_list_items(text):
    assert not patterns.is_list_item(text)


@pytest.mark.parametrize("text", ["12", "Page 3 of 10", "- 7 -", "xiv", "A-12"])
def test_page_numbers(text):
    assert patterns.is_page_number(text)


@pytest.mark.parametrize("text", ["$ 1,204", "(318)", "34.2 %", "—", "N/A", "-"])
def test_numeric_cells(text):
    assert patterns.is_numeric_cell(text)


def test_words_are_not_numeric():
    assert not patterns.is_numeric_cell("Level 3")


def test_captions_need_a_number():
    assert patterns.is_caption("Table 3. Results")
    assert not patterns.is_caption("Table of contents")


@pytest.mark.parametrize("text", ["1 See the annex", "(2) See", "* Revised", "12 Budget"])
def test_footnotes(text):
    assert patterns.is_footnote(text)


@pytest.mark.parametrize("text", ["677 South Road", "72203. A. Sharpley", "1308.25 Exclusion", "12/31 closes", "Word"])
def test_numbers_that_are_no_marks_of_footnotes(text):
    assert not patterns.is_footnote(text)


def test_a_dash_may_be_code_and_a_bullet_may_not():
    assert patterns.has_bullet_glyph("• INTEGER;")
    assert not patterns.has_bullet_glyph("- name: value")
    assert not patterns.has_bullet_glyph("-h, --help")


def test_leaders_are_seen():
    assert patterns.has_leader("Introduction . . . . . 3")
    assert not patterns.has_leader("and so on ...")
    assert patterns.ends_in_leader("Introduction ........")
    assert not patterns.ends_in_leader("Introduction ........ 3")
