"""Fixtures of the acceptance tests."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_pipeline_tests.acceptance.installation import TOPICS, Installation, write_documents


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Three corpora that have never been ingested."""
    corpora: dict[str, Any] = {}
    for slug in TOPICS:
        write_documents(tmp_path / slug, slug)
        golden = [
            {
                "query_id": f"{slug}-1",
                "query": f"How often are {TOPICS[slug][0]} checked?",
                "expected_sources": [f"{TOPICS[slug][0].replace(' ', '-')}.md"],
                "forbidden_sources": [],
                "should_match": True,
                "category": "single_hop_factual",
                "review_status": "reviewed",
                "reviewer": "tests",
            }
        ]
        (tmp_path / f"{slug}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in golden))
        corpora[slug] = {"owner": "tests@example.com", "source": {"url": slug}, "golden_queries": f"{slug}.jsonl"}
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump({"version": 1, "corpora": corpora}))
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("CORPUS_", "DAGSTER_", "PYTEST_"))
    }
    environment.update(
        CORPUS_CONFIG=str(tmp_path / "corpora.yaml"),
        CORPUS_HOME=str(tmp_path / "state"),
        CORPUS_WORKERS="1",
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        OMP_NUM_THREADS="2",
        COLUMNS="200",
    )
    return Installation(tmp_path, environment)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
