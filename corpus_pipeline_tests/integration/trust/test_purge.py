"""After a purge no table of the database has the text, and nothing of another document has changed."""

from __future__ import annotations

import dataclasses
import os
import signal
import zlib

import psycopg
import pytest
from psycopg import sql
from typer.testing import CliRunner

from corpus_pipeline import evidence
from corpus_pipeline.errors import CorpusBusyError, PurgeRefusedError
from corpus_pipeline.index import analyser_for, read_session, root_of_served_rows
from corpus_pipeline.inventory import source_files
from corpus_pipeline.quality import check_stage
from corpus_pipeline.records import Stage, sha256_hex
from corpus_pipeline.registry import EmbeddingSpec
from corpus_pipeline.retrieval import SearchRequest, search
from corpus_pipeline.store import Database, corpus_lock
from corpus_pipeline.trust import purge, purge_documents
from corpus_pipeline.trust.verification import published_generation
from corpus_pipeline_tests.chain import CHAIN

MEMBER = "handbook/more.zip!/recipes.md"
REFUND = "handbook/refund.md"
MARKS = {MEMBER: (b"plum dumplings", b"locked drawer"), REFUND: (b"ask for a refund within",)}


def test_a_deleted_document_is_invisible_in_the_next_generation_and_a_purge_removes_it(published) -> None:
    _keep_pack(published)
    assert _places(published, MEMBER)
    (published.folder / "more.zip").unlink()
    published.night()
    assert _answers(published, "plum dumplings in a locked drawer") == set()
    assert _places(published, MEMBER)  # in earlier generations, caches and the history
    others, root = _others(published, MEMBER), published.root
    receipt = purge_documents(published.context.database, [MEMBER], reason="asked for", who="tester")
    assert _places(published, MEMBER) == []
    assert _others(published, MEMBER) == others
    assert published.root == root
    assert published.verify(sources=True).is_sound
    assert {"conversions", "embeddings", "evidence_packs", f"serving.{published.table}"} <= receipt.removed.keys()
    (kept,) = published.rows("SELECT purge_id, receipt, reason, purged_by FROM corpus.purges")
    assert (kept["receipt"], kept["reason"], kept["purged_by"]) == (receipt.as_json(), "asked for", "tester")
    assert receipt.documents[0].document_id_sha256 == sha256_hex(MEMBER)
    assert all(not change.is_published for change in receipt.roots)
    assert len(receipt.roots) == 2
    published.night()
    assert published.root == root


def test_a_purged_file_is_not_taken_in_again_wherever_it_turns_up(published) -> None:
    text = (published.folder / "refund.md").read_text()
    purge_documents(published.context.database, [REFUND], reason="asked for", who="tester", force=True)
    (published.folder / "renamed.md").write_text(text)
    published.night()
    with published.context.database.connection() as connection:
        known = {file.document_id for file in source_files(connection, "handbook")}
    assert not known & {REFUND, "handbook/renamed.md"}
    assert len(known) == 4
    assert _places(published, REFUND) == []


@pytest.mark.slow
def test_a_file_may_come_back_when_that_is_allowed(published) -> None:
    root = published.root
    purge_documents(published.context.database, [REFUND], reason="a trial", who="tester", force=True, allow_again=True)
    assert published.root != root
    published.night()
    assert _answers(published, "refund within days of the purchase") == {REFUND}
    assert published.root == root


def test_what_is_served_is_purged_only_by_force_and_the_new_root_is_recorded(published) -> None:
    with pytest.raises(PurgeRefusedError, match="is in its source") as refusal:
        purge_documents(published.context.database, [REFUND], reason="asked for", who="tester")
    assert "--force" in refusal.value.remedy
    before, others = published.root, _others(published, REFUND)
    receipt = purge_documents(published.context.database, [REFUND], reason="asked for", who="tester", force=True)
    assert _answers(published, "refund within days of the purchase") == set()
    assert _places(published, REFUND) == []
    assert _others(published, REFUND) == others
    change = receipt.roots[0]
    assert (change.before, change.after, change.is_published) == (before, published.root, True)
    assert before != published.root
    with published.context.database.connection() as connection:
        known = published_generation(connection, "handbook")
        assert root_of_served_rows(connection, known) == known.root_sha256 == published.root
    assert published.verify().is_sound
    (entry,) = published.rows("SELECT who, reason FROM corpus.publication_log WHERE action = 'purge'")
    assert entry == {"who": "tester", "reason": f"purge {receipt.purge_id}"}


@pytest.mark.slow
def test_what_another_document_also_has_stays(published) -> None:
    (published.folder / "copy.md").write_bytes((published.folder / "parking.md").read_bytes())
    published.night()
    purge_documents(published.context.database, ["handbook/parking.md"], reason="twice", who="tester", force=True)
    (published.folder / "parking.md").unlink()
    published.night()
    assert _answers(published, "Where do bicycles stand?") == {"handbook/copy.md"}
    assert published.verify(sources=True).is_sound
    assert published.rows("SELECT * FROM corpus.purged_files") == []


