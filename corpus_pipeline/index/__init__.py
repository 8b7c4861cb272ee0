"""Generations of the serving tables: staging, publication, rollback, retention, and who may read what.

Not here: whether a generation is good enough (quality, evaluation) and what is done with the
rows that a reader sees (retrieval).
"""

from corpus_pipeline.index.analyser import Analyser, analyser_for, analyser_of
from corpus_pipeline.index.history import Generation, GenerationStatus, LogEntry, Publication
from corpus_pipeline.index.pointer import publish_corpus, resume_corpus, rollback_corpus, root_of_served_rows
from corpus_pipeline.index.repository import (
    generation,
    generations,
    publication,
    publication_log,
    publications,
    serving_table,
    staged_generation,
)
from corpus_pipeline.index.retention import remove_old_rows
from corpus_pipeline.index.sessions import EF_SEARCH, read_session
from corpus_pipeline.index.staging import stage_generation

__all__ = [
    "EF_SEARCH",
    "Analyser",
    "Generation",
    "GenerationStatus",
    "LogEntry",
    "Publication",
    "analyser_for",
    "analyser_of",
    "generation",
    "generations",
    "publication",
    "publication_log",
    "publications",
    "publish_corpus",
    "read_session",
    "remove_old_rows",
    "resume_corpus",
    "rollback_corpus",
    "root_of_served_rows",
    "serving_table",
    "stage_generation",
    "staged_generation",
]
