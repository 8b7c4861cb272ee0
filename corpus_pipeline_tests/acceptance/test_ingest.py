"""The command line from a folder of documents to a search, and what happens on the nights after."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus_pipeline.store.embedded import start_embedded_server
from corpus_pipeline_tests.acceptance.installation import Installation, write_documents

WORK = [("converted_documents", "converted"), ("fragments", "chunked"), ("fragment_embeddings", "embedded")]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nights_rollback_and_resume(installation: Installation) -> None:
    first = installation.json("ingest", "alpha")["corpora"][0]
    assert first["published"]
    assert [first["stages"][stage][count] for stage, count in WORK[:2]] == [5, 5]
    root = first["stages"]["index_generation"]["root"]

    again = installation.run("ingest", "alpha")
    assert "Nothing changed: nothing was converted, chunked or embedded." in again.stdout
    assert installation.published()["alpha"] == (1, root)

    write_documents(installation.root / "alpha", "alpha", suffix=" It was revised.")
    (installation.root / "alpha" / "tide-tables.md").unlink()
    second = installation.json("ingest", "alpha")["corpora"][0]
    assert second["stages"]["converted_documents"]["documents"] == 4
    assert second["stages"]["converted_documents"]["converted"] == 4
    assert installation.published()["alpha"][0] == 2

    installation.run("rollback", "alpha", "--reason", "wrong revision")
    assert installation.published()["alpha"] == (1, root)
    status = installation.json("status")["corpora"][0]
    assert status["held"]["reason"] == "wrong revision"
    assert status["held"]["by"]
    (installation.root / "alpha" / "new-page.md").write_text(
        "# Moorings\n\nMoorings are checked every spring by divers.\n"
    )
    held = installation.run("ingest", "alpha", expect=1)
    assert "resume" in " ".join((held.stdout + held.stderr).split())
    assert installation.published()["alpha"] == (1, root), "nothing is published while the corpus is held"

    installation.run("resume", "alpha")
    installation.run("ingest", "alpha")
    assert installation.published()["alpha"][0] > 2, "generation numbers are never used twice"
    found = installation.json("search", "Who checks moorings?", "-c", "alpha")
    assert found["accepted"][0]["source_uri"].endswith("new-page.md")


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_share_that_comes_back_empty_removes_nothing_until_a_person_says_so(installation: Installation) -> None:
    installation.run("ingest", "beta")
    before = installation.published()["beta"]
    for path in sorted((installation.root / "beta").glob("*.md"))[:3]:
        path.unlink()
    short = installation.run("ingest", "beta", expect=3)
    assert "approve-removals beta" in " ".join((short.stdout + short.stderr).split())
    assert installation.published()["beta"] == before
    installation.run("approve-removals", "beta")
    approved = installation.json("ingest", "beta", expect=None)["corpora"][0]
    assert approved["stages"]["source_inventory"]["removed"] == 3
    assert approved["stages"]["converted_documents"]["documents"] == 2


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_oldest_supported_server_and_a_server_of_ones_own(installation: Installation, tmp_path: Path) -> None:
    url = start_embedded_server(tmp_path / "elsewhere", version=16)
    installation.extra = {"CORPUS_DATABASE_URL": url}
    assert "PostgreSQL 16" in " ".join(installation.run("store", "check").stdout.split())
    assert installation.json("ingest", "gamma")["corpora"][0]["published"]
    assert not (installation.root / "state" / "postgres").exists(), "no embedded server was started"
    assert installation.json("search", "How often are bicycle wheels checked?")["sufficient"]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_first_registry_written_for_a_folder_can_be_ingested_as_it_is(installation: Installation) -> None:
    installation.config.unlink()
    installation.run("init", "gamma")
    installation.run("config", "check")
    installation.run("ingest", "--all")
    refused = installation.run("init", "gamma", expect=1)
    assert "corpora.yaml" in refused.stderr
    found = installation.json("search", "How often are brake pads checked?", "--explain")
    assert found["accepted"][0]["source_uri"].endswith("brake-pads.md")