@pytest.mark.slow
def test_a_fragment_that_stands_in_both_no_longer_cites_the_purged_one(published) -> None:
    shared = " ".join(f"Visitor {number} calls the porter at the gate before lunch." for number in range(20))
    for name in ("east", "west"):
        own = " ".join(f"The {name} wing has {number} doors, {name} stairs and a {name} hall." for number in range(60))
        (published.folder / f"{name}.md").write_text(f"# Houses\n\n## Gate\n\n{shared}\n\n## Wing\n\n{own}\n")
    published.night()
    cited = "SELECT document_id FROM {table} WHERE also_in::text LIKE %s AND generation_to IS NULL"
    rows = published.rows(cited, "%handbook/west.md::%")
    assert {row["document_id"] for row in rows} == {"handbook/east.md"}
    receipt = purge_documents(
        published.context.database, ["handbook/west.md"], reason="asked for", who="tester", force=True
    )
    assert published.rows(cited, "%west.md%") == []
    assert receipt.redacted[f"serving.{published.table}"] == len(rows)
    assert receipt.hidden_copies == 0
    assert published.verify().is_sound
    purge_documents(published.context.database, ["handbook/east.md"], reason="asked for", who="tester", force=True)
    assert published.verify().is_sound


def test_tampered_rows_do_not_get_a_root_that_hides_it(published) -> None:
    published.tamper("DELETE FROM {table} WHERE document_id = %s AND generation_to IS NULL", "handbook/parking.md")
    before = published.root
    receipt = purge_documents(published.context.database, [REFUND], reason="asked for", who="tester", force=True)
    assert published.root == receipt.roots[0].after == before
    assert not published.verify().is_sound


def test_nothing_is_purged_of_an_unknown_document_or_beside_a_run(published) -> None:
    database = published.context.database
    before = _others(published, "")
    with pytest.raises(PurgeRefusedError, match=r"nothing is kept of 'handbook/nowhere\.md'"):
        purge_documents(database, [MEMBER, "handbook/nowhere.md"], reason="x", who="tester", force=True)
    with corpus_lock(database, "handbook"), pytest.raises(CorpusBusyError):
        purge_documents(database, [MEMBER], reason="x", who="tester", force=True)
    assert _others(published, "") == before


def test_a_killed_purge_has_removed_nothing(published) -> None:
    before = _others(published, "")
    child = os.fork()
    if child == 0:
        try:
            purge._keep = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
            with Database.connect(published.context.database.url, pool_size=2) as database:
                purge_documents(database, [MEMBER], reason="x", who="tester", force=True)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert _others(published, "") == before
    purge_documents(published.context.database, [MEMBER], reason="x", who="tester", force=True)
    assert _places(published, MEMBER) == []


@pytest.mark.parametrize("document", [REFUND, MEMBER])
def test_posting_lists_neither_name_a_purged_document_nor_count_its_words(published, document) -> None:
    word = {REFUND: "refund", MEMBER: "dumplings"}[document]
    assert _posted_fragments(published, document)
    assert _lists_of(published, word)
    purge_documents(published.context.database, [document], reason="asked for", who="tester", force=True)
    assert _posted_fragments(published, document) == []
    assert _lists_of(published, word) == []
    assert _posted_fragments(published, "handbook/parking.md")
    assert _lists_of(published, "bicycles")
    assert _found_by_words(published, "bicycles stand") == {"handbook/parking.md"}
    assert _found_by_words(published, word) == set()


def test_posting_lists_of_rows_that_no_generation_has_do_not_outlive_a_purge(published) -> None:
    """A generation of another model is staged, and one that was abandoned; a purge names their fragments nowhere."""
    spec = published.context.spec
    other_model = spec.model_copy(update={"embedding": EmbeddingSpec(passage_prompt="passage: ")})
    (published.folder / "refund.md").write_text("# Refund policy\n\nA refund takes an invoice.\n")
    for context in (published.context, dataclasses.replace(published.context, spec=other_model)):
        for stage in list(CHAIN)[: list(CHAIN).index(Stage.INDEX_GENERATION) + 1]:
            CHAIN[stage](context)
            check_stage(context, stage)
    assert len(published.rows("SELECT FROM corpus.posting_indexes")) == 2
    assert _lists_of(published, "invoice")
    purge_documents(published.context.database, [REFUND], reason="asked for", who="tester", force=True)
    assert _posted_fragments(published, REFUND) == []
    assert _lists_of(published, "invoice") == _lists_of(published, "refund") == []
    assert _found_by_words(published, "bicycles stand") == {"handbook/parking.md"}


