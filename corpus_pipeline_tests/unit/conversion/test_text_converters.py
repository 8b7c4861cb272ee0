from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus_pipeline.conversion.catalogue import CATALOGUE, load_converter
from corpus_pipeline.conversion.file_format import sniff_format
from corpus_pipeline.conversion.source import ConversionInput
from corpus_pipeline.records import Block, BlockKind, ConvertedDocument


def convert(tmp_path: Path, name: str, text: str | bytes, converter: str) -> ConvertedDocument:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    extension = path.suffix[1:]
    source = ConversionInput(path, sniff_format(path, extension), extension)
    return load_converter(CATALOGUE[converter].target).convert(source)


def shape(document: ConvertedDocument) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, block.text) for block in document.blocks]


def only(document: ConvertedDocument, kind: BlockKind) -> list[Block]:
    return [block for block in document.blocks if block.kind is kind]


MARKDOWN = """---
title: Front
---
# Guide

Intro with a [link](https://example.com/a) and
a second line.

## Steps ##

1. First
2. Second
   - inner

   More of second.

* [ ] bullet

> Quoted.

```python
x = 1

y = 2
```

| Plan | Price |
| ---- | ----: |
| Free | 0 |
| Pro  | 9 |

<div>raw &amp; text</div>
"""


def test_markdown_keeps_headings_lists_code_tables_and_links(tmp_path: Path) -> None:
    document = convert(tmp_path, "a.md", MARKDOWN, "markdown-it")
    assert shape(document) == [
        ("title", 1, "Guide"),
        ("paragraph", 0, "Intro with a link and\na second line."),
        ("heading", 2, "Steps"),
        ("list_item", 1, "1. First"),
        ("list_item", 1, "2. Second"),
        ("list_item", 2, "- inner"),
        ("paragraph", 0, "More of second."),
        ("list_item", 1, "- [ ] bullet"),
        ("paragraph", 0, "Quoted."),
        ("code", 0, "x = 1\n\ny = 2"),
        ("table", 0, "Plan | Price\nFree | 0\nPro | 9"),
        ("paragraph", 0, "raw & text"),
    ]
    assert document.title == "Guide"
    assert document.blocks[1].links == ("https://example.com/a",)
    assert only(document, BlockKind.CODE)[0].code_language == "python"
    assert only(document, BlockKind.TABLE)[0].table.header_rows == 1


def test_spans_address_the_text(tmp_path: Path) -> None:
    document = convert(tmp_path, "a.md", MARKDOWN, "markdown-it")
    for block in document.blocks:
        assert document.text[block.char_start : block.char_end] == block.text


@pytest.mark.parametrize("text", ["---\na: 1\n---\n", "+++\na = 1\n+++\n", "---\na: 1\n...\n"])
def test_front_matter_is_not_text(tmp_path: Path, text: str) -> None:
    assert convert(tmp_path, "a.md", text + "Body.\n", "markdown-it").text == "Body."


def test_a_rule_at_the_top_is_no_front_matter(tmp_path: Path) -> None:
    assert convert(tmp_path, "a.md", "---\n\nBody.\n", "markdown-it").text == "Body."


HEADER = """PEP: 9
Title: A thing: and more
Version: $Revision$
Author: Ann Example <ann@example.com>,
        Bob Example <bob@example.com>
Status: Superseded
Created: 01-Jan-2001
Superseded-By: 440
"""
RST = """
Abstract
========

See :pep:`440` and :ref:`other text <label>` or :unknown:`thing`.

Deeper
------

#. one
#. two

   - inner

:Field: value
:Other: value two

.. code-block:: python

   x = 1

   y = 2

>>> 1 + 1
2

.. note:: Mind this.

.. sphinx-only:: argument

   Content of it.

.. list-table::
   :header-rows: 1

   * - Plan
     - Price
   * - Free
     - 0

+-----+-------+
| a   | b     |
+=====+=======+
| c           |
+-----+-------+

term
   Definition.

.. [1] A footnote.

.. include:: /etc/hostname
.. raw:: html
   :file: /etc/hostname
.. csv-table::
   :file: /etc/hostname
.. comment
"""


def test_rst_keeps_header_fields_one_a_line_as_written(tmp_path: Path) -> None:
    document = convert(tmp_path, "a.rst", HEADER + RST, "docutils")
    assert document.blocks[0].text == HEADER.strip()
    assert document.title == "A thing: and more"
    assert document.properties["superseded-by"] == "440"
    assert "version" not in document.properties


def test_rst_keeps_headings_lists_code_tables_and_unknown_directives(tmp_path: Path) -> None:
    blocks = shape(convert(tmp_path, "a.rst", HEADER + RST, "docutils"))[1:]
    assert blocks[:11] == [
        ("heading", 1, "Abstract"),
        ("paragraph", 0, "See PEP 440 and other text or thing."),
        ("heading", 2, "Deeper"),
        ("list_item", 1, "1. one"),
        ("list_item", 1, "2. two"),
        ("list_item", 2, "- inner"),
        ("paragraph", 0, "Field: value\nOther: value two"),
        ("code", 0, "x = 1\n\ny = 2"),
        ("code", 0, ">>> 1 + 1\n2"),
        ("paragraph", 0, "Note: Mind this."),
        ("paragraph", 0, "argument"),
    ]
    assert blocks[11:16] == [
        ("paragraph", 0, "Content of it."),
        ("table", 0, "Plan | Price\nFree | 0"),
        ("table", 0, "a | b\nc |"),
        ("paragraph", 0, "term\nDefinition."),
        ("footnote", 0, "[1] A footnote."),
    ]


def test_rst_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words")
    text = (
        f"A\n=\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n.. csv-table::\n   :file: {secret}\n\nEnd.\n"
    )
    assert "secret words" not in convert(tmp_path, "a.rst", text, "docutils").text


def test_rst_keeps_what_cannot_be_parsed(tmp_path: Path) -> None:
    text = "A\n=\n\n==== ====\nbad  table\n=== ==\nmore text of the table\n\nEnd.\n"
    found = convert(tmp_path, "a.rst", text, "docutils").text
    assert "more text of the table" in found
    assert found.endswith("End.")


def test_plain_text_is_split_at_blank_lines_and_form_feeds(tmp_path: Path) -> None:
    document = convert(tmp_path, "a.txt", "  One\n  two\n \n\nThree\n\fFour\n", "plain")
    assert shape(document) == [("paragraph", 0, "  One\n  two"), ("paragraph", 0, "Three"), ("paragraph", 0, "Four")]
    assert [block.page for block in document.blocks] == [1, 1, 2]
    assert document.page_count == 2


def test_code_stays_in_one_piece_with_its_language(tmp_path: Path) -> None:
    code = "def f():\n\n    return 1\n"
    block = convert(tmp_path, "a.py", code, "plain").blocks[0]
    assert (block.kind, block.text, block.code_language) == (BlockKind.CODE, code.strip("\n"), "python")


def test_json_lines_are_a_block_a_line(tmp_path: Path) -> None:
    assert len(convert(tmp_path, "a.jsonl", '{"a": 1}\n\n{"a": 2}\n', "plain").blocks) == 2


def test_notebooks_keep_text_code_and_results(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Text."]},
        {"cell_type": "code", "source": "1 + 1", "outputs": [{"data": {"text/plain": ["2"]}}, {"text": "printed\n"}]},
    ]
    document = convert(tmp_path, "a.ipynb", json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}), "plain")
    assert [block.text for block in document.blocks] == ["Title", "Text.", "1 + 1", "2", "printed"]
