"""Migrations with yoyo, and drift: what the live schema has against what the migrations made.

After each applied migration set the description of the schema (tables, columns, indexes,
constraints, policies, functions, grants) is stored. ``schema_drift`` compares it with the
live one. Serving tables per embedding fingerprint are made at run time and left out.
"""

from __future__ import annotations

import warnings
from contextlib import closing
from pathlib import Path

import psycopg

from corpus_pipeline.errors import MigrationError, SchemaDriftError
from corpus_pipeline.records import sha256_hex
from corpus_pipeline.store.database import check_server, translate_errors
from corpus_pipeline.store.files import project_file
from corpus_pipeline.store.queries import load_queries

__all__ = ["apply_migrations", "demand_no_drift", "describe_schema", "migration_files", "schema_drift"]

_LOCK_KEY = 6_117_230_517  # any constant: one migration at a time on one server
_JOURNAL = """
CREATE SCHEMA IF NOT EXISTS corpus_migrations;
CREATE TABLE IF NOT EXISTS corpus_migrations.files (
    name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS corpus_migrations.schema_description (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), lines text[] NOT NULL);
"""


def migration_files() -> list[Path]:
    """All migrations in the order they are applied."""
    return sorted((project_file("sql") / "migrations").glob("*.sql"))


def apply_migrations(url: str) -> list[str]:
    """Applies pending migrations, one caller at a time, and stores the schema's description.

    Returns:
        Names of the migrations applied now; empty when the schema was up to date.

    Raises:
        MigrationError: One failed, or a file was edited or removed after it had been applied.
        StoreError: The server cannot be used.
    """
    with translate_errors(url):
        check_server(url)
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK_KEY,))
            connection.execute(_JOURNAL)
            applied = {
                str(name): str(sha)
                for name, sha in connection.execute("SELECT name, sha256 FROM corpus_migrations.files")
            }
            files = {path.stem: sha256_hex(path.read_bytes()) for path in migration_files()}
            _check_unedited(applied, files)
            pending = [name for name in files if name not in applied]
            if not pending:
                return []
            _run_yoyo(url)
            with connection.transaction():
                for name in pending:
                    connection.execute(
                        "INSERT INTO corpus_migrations.files (name, sha256) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                        (name, files[name]),
                    )
                connection.execute(
                    "INSERT INTO corpus_migrations.schema_description (lines) VALUES (%s) "
                    "ON CONFLICT (only_row) DO UPDATE SET lines = excluded.lines",
                    (describe_schema(connection),),
                )
            return pending


def _check_unedited(applied: dict[str, str], files: dict[str, str]) -> None:
    for name, sha in applied.items():
        if name not in files:
            raise MigrationError(
                f"the database has migration {name}, which this installation does not know",
                remedy="The database was used by a newer corpus-pipeline: upgrade this installation.",
            )
        if files[name] != sha:
            raise MigrationError(
                f"sql/migrations/{name}.sql was edited after it had been applied",
                remedy="Restore the file and put the change into a new migration.",
            )


def _run_yoyo(url: str) -> None:
    import yoyo

    scheme, rest = url.split("://", 1)
    separator = "&" if "?" in rest else "?"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        backend = yoyo.get_backend(
            f"{scheme.replace('postgres', 'postgresql', 1) if scheme == 'postgres' else scheme}+psycopg://{rest}{separator}schema=corpus_migrations"
        )
        try:
            # The advisory lock above is ours: a lock row in yoyo's table is left from a killed process.
            backend.break_lock()
            migrations = yoyo.read_migrations(str(project_file("sql") / "migrations"))
            with backend.lock():
                backend.apply_migrations(backend.to_apply(migrations))
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            raise MigrationError(
                f"a migration failed: {str(error).strip()}",
                remedy="Nothing of it was kept. The user in the database URL must own the schemas and have CREATEROLE.",
            ) from error
        finally:
            backend.connection.close()


def describe_schema(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    """One line for every table, column, index, constraint, policy, function and grant of our schemas, sorted."""
    rows = connection.execute(load_queries("schema").describe_schema.sql)
    return [str(row[0]) for row in rows]


def schema_drift(url: str) -> list[str]:
    """Differences between the live schema and the migrated one: ``- missing`` and ``+ unexpected`` lines."""
    with translate_errors(url), psycopg.connect(url) as connection:
        row = connection.execute("SELECT lines FROM corpus_migrations.schema_description").fetchone()
        expected = set(row[0]) if row else set()
        live = set(describe_schema(connection))
    return [f"- {line}" for line in sorted(expected - live)] + [f"+ {line}" for line in sorted(live - expected)]


def demand_no_drift(url: str) -> None:
    """Raises when the live schema differs from the migrated one.

    Raises:
        SchemaDriftError: With the differing lines.
    """
    drift = schema_drift(url)
    if drift:
        shown = "\n".join(drift[:20])
        raise SchemaDriftError(
            f"the schema differs from its migrations in {len(drift)} places:\n{shown}",
            remedy="Undo the manual change, or put it into a migration.",
        )
