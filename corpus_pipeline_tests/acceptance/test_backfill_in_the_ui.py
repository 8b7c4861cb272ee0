"""The real webserver and daemon: a backfill of three corpora of which one is broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from corpus_pipeline_tests.acceptance.installation import Installation, write_documents

pytestmark = pytest.mark.slow
BACKFILL_SECONDS = 240


class Webserver:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def graphql(self, query: str, **variables: object) -> Any:
        request = urllib.request.Request(
            f"{self.url}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            body = json.load(answer)
        assert "errors" not in body, body
        return body["data"]

    def wait_until_loaded(self, seconds: float = 120) -> None:
        query = "{ repositoriesOrError { __typename ... on RepositoryConnection { nodes { name } } } }"
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if self.graphql(query)["repositoriesOrError"].get("nodes"):
                    return
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(1)
        pytest.fail("the webserver did not load the code location")

    def backfill(self, assets: list[str], partitions: list[str]) -> dict[str, Any]:
        launched = self.graphql(
            """mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
                __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }""",
            params={"assetSelection": [{"path": [name]} for name in assets], "partitionNames": partitions},
        )["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        deadline = time.monotonic() + BACKFILL_SECONDS
        while time.monotonic() < deadline:
            state = self.graphql(
                """query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill {
                    status runs(limit: 20) { id status tags { key value } } } } }""",
                id=launched["backfillId"],
            )["partitionBackfillOrError"]
            if state["status"] not in {"REQUESTED", "CANCELING"} and all(
                run["status"] in {"SUCCESS", "FAILURE", "CANCELED"} for run in state["runs"]
            ):
                return {
                    next(tag["value"] for tag in run["tags"] if tag["key"] == "dagster/partition"): run
                    for run in state["runs"]
                }
            time.sleep(1)
        pytest.fail("the backfill did not end")

    def check(self, asset: str, corpus: str) -> dict[str, Any]:
        executions = self.graphql(
            """query($asset: AssetKeyInput!, $partition: String!) { assetCheckExecutions(
                assetKey: $asset, checkName: "expectations", limit: 10, partition: $partition) {
                status runId evaluation { severity description
                    metadataEntries { label ... on MarkdownMetadataEntry { mdStr } } } } }""",
            asset={"path": [asset]},
            partition=corpus,
        )["assetCheckExecutions"]
        return executions[0]


STAGES = [
    "source_inventory",
    "converted_documents",
    "near_duplicate_clusters",
    "document_versions",
    "fragments",
    "fragment_embeddings",
    "index_generation",
    "retrieval_evaluation",
    "published_corpus",
]


@pytest.fixture
def webserver(installation: Installation, free_port: int) -> Iterator[Webserver]:
    installation.run("ingest", "--all", timeout=400)
    process = subprocess.Popen(
        installation.command("dev", "--port", str(free_port)),
        env=installation.environment,
        cwd=installation.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    server = Webserver(free_port)
    try:
        server.wait_until_loaded()
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 0
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.timeout(900)
def test_one_broken_corpus_is_held_back_and_the_others_are_published(
    installation: Installation, webserver: Webserver
) -> None:
    before = installation.published()
    for slug in ("alpha", "gamma"):
        write_documents(installation.root / slug, slug, suffix=" It was revised this week.")
    for path in sorted((installation.root / "beta").glob("*.md"))[:3]:
        path.unlink()
        path.with_suffix(".docx").write_bytes(b"PK\x03\x04 this is no document")

    runs = webserver.backfill(STAGES, ["alpha", "beta", "gamma"])

    assert {corpus: run["status"] for corpus, run in runs.items()} == {
        "alpha": "SUCCESS",
        "beta": "FAILURE",
        "gamma": "SUCCESS",
    }
    after = installation.published()
    assert after["alpha"][0] == before["alpha"][0] + 1
    assert after["gamma"][0] == before["gamma"][0] + 1
    assert after["beta"] == before["beta"], "the broken corpus still serves its previous generation"

    failed = next(
        check for check in (webserver.check(stage, "beta") for stage in STAGES[:2]) if check["status"] == "FAILED"
    )
    shown = "\n".join(entry.get("mdStr") or "" for entry in failed["evaluation"]["metadataEntries"])
    assert failed["evaluation"]["severity"] == "ERROR"
    assert "beta/" in shown
    assert "what to do" in shown
    assert installation.run("search", "How often are bread ovens checked?", "-c", "beta").stdout.count("bread") > 0

    downstream = webserver.backfill(STAGES[2:], ["beta"])
    assert downstream["beta"]["status"] == "FAILURE"
    assert installation.published()["beta"] == before["beta"], "launching only the downstream assets publishes nothing"
    alone = webserver.backfill(["published_corpus"], ["beta"])
    assert alone["beta"]["status"] == "FAILURE"
    assert installation.published()["beta"] == before["beta"]
