"""The database: pool, embedded server, migrations, named queries, chain state, gate verdicts.

Not here: the SQL of a room's own tables, which is in that room's ``repository`` and in
``sql/queries/<room>.sql``.
"""

from corpus_pipeline.store.database import Connection, Database, database_url, safe_url, translate_errors
from corpus_pipeline.store.files import project_file
from corpus_pipeline.store.published import (
    PublishedDocument,
    forget_documents_before,
    point_published_documents,
    published_superseded,
    record_published_documents,
)
from corpus_pipeline.store.queries import load_queries
from corpus_pipeline.store.stages import (
    Progress,
    SilentProgress,
    StageContext,
    StageResult,
    StageRun,
    corpus_lock,
    open_stage,
)
from corpus_pipeline.store.verdicts import (
    Refusal,
    Verdict,
    chain_refusals,
    latest_verdict,
    record_verdict,
    stage_output,
    thresholds_sha256,
)

__all__ = [
    "Connection",
    "Database",
    "Progress",
    "PublishedDocument",
    "Refusal",
    "SilentProgress",
    "StageContext",
    "StageResult",
    "StageRun",
    "Verdict",
    "chain_refusals",
    "corpus_lock",
    "database_url",
    "forget_documents_before",
    "latest_verdict",
    "load_queries",
    "open_stage",
    "point_published_documents",
    "project_file",
    "published_superseded",
    "record_published_documents",
    "record_verdict",
    "safe_url",
    "stage_output",
    "thresholds_sha256",
    "translate_errors",
]
