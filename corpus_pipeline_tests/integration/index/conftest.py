"""A synthetic corpus: documents, decisions, fragments and vectors put into the tables that the stages before write."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from corpus_pipeline.embedding import embedding_fingerprint
from corpus_pipeline.index import publish_corpus, read_session, serving_table, stage_generation
from corpus_pipeline.records import DocumentMetadata, Stage, sha256_hex
from corpus_pipeline.registry import EmbeddingSpec
from corpus_pipeline.store import (
    Connection,
    StageContext,
    StageResult,
    Verdict,
    load_queries,
    record_verdict,
    thresholds_sha256,
)

DIMENSIONS = 16
EVERYONE = ("everyone",)


@dataclass(frozen=True)
class Doc:
    """A document of the synthetic corpus; each text is one fragment, all under one parent."""

    name: str
    texts: tuple[str, ...]
    groups: tuple[str, ...] = EVERYONE
    excluded: str | None = None
    reference: str | None = None
    valid_from: date | None = None
    valid_until: date | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    product: str | None = None


@dataclass
class SyntheticCorpus:
    """Writes what the stages before the index would have written."""

    context: StageContext

    @property
    def slug(self) -> str:
        return self.context.spec.slug

    @staticmethod
    def doc(name: str, *texts: str, **values: Any) -> Doc:
        """A document with those fragments."""
        return Doc(name, texts, **values)

    def texts(self, connection: Connection, table: str = "") -> set[str]:
        """All fragment texts that a session sees of this corpus, in the published table unless another is named."""
        name = table or serving_table(connection, self.slug)
        rows = connection.execute(f"SELECT text FROM serving.{name} WHERE corpus = %s", (self.slug,)).fetchall()
        return {row["text"] for row in rows}

    def seen(self, *groups: str, **options: Any) -> set[str]:
        """What a reader of those groups sees."""
        options = {"show_archived": False, **options}
        with read_session(self.context.database, groups=groups or EVERYONE, **options) as connection:
            if "as_evaluator" in options:
                with self.context.database.connection() as pipeline:
                    table = serving_table(pipeline, *options["as_evaluator"])
                return self.texts(connection, str(table))
            return self.texts(connection)

    def write(self, *documents: Doc, failing: Stage | None = None) -> None:
        """Replaces the whole corpus and marks the stages up to the embeddings as run and checked."""
        with self.context.database.connection() as connection:
            for table in ("documents", "document_versions", "chunked_documents"):
                connection.execute(f"DELETE FROM corpus.{table} WHERE corpus = %s", (self.slug,))
            for document in documents:
                self._write_document(connection, document)
                self._write_fragments(connection, document)
            output = sha256_hex(repr(documents))
            for stage in list(Stage)[:6]:
                self._finish(connection, stage, output, passed=stage is not failing)

    def evaluate(self, *, passed: bool = True) -> None:
        """Marks the index and its evaluation as checked."""
        with self.context.database.connection() as connection:
            staged = load_queries("store").stage_state(
                connection, corpus=self.slug, stage=Stage.INDEX_GENERATION.value
            )["output_sha256"]
            self._judge(connection, Stage.INDEX_GENERATION, staged, passed=True)
            self._finish(connection, Stage.RETRIEVAL_EVALUATION, sha256_hex("evaluated" + staged), passed=passed)

    def stage(self, *documents: Doc) -> StageResult:
        """Writes the corpus and stages it."""
        if documents:
            self.write(*documents)
        return stage_generation(self.context)

    def publish(self, *documents: Doc) -> StageResult:
        """Writes, stages, checks and publishes."""
        self.stage(*documents)
        self.evaluate()
        return publish_corpus(self.context)

    def embed(self, connection: Connection, texts: Sequence[str], fingerprint: str | None = None) -> None:
        fingerprint = fingerprint or embedding_fingerprint(self.context.spec.embedding)
        connection.execute(
            "INSERT INTO corpus.embedding_models (fingerprint, parts, dimensions, max_tokens)"
            " VALUES (%s, '{}', %s, 256) ON CONFLICT DO NOTHING",
            (fingerprint, DIMENSIONS),
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO corpus.embeddings (fingerprint, embedded_sha256, vector) VALUES (%s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                [(fingerprint, sha256_hex(text), vector_of(text)) for text in texts],
            )

    def _write_document(self, connection: Connection, document: Doc) -> None:
        document_id = f"{self.slug}/{document.name}"
        text = "\n\n".join(document.texts)
        metadata = DocumentMetadata(
            acl_groups=document.groups, attributes=document.attributes, product=document.product
        )
        connection.execute(
            "INSERT INTO corpus.documents (corpus, document_id, relative_path, source_uri, source_sha256,"
            " source_extension, size_bytes, requested_converter, effective_converter, processor_version,"
            " converter_fingerprint, document_sha256, text_sha256, char_count, title, metadata, metadata_provenance,"
            " properties) VALUES (%s, %s, %s, %s, %s, 'md', %s, 'auto', 'plain', '1', 'c1', %s, %s, %s, %s, %s,"
            " '{}', '{}')",
            (
                self.slug,
                document_id,
                document.name,
                f"/docs/{document.name}",
                sha256_hex(text),
                len(text),
                sha256_hex("d" + text),
                sha256_hex(text),
                len(text),
                document.name,
                Jsonb(metadata.model_dump(mode="json")),
            ),
        )
        connection.execute(
            "INSERT INTO corpus.document_versions (corpus, document_id, family, lifecycle, valid_from, valid_until,"
            " superseded_by, current_document_id, is_canonical, is_current, serving_state, exclusion_reason,"
            " exclusion_ref, evidence, needs_review, decision_sha256)"
            " VALUES (%s, %s, %s, 'active', %s, %s, %s, %s, true, %s, %s, %s, %s, '', false, '')",
            (
                self.slug,
                document_id,
                document.name,
                document.valid_from,
                document.valid_until,
                document.reference if document.excluded == "superseded" else None,
                document_id,
                document.excluded is None,
                "archived" if document.excluded else "current",
                document.excluded,
                document.reference,
            ),
        )

    def _write_fragments(self, connection: Connection, document: Doc) -> None:
        document_id = f"{self.slug}/{document.name}"
        text = "\n\n".join(document.texts)
        connection.execute(
            "INSERT INTO corpus.chunked_documents (document_id, corpus, input_sha256, content_sha256,"
            " chunker_fingerprint, parent_count, fragment_count, token_count, max_token_count)"
            " VALUES (%s, %s, '', '', '', 1, %s, 0, 0)",
            (document_id, self.slug, len(document.texts)),
        )
        connection.execute(
            "INSERT INTO corpus.parents (parent_id, corpus, document_id, ordinal, section_path, text, text_sha256,"
            " token_count, char_start, char_end) VALUES (%s, %s, %s, 1, '{}', %s, %s, 1, 0, %s)",
            (f"{document_id}::p0001", self.slug, document_id, text, sha256_hex(text), len(text)),
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO corpus.fragments (fragment_id, parent_id, corpus, document_id, ordinal, text, text_sha256,"
                " embedded_text, embedded_sha256, token_count, section_path, char_start, char_end)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 1, '{}', 0, %s)",
                [
                    (
                        f"{document_id}::f{ordinal:04d}",
                        f"{document_id}::p0001",
                        self.slug,
                        document_id,
                        ordinal,
                        part,
                        sha256_hex(part),
                        part,
                        sha256_hex(part),
                        len(part),
                    )
                    for ordinal, part in enumerate(document.texts)
                ],
            )
        self.embed(connection, document.texts)

    def _finish(self, connection: Connection, stage: Stage, output: str, *, passed: bool) -> None:
        queries = load_queries("store")
        upstream = (
            queries.stage_state(connection, corpus=self.slug, stage=stage.upstream.value) if stage.upstream else None
        )
        queries.record_stage(
            connection,
            corpus=self.slug,
            stage=stage.value,
            input_sha256=upstream["output_sha256"] if upstream else "",
            output_sha256=output,
            as_of=self.context.as_of,
            run_id=self.context.run_id,
            counts=Jsonb({}),
            elapsed_seconds=0.0,
        )
        self._judge(connection, stage, output, passed=passed)

    def _judge(self, connection: Connection, stage: Stage, output: str, *, passed: bool) -> None:
        failure = {
            "expectation": "expect_something",
            "severity": "critical",
            "expected": "1",
            "found": "0",
            "documents": [],
            "remedy": "Correct the source.",
        }
        record_verdict(
            connection,
            Verdict(
                self.slug,
                stage,
                output,
                thresholds_sha256(self.context.spec),
                passed,
                () if passed else (failure,),
                1,
                self.context.run_id,
            ),
        )


def vector_of(text: str) -> np.ndarray:
    """A unit vector that depends on the text alone."""
    vector = np.random.default_rng(int(sha256_hex(text)[:12], 16)).normal(size=DIMENSIONS)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.fixture
def corpus(context: StageContext) -> SyntheticCorpus:
    """A synthetic corpus ``handbook``."""
    return SyntheticCorpus(context)


@pytest.fixture
def other_corpus(context: StageContext) -> SyntheticCorpus:
    """A second corpus, ``legal``, in the same database."""
    spec = context.spec.model_copy(update={"slug": "legal"})
    return SyntheticCorpus(dataclasses.replace(context, spec=spec))


@pytest.fixture
def with_other_model(context: StageContext) -> Callable[[], SyntheticCorpus]:
    """Makes the same corpus with another embedding fingerprint."""

    def make() -> SyntheticCorpus:
        embedding = EmbeddingSpec(passage_prompt="passage: ")
        spec = context.spec.model_copy(update={"embedding": embedding})
        return SyntheticCorpus(dataclasses.replace(context, spec=spec))

    return make


@pytest.fixture
def documents() -> tuple[Doc, ...]:
    """A current, an archived and a restricted document."""
    return (
        Doc("refunds.md", ("Refunds take 30 days.", "Refunds go to the card.")),
        Doc("old.md", ("Refunds take 14 days.",), excluded="superseded", reference="handbook/refunds.md"),
        Doc("salaries.md", ("Salaries are paid monthly.",), groups=("hr",)),
    )


@pytest.fixture
def login(database_url: str) -> Iterator[Callable[..., psycopg.Connection[Any]]]:
    """Makes database logins that are readers, and connects as them."""
    made: list[tuple[str, psycopg.Connection[Any]]] = []

    def make(*, groups: list[str] | None = None, mapped: bool = True, role: str = "corpus_reader") -> Any:
        name = f"reader_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(database_url) as admin:
            admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
            admin.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(name)))
            if mapped:
                admin.execute("INSERT INTO serving.role_groups VALUES (%s, %s)", (name, groups))
        connection = psycopg.connect(database_url, user=name, autocommit=True)
        made.append((name, connection))
        return connection

    yield make
    for name, connection in made:
        connection.close()
        with psycopg.connect(database_url) as admin:
            admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))
