from __future__ import annotations

import subprocess
import sys

from corpus_pipeline import conversion


def test_all_names_are_there_and_sorted() -> None:
    assert conversion.__all__ == sorted(conversion.__all__)
    assert all(hasattr(conversion, name) for name in conversion.__all__)


def test_importing_the_room_loads_no_document_library() -> None:
    heavy = ("docling", "unstructured", "torch", "spacy", "docutils", "pandas", "pypdfium2", "markdown_it")
    script = f"import sys, corpus_pipeline.conversion; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
