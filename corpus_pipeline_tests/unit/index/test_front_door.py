"""The room's front door is explicit and loads no model runtime."""

from __future__ import annotations

import subprocess
import sys

import corpus_pipeline.index as room


def test_all_names_are_there() -> None:
    assert len(room.__all__) == len(set(room.__all__))
    assert all(hasattr(room, name) for name in room.__all__)


def test_importing_the_room_loads_no_model_runtime() -> None:
    code = (
        "import sys, corpus_pipeline.index; "
        "print([m for m in ('torch', 'sentence_transformers', 'docling', 'great_expectations') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
