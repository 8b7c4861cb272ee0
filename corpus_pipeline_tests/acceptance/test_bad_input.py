"""Bad input ends in one screen that names the cause and the remedy, with a non-zero exit and no traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest

from corpus_pipeline_tests.acceptance.installation import Installation

ONE_SCREEN_LINES = 24


def _one_screen_error(done: subprocess.CompletedProcess[str], *expected: str) -> None:
    text = done.stdout + done.stderr
    assert done.returncode not in (0, None), text
    assert "Traceback" not in text, text
    assert len(text.splitlines()) <= ONE_SCREEN_LINES, text
    flat = " ".join(text.split())
    for part in expected:
        assert part in flat, f"{part!r} is not in:\n{text}"


def test_missing_registry_names_the_command_that_writes_one(installation: Installation) -> None:
    installation.config.unlink()
    _one_screen_error(installation.run("status", expect=None), "corpora.yaml", "corpus-pipeline init")


def test_faults_of_the_registry_are_named_with_line_and_key(installation: Installation) -> None:
    installation.config.write_text(
        "version: 1\ncorpora:\n  alpha:\n    ownr: me\n    source: {url: alpha}\n    acess_groups: [x]\n"
    )
    done = installation.run("config", "check", expect=None)
    _one_screen_error(done, "corpora.yaml:4", "ownr", "owner", "corpora.yaml:6", "access_groups")


def test_missing_source_folder(installation: Installation) -> None:
    (installation.root / "beta").rename(installation.root / "elsewhere")
    _one_screen_error(installation.run("ingest", "alpha", expect=None), "beta", "corpora.yaml")


def test_unknown_corpus_lists_the_known_ones(installation: Installation) -> None:
    _one_screen_error(installation.run("ingest", "delta", expect=None), "delta", "alpha, beta, gamma")


def test_no_corpus_given(installation: Installation) -> None:
    assert installation.run("ingest", expect=2).stderr.count("alpha, beta, gamma") == 1


def test_database_down(installation: Installation) -> None:
    installation.extra = {"CORPUS_DATABASE_URL": "postgresql://corpus:hush@127.0.0.1:1/corpus"}
    done = installation.run("ingest", "alpha", expect=None)
    _one_screen_error(done, "cannot be reached", "Start the server")
    assert "hush" not in done.stdout + done.stderr


def test_database_url_of_another_kind(installation: Installation) -> None:
    installation.extra = {"CORPUS_DATABASE_URL": "mysql://corpus@127.0.0.1/corpus"}
    _one_screen_error(installation.run("status", expect=None), "postgresql://")


def test_wrong_password(installation: Installation, tmp_path: Path) -> None:
    from corpus_pipeline.store.embedded import start_embedded_server

    url = start_embedded_server(tmp_path / "protected")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        rules = Path(connection.execute("SHOW hba_file").fetchone()[0])  # type: ignore[index]
        rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
        connection.execute("SELECT pg_reload_conf()")
    installation.extra = {"CORPUS_DATABASE_URL": url.replace("postgres:@", "guarded:mistaken@")}
    done = installation.run("status", expect=None)
    _one_screen_error(done, "refuses the login", "password in CORPUS_DATABASE_URL")
    assert "mistaken" not in done.stdout + done.stderr


def test_server_without_pgvector(installation: Installation, tmp_path: Path) -> None:
    from corpus_pipeline.store.embedded import start_embedded_server

    url = start_embedded_server(tmp_path / "bare")
    with psycopg.connect(url, autocommit=True) as connection:
        # What such a server answers: its list of available extensions lacks vector.
        connection.execute("CREATE SCHEMA bare")
        connection.execute(
            "CREATE VIEW bare.pg_available_extensions AS "
            "SELECT * FROM pg_catalog.pg_available_extensions WHERE name <> 'vector'"
        )
        connection.execute("ALTER DATABASE corpus SET search_path = bare, pg_catalog, public")
    installation.extra = {"CORPUS_DATABASE_URL": url}
    _one_screen_error(installation.run("status", expect=None), "has no pgvector", "Install pgvector 0.8")


def test_no_disk_space_for_the_embedded_database(installation: Installation, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user may not mount a small file system")
    try:
        installation.extra = {"CORPUS_HOME": str(small / "state")}
        _one_screen_error(installation.run("status", expect=None), "MB free", "Free disk space")
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


@pytest.mark.slow
def test_disk_full_in_the_middle_of_a_run_publishes_nothing(installation: Installation) -> None:
    installation.run("store", "check")
    installation.query(
        """CREATE FUNCTION corpus.full() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"""
    )
    installation.query(
        "CREATE TRIGGER full_disk BEFORE INSERT ON corpus.stage_states FOR EACH ROW "
        "WHEN (NEW.stage = 'fragments') EXECUTE FUNCTION corpus.full()"
    )
    done = installation.run("ingest", "alpha", expect=1)
    flat = " ".join((done.stdout + done.stderr).split())
    assert "no space left" in flat
    assert "Free space" in flat
    assert "Traceback" not in flat
    installation.query("DROP FUNCTION corpus.full() CASCADE")
    assert installation.published()["alpha"] == (None, None)
    installation.run("ingest", "alpha")
    assert installation.published()["alpha"][0] == 1
