"""Dagster's own storage, by the same rule as the corpus store.

``dagster.yaml`` names :class:`CorpusStorage`. It is dagster-postgres's storage on the server of
``CORPUS_DATABASE_URL`` or, when that is unset, on the embedded server, so that a plain
``dagster dev`` works without any variable. ``CORPUS_DAGSTER_DATABASE_URL`` puts Dagster's
tables elsewhere.
"""

from __future__ import annotations

import os
from typing import Any, Self

from dagster_postgres import DagsterPostgresStorage

from corpus_pipeline.settings import load_settings
from corpus_pipeline.store import database_url

__all__ = ["CorpusStorage", "dagster_database_url"]


def dagster_database_url() -> str:
    """A SQLAlchemy URL for Dagster's tables.

    The driver is named: with SQLAlchemy 2.1 a bare ``postgresql://`` means psycopg 3, with which
    every event write of dagster-postgres fails.

    Raises:
        StoreError: The embedded server cannot start.
    """
    url = os.environ.get("CORPUS_DAGSTER_DATABASE_URL") or database_url(load_settings())
    scheme, rest = url.split("://", 1)
    return f"postgresql+psycopg2://{rest}" if scheme in {"postgresql", "postgres"} else url


class CorpusStorage(DagsterPostgresStorage):
    """PostgreSQL storage whose URL comes from the environment or the embedded server."""

    @classmethod
    def config_type(cls) -> Any:
        """No configuration: the environment decides."""
        return {}

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> Self:
        """Called by Dagster in each of its processes."""
        del config_value
        return cls(postgres_url=dagster_database_url(), inst_data=inst_data)
