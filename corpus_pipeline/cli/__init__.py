"""The command ``corpus-pipeline``. Each command parses, calls one function, prints.

Not here: any decision about documents (the rooms) and what a run consists of (``orchestration``,
which loads Dagster and is imported by the commands that need it, when they run).
"""

from corpus_pipeline.cli import (
    audit,
    configure,
    dev,
    duplicates,
    evidence,
    families,
    golden,
    ingest,
    publication,
    review,
    search,
    trust,
)
from corpus_pipeline.cli.app import app, main

__all__ = [
    "app",
    "audit",
    "configure",
    "dev",
    "duplicates",
    "evidence",
    "families",
    "golden",
    "ingest",
    "main",
    "publication",
    "review",
    "search",
    "trust",
]
