"""A history of decided days becomes one of days and of times, with nothing lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from corpus_pipeline.store.embedded import start_embedded_server, stop_embedded_server
from corpus_pipeline.store.migrations import migration_files

OLD = (
    ("a", date(2026, 1, 1), date(2026, 3, 1), "one"),
    ("a", date(2026, 3, 1), None, "two"),
    ("b", date(2026, 1, 1), None, "three"),
)


def test_the_history_of_a_filled_database_is_kept_and_gets_its_second_axis(tmp_path: Path) -> None:
    url = start_embedded_server(tmp_path)
    files = migration_files()
    mine = next(n for n, path in enumerate(files) if path.stem == "0014_pre_versions")
    with psycopg.connect(url, row_factory=dict_row) as connection:
        for path in files[:mine]:
            connection.execute(path.read_text(encoding="utf-8"))  # type: ignore[arg-type]
        for document, since, until, decision in OLD:
            connection.execute(
                "INSERT INTO corpus.document_version_history VALUES ('c', %s, %s, %s, %s, '{}')",
                (document, since, until, decision),
            )
        connection.execute(files[mine].read_text(encoding="utf-8"))  # type: ignore[arg-type]

        def known(moment: datetime, day: date) -> dict[str, str]:
            rows = connection.execute(
                "SELECT document_id, decision_sha256 FROM corpus.document_version_history WHERE known_from <= %(t)s "
                "AND (known_until IS NULL OR known_until > %(t)s) AND decided_from <= %(d)s "
                "AND (decided_until IS NULL OR decided_until > %(d)s)",
                {"t": moment, "d": day},
            ).fetchall()
            return {row["document_id"]: row["decision_sha256"] for row in rows}

        today = datetime(2026, 6, 1, tzinfo=UTC)
        assert known(today, date(2026, 2, 28)) == {"a": "one", "b": "three"}
        assert known(today, date(2026, 3, 1)) == {"a": "two", "b": "three"}
        before = datetime(2026, 2, 1, tzinfo=UTC)
        assert known(before, date(2026, 3, 1)) == {"a": "one", "b": "three"}, "the change was not known yet"
        assert known(datetime(2025, 12, 1, tzinfo=UTC), date(2026, 3, 1)) == {}
    stop_embedded_server(tmp_path)
