"""Heights of words, where a PDF states them wrongly."""

from corpus_pipeline.conversion.pdf.capture import FontStyle, Word
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import build_lines
from corpus_pipeline.conversion.pdf.sizes import FontMeasures, page_evidence

REGULAR = FontStyle("Flat", bold=False, italic=False, monospaced=False)
BOLD = FontStyle("Flat-Bold", bold=True, italic=False, monospaced=False)
SOUND = FontStyle("Sound", bold=False, italic=False, monospaced=False)
TEXT = ["grants", "cover", "travel", "between", "offices", "after", "every", "claim", "reaches", "them"]


def line(font, *, top, height, advance, gap, words=TEXT):
    left, made = 50.0, []
    for word in words:
        width = advance * len(word)
        made.append(Word(word, Box(left, top, left + width, top + height), font, height))
        left += width + gap
    return made


def corrected(words):
    fonts = FontMeasures()
    fonts.learn(page_evidence(words))
    fonts.correct(words)
    return words


def test_a_height_that_no_letters_can_have_is_raised_and_lines_hold_together():
    """A browser's text of 11 points, whose stated capital height makes its boxes 4.9 points high."""
    words = line(REGULAR, top=81.6, height=4.94, advance=6.8, gap=3.5)
    assert len(build_lines(words[:3])) == 3
    words = corrected(words)
    assert len(build_lines(words[:3])) == 1
    assert 11 < words[0].size < 15
    baseline = 86.5 - 0.2 * 4.94
    assert words[0].box.top < baseline - 8
    assert baseline < words[0].box.bottom < baseline + 4


def test_fonts_of_one_document_keep_their_proportion():
    heading = line(BOLD, top=50, height=7.41, advance=10.9, gap=5, words=TEXT[:3])
    words = corrected([*heading, *line(REGULAR, top=81.6, height=4.94, advance=6.8, gap=3.5)])
    assert round(words[0].size / words[-1].size, 2) == 1.5


def test_sound_fonts_and_single_wide_words_stay_as_they_are():
    wide = [Word("SPACED", Box(50, 20, 150, 30), BOLD, 10.0)]
    words = corrected([*wide, *line(SOUND, top=81.6, height=12, advance=5.5, gap=3.5)])
    assert {word.size for word in words} == {10.0, 12}