def _posted_fragments(published, document: str) -> list[str]:
    found = published.rows(
        "SELECT fragment_id FROM corpus.posting_places WHERE starts_with(fragment_id, %s)", f"{document}::"
    )
    return [row["fragment_id"] for row in found]


def _lists_of(published, word: str) -> list[dict[str, object]]:
    return published.rows(
        "SELECT index_id, block FROM corpus.posting_blocks WHERE term = ANY (%s)", analyser_for("english").terms(word)
    )


def _found_by_words(published, question: str) -> set[str]:
    with read_session(published.context.database, groups=["everyone"], show_archived=False) as connection:
        found = connection.execute(
            f"SELECT document_id FROM serving.lexical_candidates('handbook', %s, '{{}}', 10)"
            f" JOIN serving.{published.table} USING (fragment_id)",
            (analyser_for("english").terms(question),),
        )
        return {row["document_id"] for row in found}


def _keep_pack(published) -> None:
    pack = evidence.gather_evidence(
        published.context.database, published.context.registry, SearchRequest(query="plum dumplings in a locked drawer")
    )
    assert MEMBER in pack.documents
    evidence.keep_pack(published.context.database, pack, "tester")


def _answers(published, question: str) -> set[str]:
    found = search(published.context.database, published.context.registry, SearchRequest(query=question, top_k=1))
    return {one.document_id for one in found.accepted} & {MEMBER, REFUND, "handbook/copy.md"}


def _tables(connection) -> list[tuple[str, str]]:
    rows = connection.execute(
        "SELECT relnamespace::regnamespace::text, relname FROM pg_class"
        " WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace::regnamespace::text"
        " NOT IN ('pg_catalog', 'information_schema') AND relnamespace::regnamespace::text NOT LIKE 'pg_t%'"
    )
    return sorted(tuple(row) for row in rows)


def _places(published, document: str) -> list[str]:
    """Every column of every table that has words of the document, compressed content included."""
    found = []
    with psycopg.connect(published.context.database.url) as connection:
        for schema, name in _tables(connection):
            cursor = connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, name)))
            columns = [column.name for column in cursor.description]
            for row in cursor:
                for column, value in zip(columns, row, strict=True):
                    if any(mark in _plain(value) for mark in MARKS[document]):
                        found.append(f"{schema}.{name}.{column}")
    return sorted(set(found))


def _plain(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


CHANGED_BY_ANY_PURGE = {
    "purges",
    "purged_files",
    "generations",
    "publications",
    "publication_log",
    "published_documents",
}


def _others(published, document: str) -> dict[str, list[str]]:
    """All rows that do not name the document, by table; receipts and roots aside."""
    kept = {}
    with psycopg.connect(published.context.database.url) as connection:
        for schema, name in _tables(connection):
            if name in CHANGED_BY_ANY_PURGE:
                continue
            query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(schema, name))
            rows = sorted(row[0] for row in connection.execute(query))
            if schema == "serving" or name in NAMED:
                kept[name] = [row for row in rows if not document or document not in row]
    return kept


NAMED = {
    "documents", "source_files", "chunked_documents", "fragments", "parents", "document_versions", "compared_documents",
}  # fmt: skip


def test_the_command_prints_the_receipt_it_keeps(published, monkeypatch, tmp_path) -> None:
    import json

    import corpus_pipeline.cli

    config = tmp_path / "corpora.yaml"
    config.write_text(
        f"version: 1\ncorpora:\n  handbook:\n    owner: docs@example.com\n    source:\n      url: {published.folder}\n"
    )
    monkeypatch.setenv("CORPUS_DATABASE_URL", published.context.database.url)
    monkeypatch.setenv("CORPUS_CONFIG", str(config))

    def run(*arguments: str, expect: int = 0) -> str:
        done = CliRunner().invoke(corpus_pipeline.cli.app, list(arguments))
        assert done.exit_code == expect, f"{done.output}\n{done.exception!r}"
        return done.stdout

    report = json.loads(run("verify", "handbook", "--json"))
    assert report["sound"]
    assert [link["link"] for link in report["links"]][-2:] == ["generation_root", "evidence_pack"]
    assert "sound" in run("verify", "handbook")
    assert "serves what was published" in run("drift", "handbook")
    run("purge", REFUND, "--reason", "asked for", "--force", expect=1)  # nobody answers the question
    printed = json.loads(run("purge", REFUND, "--reason", "asked for", "--force", "--yes", "--json"))
    (kept,) = published.rows("SELECT receipt FROM corpus.purges")
    assert kept["receipt"] == printed
    published.tamper("UPDATE {table} SET text = %s WHERE document_id = 'handbook/parking.md'", "forged")
    broken = json.loads(run("verify", "handbook", "--json", expect=3))
    assert broken["first_broken"]["link"] == "fragment"
    assert broken["first_broken"]["document_id"] == "handbook/parking.md"
    assert "broken at fragment: handbook/parking.md" in " ".join(run("verify", "handbook", expect=3).split())
