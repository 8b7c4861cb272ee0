"""The command ``corpus-pipeline``. Each command parses, calls one function, prints."""

from corpus_pipeline.cli import configure, dev, ingest, publication, review, search
from corpus_pipeline.cli.app import app, main

__all__ = ["app", "configure", "dev", "ingest", "main", "publication", "review", "search"]
