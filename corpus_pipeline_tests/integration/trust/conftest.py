"""A corpus that a real chain has published twice, copied for each test; rows are tampered with as a superuser would."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import psycopg
import pytest
from psycopg import sql

from corpus_pipeline.index import publication
from corpus_pipeline.registry import CorpusSpec, GateThresholds, Registry, SourceSpec
from corpus_pipeline.settings import Settings
from corpus_pipeline.store import Database, StageContext
from corpus_pipeline.trust import Verification, verify_corpus
from corpus_pipeline_tests.chain import night
from corpus_pipeline_tests.conftest import AS_OF

HANDBOOK = {
    "refund.md": "# Refund policy\n\nCustomers may ask for a refund within {days} days of the purchase.\n",
    "parking.md": "# Parking\n\nBicycles stand behind the house, cars before it.\n\n## Guests\n\nThey ask a porter.\n",
    "conduct.md": "# Code of conduct\n\nBe kind to each other, and say so when somebody is not.\n",
    "prices.csv": "Plan,Price\nBasic,9\nTeam,29\n",
}
MEMBER = "# Recipes\n\nThe canteen keeps its recipe for plum dumplings in a locked drawer.\n"


@dataclass
class Published:
    """A published corpus in a database of this test."""

    context: StageContext
    folder: Path

    @property
    def root(self) -> str:
        with self.context.database.connection() as connection:
            known = publication(connection, self.context.spec.slug)
            assert known is not None
            return known.root_sha256

    @property
    def table(self) -> str:
        with self.context.database.connection() as connection:
            known = publication(connection, self.context.spec.slug)
            assert known is not None
            return known.serving_table

    def verify(self, **options: bool) -> Verification:
        return verify_corpus(self.context, **options)

    def tamper(self, statement: str, *values: Any) -> int:
        """Changes rows behind the pipeline's back; ``{table}`` is the serving table. How many were."""
        with psycopg.connect(self.context.database.url) as connection:
            query = sql.SQL(statement).format(table=sql.Identifier("serving", self.table))  # type: ignore[arg-type]
            return connection.execute(query, values).rowcount

    def rows(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        with self.context.database.connection() as connection:
            query = sql.SQL(statement).format(table=sql.Identifier("serving", self.table))  # type: ignore[arg-type]
            return connection.execute(query, values).fetchall()

    def night(self) -> None:
        night(self.context)


def _context(database: Database, folder: Path) -> StageContext:
    spec = CorpusSpec(
        slug="handbook",
        base_folder=folder,
        owner="docs@example.com",
        source=SourceSpec(url="docs"),
        gates=GateThresholds(max_removed_ratio=1.0),
    )
    return StageContext(
        database=database,
        settings=Settings(home=folder / "state", config=folder / "corpora.yaml", workers=1),
        registry=Registry(path=folder / "corpora.yaml", corpora={"handbook": spec}),
        spec=spec,
        as_of=AS_OF,
        run_id="test-run",
    )


def _write_sources(docs: Path, days: int) -> None:
    docs.mkdir(exist_ok=True)
    for path in docs.iterdir():
        path.unlink()
    for name, text in HANDBOOK.items():
        (docs / name).write_text(text.replace("{days}", str(days)))
    with ZipFile(docs / "more.zip", "w") as archive:
        archive.writestr("recipes.md", MEMBER)


def _copied(server_url: str, template: str) -> str:
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url.replace("/template_corpus", "/postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )
    return name


def _drop(server_url: str, name: str) -> None:
    with psycopg.connect(server_url.replace("/template_corpus", "/postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def published_template(server_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Database and folder of a corpus that was published, changed, and published again."""
    folder = tmp_path_factory.mktemp("published")
    name = _copied(server_url, "template_corpus")
    with Database.connect(server_url.replace("/template_corpus", f"/{name}"), pool_size=4) as database:
        for days in (14, 30):
            _write_sources(folder / "docs", days)
            night(_context(database, folder))
    yield name, folder
    _drop(server_url, name)


@pytest.fixture
def published(server_url: str, published_template: tuple[str, Path]) -> Iterator[Published]:
    template, folder = published_template
    name = _copied(server_url, template)
    with Database.connect(server_url.replace("/template_corpus", f"/{name}"), pool_size=4) as database:
        yield Published(dataclasses.replace(_context(database, folder)), folder / "docs")
    _drop(server_url, name)
    _write_sources(folder / "docs", 30)
