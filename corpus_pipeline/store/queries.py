"""Named queries: ``sql/queries/<room>.sql``, loaded with aiosql.

Each query has a name with aiosql's operator (``^`` one row, ``$`` one value, ``!`` affected
rows, ``*!`` many, none for rows) and a comment that states its purpose.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import aiosql

from corpus_pipeline.store.files import project_file

__all__ = ["load_queries"]


@cache
def load_queries(room: str) -> Any:
    """The queries of a room; call them as ``queries.name(connection, key=value)``.

    ``queries.name.sql`` is the text with psycopg placeholders, for COPY and executemany.
    """
    return aiosql.from_path(
        project_file("sql") / "queries" / f"{room}.sql", "psycopg", mandatory_parameters=False, kwargs_only=True
    )
