"""Nothing half-done is ever visible: killed backends, readers during publication, retention, two corpora at once."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from corpus_pipeline.errors import CorpusPipelineError
from corpus_pipeline.index import (
    analyser_for,
    generations,
    publish_corpus,
    read_session,
    remove_old_rows,
    resume_corpus,
    rollback_corpus,
    serving_table,
    stage_generation,
    staged_generation,
)
from corpus_pipeline.index import pointer as pointer_module
from corpus_pipeline.index import staging as staging_module
from corpus_pipeline.records import Stage
from corpus_pipeline.store import Database, stage_output


class Interrupt(BaseException):
    """Stands for a killed process: no handler of the package catches it."""


def documents_of(corpus: Any, night: int, count: int = 6) -> list[Any]:
    """A corpus of which every fragment names the night it belongs to."""
    return [corpus.doc(f"d{number}.md", f"night {night} text {number}") for number in range(count)]


def test_a_killed_backend_leaves_the_published_generation(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.publish(*documents_of(corpus, 1))
    undisturbed = corpus.stage(*documents_of(corpus, 2)).output_sha256
    corpus.publish(*documents_of(corpus, 3))
    for victim in ("insert_fragments", "insert_parents", "index_leaf", "count_served", "add_generation"):
        original = getattr(staging_module, victim)

        def killed(connection: Any, *args: Any, original: Any = original, **options: Any) -> Any:
            result = original(connection, *args, **options)
            with psycopg.connect(corpus.context.database.url, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
            return result

        corpus.write(*documents_of(corpus, 2))
        with monkeypatch.context() as patch:
            patch.setattr(staging_module, victim, killed)
            with pytest.raises((CorpusPipelineError, psycopg.Error)):
                stage_generation(corpus.context)
        assert corpus.seen() == {f"night 3 text {number}" for number in range(6)}, victim
        with corpus.context.database.connection() as connection:
            assert staged_generation(connection, "handbook") is None
            assert stage_output(connection, "handbook", Stage.INDEX_GENERATION) != undisturbed
    assert stage_generation(corpus.context).output_sha256 == undisturbed
    corpus.evaluate()
    publish_corpus(corpus.context)
    assert corpus.seen() == {f"night 2 text {number}" for number in range(6)}


def test_a_kill_while_publishing_moves_nothing(corpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.publish(*documents_of(corpus, 1))
    corpus.stage(*documents_of(corpus, 2))
    corpus.evaluate()

    def killed(*_: Any) -> None:
        raise Interrupt

    with monkeypatch.context() as patch:
        patch.setattr(pointer_module, "record_published_documents", killed)
        with pytest.raises(Interrupt):
            publish_corpus(corpus.context)
    assert corpus.seen() == {f"night 1 text {number}" for number in range(6)}
    assert publish_corpus(corpus.context).counts["published"] == 1
    assert corpus.seen() == {f"night 2 text {number}" for number in range(6)}


@pytest.mark.parametrize("nights", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_readers_never_see_a_mixture(corpus: Any, database_url: str, nights: int) -> None:
    """Nights with random changes, failures and rollbacks under four reading clients: by table, parents and words."""
    chance = random.Random(7)
    corpus.publish(*documents_of(corpus, 0))
    stop = threading.Event()
    published = {frozenset(f"night 0 text {number}" for number in range(6))}
    with corpus.context.database.connection() as connection:
        table = serving_table(connection, "handbook")
    terms = analyser_for("english").terms("night stale secret")

    def read(groups: tuple[str, ...]) -> list[frozenset[str]]:
        seen = []
        with Database.connect(database_url, pool_size=2) as database:
            while not stop.is_set():
                with read_session(database, groups=groups, show_archived=False) as connection:
                    seen.append(frozenset(corpus.texts(connection, table)))
                    again = frozenset(corpus.texts(connection, table))
                    parents = connection.execute("SELECT text FROM serving.parents").fetchall()
                    by_words = connection.execute(
                        f"SELECT text FROM serving.lexical_candidates('handbook', %s, '{{}}', 100)"
                        f" JOIN serving.{table} USING (fragment_id)",
                        (terms,),
                    ).fetchall()
                    assert seen[-1] == again == frozenset(row["text"] for row in parents)
                    assert seen[-1] == frozenset(row["text"] for row in by_words)
                    assert len(by_words) == len(seen[-1])
        return seen

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, ("everyone",)) for _ in range(3)] + [pool.submit(read, ("nobody's",))]
        try:
            for night in range(1, nights + 1):
                texts = _one_night(corpus, chance, night)
                if texts:
                    published.add(texts)
        finally:
            stop.set()
        results = [reader.result() for reader in readers]
    assert all(set(seen) <= published for seen in results[:3])
    assert sum(len(set(seen)) for seen in results[:3]) > nights // 5
    assert set(results[3]) == {frozenset()}


def _one_night(corpus: Any, chance: random.Random, night: int) -> frozenset[str] | None:
    visible = [f"night {night} text {number}" for number in range(chance.randint(3, 9))]
    documents = [corpus.doc(f"d{number}.md", text) for number, text in enumerate(visible)]
    stale = corpus.doc("stale.md", f"night {night} stale", excluded="superseded", reference="handbook/d0.md")
    secret = corpus.doc("secret.md", f"night {night} secret", groups=("hr",))
    corpus.stage(*documents, stale, secret)
    fails = chance.random() < 0.2
    corpus.evaluate(passed=not fails)
    if fails:
        with pytest.raises(CorpusPipelineError):
            publish_corpus(corpus.context)
        return None
    publish_corpus(corpus.context)
    if chance.random() < 0.2:
        rollback_corpus(corpus.context.database, "handbook", "ana", "a test")
        resume_corpus(corpus.context.database, "handbook", "ana")
    return frozenset(visible)


def test_retention_keeps_the_last_generations_and_what_they_serve(corpus: Any) -> None:
    for night in range(1, 7):
        corpus.publish(*documents_of(corpus, night, count=2), corpus.doc("constant.md", "Always the same."))
    database = corpus.context.database
    assert remove_old_rows(database, "handbook", kept_generations=3, kept_days=30) == 0
    # Nights 1, 2 and 3 go: two fragments and two parents each.
    assert remove_old_rows(database, "handbook", kept_generations=3, kept_days=0) == 12
    assert remove_old_rows(database, "handbook", kept_generations=3, kept_days=0) == 0
    assert corpus.seen() == {"night 6 text 0", "night 6 text 1", "Always the same."}
    with database.connection() as connection:
        known = generations(connection, "handbook")
        assert [one.generation for one in known if one.rows_removed_at] == [1, 2, 3]
        assert [one.generation for one in known] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(CorpusPipelineError, match="the rows of generation 2 were removed"):
        rollback_corpus(database, "handbook", "ana", "too far", to_generation=2)
    rollback_corpus(database, "handbook", "ana", "as far as it goes", to_generation=4)
    assert corpus.seen() == {"night 4 text 0", "night 4 text 1", "Always the same."}


def test_retention_leaves_a_staged_generation_alone(corpus: Any) -> None:
    for night in range(1, 4):
        corpus.publish(*documents_of(corpus, night, count=2))
    staged = corpus.stage(*documents_of(corpus, 4, count=2))
    remove_old_rows(corpus.context.database, "handbook", kept_generations=1, kept_days=0)
    corpus.evaluate()
    publish_corpus(corpus.context)
    assert staged.counts["generation"] == 4
    assert corpus.seen() == {"night 4 text 0", "night 4 text 1"}


def test_retention_empties_the_table_of_a_former_model(corpus: Any, with_other_model: Any) -> None:
    corpus.publish(*documents_of(corpus, 1, count=2))
    with corpus.context.database.connection() as connection:
        former = serving_table(connection, "handbook")
    with_other_model().publish(*documents_of(corpus, 1, count=2))
    remove_old_rows(corpus.context.database, "handbook", kept_generations=1, kept_days=0)
    with corpus.context.database.connection() as connection:
        assert connection.execute(f"SELECT count(*) AS n FROM serving.{former}").fetchone()["n"] == 0
    assert corpus.seen() == {"night 1 text 0", "night 1 text 1"}


def test_two_corpora_may_make_their_first_generation_at_the_same_moment(corpus: Any, other_corpus: Any) -> None:
    corpus.write(*documents_of(corpus, 1))
    other_corpus.write(*documents_of(other_corpus, 1))
    start = threading.Barrier(2)

    def stage(one: Any, url: str) -> int:
        import dataclasses

        with Database.connect(url, pool_size=3) as database:
            context = dataclasses.replace(one.context, database=database)
            start.wait()
            return int(stage_generation(context).counts["rows"])

    url = corpus.context.database.url
    with ThreadPoolExecutor(2) as pool:
        assert [future.result() for future in [pool.submit(stage, one, url) for one in (corpus, other_corpus)]] == [
            6,
            6,
        ]


def test_making_a_partition_waits_for_no_reader(corpus: Any, other_corpus: Any) -> None:
    corpus.publish(*documents_of(corpus, 1))
    other_corpus.write(*documents_of(other_corpus, 1))
    with corpus.context.database.connection() as connection:
        table = serving_table(connection, "handbook")
    with read_session(corpus.context.database, groups=["everyone"]) as connection:
        assert corpus.texts(connection, table)
        done = threading.Thread(target=lambda: stage_generation(other_corpus.context))
        done.start()
        done.join(timeout=60)
        assert not done.is_alive()


def test_no_reader_waits_for_a_first_load(
    corpus: Any, other_corpus: Any, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.publish(*documents_of(corpus, 1))
    other_corpus.write(*documents_of(other_corpus, 1))
    with corpus.context.database.connection() as connection:
        table = serving_table(connection, "handbook")
    original = staging_module.attach_partitions
    seen: list[set[str]] = []

    def looked(*args: Any) -> None:
        original(*args)
        # Rows and indexes of the other corpus are there and attached; all locks of its load are held.
        with (
            Database.connect(database_url, pool_size=1) as database,
            read_session(database, groups=["everyone"]) as reader,
        ):
            reader.execute("SET LOCAL lock_timeout = '2s'")
            seen.append({row["text"] for row in reader.execute(f"SELECT text FROM serving.{table}")})

    monkeypatch.setattr(staging_module, "attach_partitions", looked)
    stage_generation(other_corpus.context)
    assert seen == [{f"night 1 text {number}" for number in range(6)}]


def test_a_first_load_that_fails_leaves_no_partition(
    corpus: Any, other_corpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tables() -> set[str]:
        with corpus.context.database.connection() as connection:
            rows = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'serving'::regnamespace")
            return {row["relname"] for row in rows}

    def killed(*_: Any) -> None:
        raise Interrupt

    corpus.publish(*documents_of(corpus, 1))
    before = tables()
    other_corpus.write(*documents_of(other_corpus, 1))
    with monkeypatch.context() as patch:
        patch.setattr(staging_module, "attach_partitions", killed)
        with pytest.raises(Interrupt):
            stage_generation(other_corpus.context)
    assert tables() == before
    assert stage_generation(other_corpus.context).counts["rows"] == 6
    assert tables() > before


def test_ann_recall_is_measured_with_the_index(corpus: Any) -> None:
    corpus.write(
        *(corpus.doc(f"d{number}.md", *(f"text {number} {part}" for part in range(20))) for number in range(60))
    )
    result = stage_generation(corpus.context)
    assert result.counts["current"] == 1200
    assert 0.9 <= result.counts["ann_recall_at_10"] <= 1.0
