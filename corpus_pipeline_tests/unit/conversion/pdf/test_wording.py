from corpus_pipeline.conversion.pdf.wording import Hyphenation, clean_text


def hyphenation(*lines):
    taught = Hyphenation()
    taught.learn(lines)
    return taught


def test_broken_word_is_joined():
    assert hyphenation().join(["an algo-", "rithm"]) == "an algorithm"


def test_compound_the_document_writes_with_a_hyphen_keeps_it():
    assert hyphenation("a long-term plan").join(["the long-", "term view"]) == "the long-term view"


def test_word_written_whole_elsewhere_wins_over_the_compound():
    taught = hyphenation("a co-operation", "one cooperation")
    assert taught.join(["the co-", "operation"]) == "the cooperation"


def test_dash_between_words_stays_a_dash():
    assert hyphenation().join(["first -", "second"]) == "first - second"


def test_hyphen_before_a_capital_stays():
    assert hyphenation().join(["Anglo-", "Saxon"]) == "Anglo-Saxon"


def test_soft_hyphen_is_never_text():
    assert hyphenation().join(["hy\u00ad", "phen"]) == "hyphen"


def test_ligatures_are_spelt_out_and_control_characters_go():
    assert clean_text("e\ufb03cient\x07") == "efficient"
