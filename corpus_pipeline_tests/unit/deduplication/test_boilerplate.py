"""Lines that unlike documents share go; what copies share stays."""

from __future__ import annotations

import random

import numpy as np

from corpus_pipeline.deduplication.boilerplate import (
    MIN_DOCUMENTS,
    TextProfile,
    boilerplate_lines,
    profile,
    removed_lines,
    without_lines,
)
from corpus_pipeline.records import sha256_hex

FOOTER = "Copyright Example Limited, all rights reserved\nHome | Products | Support | Contact"


def body(seed: int, lines: int = 8) -> str:
    generator = random.Random(seed)
    return "\n".join(" ".join(f"w{generator.randrange(5000)}" for _ in range(12)) for _ in range(lines))


def profiled(*texts: str) -> list[TextProfile]:
    return [profile(sha256_hex(text), text) for text in texts]


def test_a_footer_of_unlike_documents_is_removed() -> None:
    texts = [f"{body(number)}\n{FOOTER}" for number in range(MIN_DOCUMENTS)]
    items = profiled(*texts)
    lines = boilerplate_lines(items)
    assert lines.size == 2
    taken = removed_lines(items[0], lines)
    assert without_lines(texts[0], taken.astype("<u8").tobytes()) == body(0)


def test_a_footer_of_too_few_documents_stays() -> None:
    items = profiled(*(f"{body(number)}\n{FOOTER}" for number in range(MIN_DOCUMENTS - 1)))
    assert boilerplate_lines(items).size == 0


def test_versions_of_one_text_do_not_make_it_boilerplate() -> None:
    # Forty versions, each with another last line, among forty unlike documents.
    versions = [f"{body(1, 30)}\nrevision {number} of this policy" for number in range(40)]
    items = profiled(*versions, *(body(100 + number) for number in range(40)))
    assert boilerplate_lines(items).size == 0


def test_equal_documents_count_once() -> None:
    items = profiled(*(f"{body(1)}\n{FOOTER}" + "!" * number for number in range(50)))
    assert boilerplate_lines(items).size == 0


def test_the_order_of_documents_makes_no_difference() -> None:
    items = profiled(*(f"{body(number)}\n{FOOTER}" for number in range(30)))
    shuffled = random.Random(3).sample(items, len(items))
    assert np.array_equal(boilerplate_lines(items), boilerplate_lines(shuffled))


def test_a_document_of_little_else_is_compared_whole() -> None:
    items = profiled(*(f"{body(number)}\n{FOOTER}" for number in range(MIN_DOCUMENTS)))
    short = profile("x", FOOTER + "\nonly five words are here")
    assert removed_lines(short, boilerplate_lines(items)).size == 0


def test_nothing_to_remove_leaves_the_text_as_it_is() -> None:
    assert without_lines("Some Text\n\n with lines", b"") == "Some Text\n\n with lines"
