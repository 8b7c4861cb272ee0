"""Generations of the serving tables: staging, publication, rollback, retention, and who may read what.

Not here: whether a generation is good enough (quality, evaluation) and what is done with the
rows that a reader sees (retrieval).
"""

from corpus_pipeline.index.analyser import Analyser, analyser_for, analyser_of
from corpus_pipeline.index.history import Generation, GenerationStatus, LogEntry, Publication
from corpus_pipeline.index.loading import clear_above
from corpus_pipeline.index.plan import Plan, make_plan
from corpus_pipeline.index.pointer import publish_corpus, resume_corpus, rollback_corpus, root_of_served_rows
from corpus_pipeline.index.postings import drop_postings, rebuild_postings
from corpus_pipeline.index.repository import (
    generation,
    generations,
    locked_publication,
    publication,
    publication_log,
    publications,
    serving_table,
    staged_generation,
)
from corpus_pipeline.index.retention import remove_old_rows
from corpus_pipeline.index.rows import (
    DOCUMENT_COLUMNS,
    FRAGMENT_COLUMNS,
    PARENT_COLUMNS,
    SHARED_BY_PARENTS,
    part_of_values,
)
from corpus_pipeline.index.sessions import EF_SEARCH, read_session, search_width
from corpus_pipeline.index.staging import stage_generation
from corpus_pipeline.index.tables import PARENTS_TABLE, leaves, parents_partition, qualified

__all__ = [
    "DOCUMENT_COLUMNS",
    "EF_SEARCH",
    "FRAGMENT_COLUMNS",
    "PARENTS_TABLE",
    "PARENT_COLUMNS",
    "SHARED_BY_PARENTS",
    "Analyser",
    "Generation",
    "GenerationStatus",
    "LogEntry",
    "Plan",
    "Publication",
    "analyser_for",
    "analyser_of",
    "clear_above",
    "drop_postings",
    "generation",
    "generations",
    "leaves",
    "locked_publication",
    "make_plan",
    "parents_partition",
    "part_of_values",
    "publication",
    "publication_log",
    "publications",
    "publish_corpus",
    "qualified",
    "read_session",
    "rebuild_postings",
    "remove_old_rows",
    "resume_corpus",
    "rollback_corpus",
    "root_of_served_rows",
    "search_width",
    "serving_table",
    "stage_generation",
    "staged_generation",
]
