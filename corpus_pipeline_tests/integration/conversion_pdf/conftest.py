"""Conversion in this process: the PDFs of these tests are harmless."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from corpus_pipeline.conversion.pdf import convert_pdf
from corpus_pipeline.records import ConvertedDocument

Convert = Callable[..., ConvertedDocument]


@pytest.fixture(scope="session")
def pages() -> ModuleType:
    """Functions that draw PDFs, from the module beside this one."""
    spec = importlib.util.spec_from_file_location("drawn_pages", Path(__file__).with_name("pages.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def convert() -> Convert:
    """``convert_pdf`` with usual limits."""

    def run(path: Path, *, password: str | None = None, max_pages: int = 100, **options: object) -> ConvertedDocument:
        return convert_pdf(path, password=password, max_pages=max_pages, **options)  # type: ignore[arg-type]

    return run
