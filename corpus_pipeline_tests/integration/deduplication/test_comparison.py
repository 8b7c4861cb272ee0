"""Comparison through the database: incremental is from scratch, whatever the order and the workers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import pytest

from corpus_pipeline.deduplication import boilerplate, candidates, comparison, repository, search
from corpus_pipeline.deduplication.change import ComparisonChange, encoded
from corpus_pipeline.deduplication.clusters import SignaturePair, pair_kind
from corpus_pipeline.deduplication.combination import Combination
from corpus_pipeline.deduplication.comparison import Changes, compare_corpus
from corpus_pipeline.deduplication.cross_corpus import cross_corpus_edges, update_cross_corpus_edges
from corpus_pipeline.deduplication.parameters import ComparisonParameters, comparison_parameters
from corpus_pipeline.deduplication.signature_store import delete_abandoned_signatures, shingle_sets
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind, sha256_hex
from corpus_pipeline.registry import DeduplicationSpec
from corpus_pipeline.store import Connection, Database, SilentProgress

PARAMETERS = comparison_parameters(DeduplicationSpec())
FOOTER = "All rights reserved by the example company\nHome Products Support Contact"


def sentence(generator: random.Random, words: int = 12) -> str:
    return " ".join(f"w{generator.randrange(3000)}" for _ in range(words))


def corpus_texts(seed: int) -> dict[str, str]:
    """Forty documents: originals, copies, edited copies, copies with appendix, some with a footer."""
    generator = random.Random(seed)
    texts: dict[str, str] = {}
    for number in range(40):
        kind = generator.choice(["new", "new", "copy", "edited", "appendix", "short"])
        earlier = generator.choice(sorted(texts.values())) if texts else ""
        if kind == "new" or not earlier:
            text = "\n".join(sentence(generator) for _ in range(generator.randrange(4, 30)))
        elif kind == "copy":
            text = "# " + earlier.upper()
        elif kind == "edited":
            lines = earlier.split("\n")
            lines[generator.randrange(len(lines))] = sentence(generator, 4)
            text = "\n".join(lines)
        elif kind == "appendix":
            text = earlier + "\n" + sentence(generator, 10)
        else:
            text = generator.choice(["see above", "to be done"])
        texts[f"c/{number:03}.txt"] = text + ("\n" + FOOTER if generator.random() < 0.6 else "")
    return texts


class Texts:
    """Texts by hash that counts what is asked for."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.by_sha256 = {sha256_hex(text): text for text in texts.values()}
        self.read = 0

    def __call__(self, wanted: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        for _, key in wanted:
            self.read += 1
            yield key, self.by_sha256[key]


def changes(texts: dict[str, str], corpus: str) -> Callable[[Connection, bool], Changes]:
    """How these documents differ from those last compared; stands in for the converted documents."""

    def changes_of(connection: Connection, everything: bool) -> Changes:
        query = "SELECT document_id, text_sha256 FROM corpus.compared_documents WHERE corpus = %s"
        rows = [] if everything else connection.execute(query, (corpus,)).fetchall()
        before = {row["document_id"]: row["text_sha256"] for row in rows}
        now = {document_id: sha256_hex(text) for document_id, text in texts.items()}
        return Changes(sorted(set(now.items()) - set(before.items())), sorted(before.keys() - now.keys()))

    return changes_of


class Result(NamedTuple):
    change: ComparisonChange
    edges: list[DuplicateEdge]
    clusters: list[DuplicateCluster]
    hash: str


def compare(
    database: Database,
    texts: dict[str, str],
    parameters: ComparisonParameters = PARAMETERS,
    *,
    source: Texts | None = None,
    workers: int = 1,
    corpus: str = "c",
    remove_boilerplate: bool = True,
) -> Result:
    change = compare_corpus(
        database,
        corpus,
        changes(texts, corpus),
        source or Texts(texts),
        parameters,
        remove_boilerplate=remove_boilerplate,
        workers=workers,
        progress=SilentProgress(),
    )
    with database.connection() as connection:
        repository.store_change(connection, change)
        update_cross_corpus_edges(connection, change, parameters)
    return result(database, change)


def result(database: Database, change: ComparisonChange) -> Result:
    """What is stored; the hash that was kept is that of what is stored."""
    with database.connection() as connection:
        edges = repository.duplicate_edges(connection, change.corpus)
        clusters = repository.duplicate_clusters(connection, change.corpus)
    combination = Combination()
    combination.add(encoded(edges, clusters))
    assert change.combination.sha256 == combination.sha256
    return Result(change, edges, clusters, combination.sha256)


def forget(database: Database) -> None:
    """Empties everything deduplication has stored."""
    with database.connection() as connection:
        connection.execute(
            "TRUNCATE corpus.text_profiles, corpus.document_signatures, corpus.unused_signatures, corpus.lsh_bands, "
            "corpus.containment_keys, corpus.compared_documents, corpus.comparison_states, corpus.duplicate_edges, "
            "corpus.duplicate_cluster_members"
        )


@pytest.fixture(params=["as it is", "small limits"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The limits as they are, and so small that forty documents pass them all the time."""
    if request.param == "small limits":
        monkeypatch.setattr(comparison, "SAMPLE_DOCUMENTS", 14)
        monkeypatch.setattr(boilerplate, "MIN_DOCUMENTS", 3)
        for module in (candidates, search):
            monkeypatch.setattr(module, "BAND_LIMIT", 2)
            monkeypatch.setattr(module, "SAMPLE_LIMIT", 3)
        monkeypatch.setattr(candidates, "LEADERS", 2)
    return str(request.param)


def nights_of(seed: int, count: int) -> list[dict[str, str]]:
    """Nights in which documents come, go, change and get or lose a footer; the last holds all of them."""
    generator = random.Random(seed)
    final = corpus_texts(seed)
    nights = []
    for _ in range(count):
        night = dict(generator.sample(sorted(final.items()), generator.randrange(5, 40)))
        for document_id in generator.sample(sorted(night), min(4, len(night))):
            night[document_id] += "\n" + generator.choice([FOOTER, sentence(generator)])
        gone = {f"c/gone{n}.txt": sentence(generator, 60) + FOOTER for n in range(generator.randrange(6))}
        nights.append(night | gone)
    return [*nights, final]


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_every_night_ends_where_a_run_from_nothing_ends(database: Database, seed: int) -> None:
    nights = nights_of(seed, 4)
    incremental = [compare(database, night) for night in nights]
    assert any(night.change.boilerplate.size for night in incremental), "the footer is boilerplate in some night"
    for night, kept in zip(nights, incremental, strict=True):
        forget(database)
        scratch = compare(database, night)
        assert kept.edges == scratch.edges
        assert kept.clusters == scratch.clusters
        assert kept.hash == scratch.hash
        assert kept.change.boilerplate.tolist() == scratch.change.boilerplate.tolist()
    assert incremental[-1].edges, "the generated corpus has duplicates"


def test_a_line_that_becomes_boilerplate_signs_exactly_its_holders_anew(database: Database) -> None:
    generator = random.Random(4)
    texts = {f"c/{n:03}.txt": "\n".join(sentence(generator) for _ in range(8)) for n in range(30)}
    for number in range(9):
        texts[f"c/{number:03}.txt"] += "\n" + FOOTER
    first = compare(database, texts)
    assert first.change.boilerplate.size == 0
    texts["c/030.txt"] = "\n".join(sentence(generator) for _ in range(8)) + "\n" + FOOTER
    source = Texts(texts)
    second = compare(database, texts, source=source)
    assert second.change.boilerplate.size == 2
    assert second.change.touched == {f"c/{number:03}.txt" for number in (*range(9), 30)}
    assert (second.change.computed, source.read) == (10, 11)
    del texts["c/030.txt"]
    third = compare(database, texts)
    assert third.change.boilerplate.size == 0
    assert third.change.touched == second.change.touched
    assert third.change.computed == 0, "the signatures of whole texts are still stored"
    assert third.hash == first.hash


def test_the_index_finds_the_pairs_that_comparing_everything_finds(database: Database) -> None:
    found = compare(database, corpus_texts(5))
    documents = {row.signature_id: row.document_id for row in found.change.documents_after if row.signature_id}
    with database.connection() as connection:
        sets = {key: set(values.tolist()) for key, values in shingle_sets(connection, documents).items()}
    expected = set()
    for left, right in combinations(sorted(documents), 2):
        pair = SignaturePair(left, right, len(sets[left]), len(sets[right]), len(sets[left] & sets[right]))
        if pair.shared and pair_kind(pair, PARAMETERS):
            expected.add(tuple(sorted((documents[left], documents[right]))))
    assert {(e.left_id, e.right_id) for e in found.edges if e.kind is not DuplicateKind.EXACT} == expected


def test_an_unchanged_night_reads_computes_and_writes_nothing(database: Database) -> None:
    texts = corpus_texts(7)
    first = compare(database, texts)
    source = Texts(texts)
    second = compare(database, texts, source=source)
    assert (source.read, second.change.computed, second.change.verified) == (0, 0, 0)
    assert second.change.touched == frozenset()
    assert second.hash == first.hash


def test_a_night_reads_only_what_is_new(database: Database) -> None:
    texts = corpus_texts(8)
    compare(database, texts)
    more = texts | {"c/999.txt": "\n".join(sentence(random.Random(0)) for _ in range(9))}
    source = Texts(more)
    found = compare(database, more, source=source)
    assert found.change.computed == 1
    assert source.read == 2  # once for its profile, once for its signature
    assert found.change.touched == {"c/999.txt"}


def test_a_night_forms_only_the_clusters_it_touches_anew(database: Database) -> None:
    texts = corpus_texts(8)
    before = compare(database, texts)
    cluster = before.clusters[0]
    found = compare(database, texts | {"c/999.txt": texts[cluster.centre_id] + "\none more line"})
    assert [new.centre_id for new in found.change.clusters_after] == [cluster.centre_id]
    assert [old.cluster_id for old in found.change.clusters_before] == [cluster.cluster_id]


@pytest.mark.slow
def test_workers_make_no_difference(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.deduplication import computation, verification

    texts = corpus_texts(9)
    one = compare(database, texts)
    forget(database)
    monkeypatch.setattr(computation, "BATCH_TEXTS", 5)
    monkeypatch.setattr(verification, "THREAD_PAIRS", 2)
    monkeypatch.setattr(comparison, "WAVE_BYTES", 10_000)
    monkeypatch.setattr(comparison, "WAVE_PROFILES", 7)
    two = compare(database, texts, workers=2)
    assert two.edges == one.edges
    assert two.hash == one.hash


def test_a_killed_run_goes_on_where_it_stopped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.deduplication import computation

    texts = corpus_texts(10)
    monkeypatch.setattr(computation, "BATCH_TEXTS", 4)
    monkeypatch.setattr(comparison, "WAVE_BYTES", 1)
    real, calls = comparison.register_signatures, 0

    def dying(connection: Connection, signed: Sequence[object]) -> dict[bytes, int]:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return real(connection, signed)  # type: ignore[arg-type]

    monkeypatch.setattr(comparison, "register_signatures", dying)
    with pytest.raises(KeyboardInterrupt):
        compare(database, texts)
    resumed = compare(database, texts)
    assert 0 < resumed.change.computed < sum(row.signature_id is not None for row in resumed.change.documents_after)
    forget(database)
    assert resumed.hash == compare(database, texts).hash


def test_other_settings_compare_everything_anew(database: Database) -> None:
    texts = corpus_texts(6)
    compare(database, texts)
    strict = comparison_parameters(DeduplicationSpec(threshold=0.95))
    kept = compare(database, texts, strict)
    whole = compare(database, texts, strict, remove_boilerplate=False)
    assert whole.change.from_nothing
    forget(database)
    assert compare(database, texts, strict).hash == kept.hash


TEMPLATE = [" ".join(f"w{line}x{word}" for word in range(10)) for line in range(30)]


def letters(count: int, seed: int = 0) -> dict[str, str]:
    """Copies of one template that differ in a name and an amount."""
    generator = random.Random(seed)
    return {
        f"c/letter{n:04}.txt": "\n".join([f"dear name{generator.randrange(10**9)}", *TEMPLATE, f"total {seed} {n}"])
        for n in range(count)
    }


def test_copies_of_one_template_are_not_compared_each_with_each(database: Database) -> None:
    count = 600
    first = letters(count)
    found = compare(database, first, remove_boilerplate=False)
    assert found.change.verified < 60 * count
    (cluster,) = found.clusters
    assert len(cluster.members) == count
    assert min(cluster.similarity.values()) >= PARAMETERS.threshold
    assert len(found.edges) < 60 * count
    # Two more the night after: the result is that from nothing, the other documents are not read.
    more = first | {"c/new1.txt": first["c/letter0007.txt"] + "\nps", "c/new2.txt": "\n".join(TEMPLATE)}
    source = Texts(more)
    night = compare(database, more, source=source, remove_boilerplate=False)
    assert source.read == 4
    forget(database)
    scratch = compare(database, more, remove_boilerplate=False)
    assert night.hash == scratch.hash
    assert [len(cluster.members) for cluster in night.clusters] == [count + 2]


def test_pairs_among_many_half_alike_documents_are_found(database: Database) -> None:
    """Reports that share two thirds of their words, so that bands are full; every tenth has a copy."""
    generator = random.Random(2)
    texts = {}
    for number in range(300):
        own = [sentence(generator, 10) for _ in range(8)]
        texts[f"c/{number:03}.txt"] = "\n".join(TEMPLATE + own)
        if number % 10 == 0:
            texts[f"c/{number:03}-copy.txt"] = "\n".join([*TEMPLATE, *own[:-1], sentence(generator, 10)])
    found = compare(database, texts, remove_boilerplate=False)
    pairs = {(edge.left_id, edge.right_id) for edge in found.edges}
    planted = {(f"c/{number:03}-copy.txt", f"c/{number:03}.txt") for number in range(0, 300, 10)}
    assert planted <= pairs


def test_copies_in_another_corpus_are_edges_of_their_own(database: Database) -> None:
    generator = random.Random(11)
    policy = "\n".join(sentence(generator) for _ in range(20))
    edited = policy + "\nthis line was added later on"
    other = "\n".join(sentence(generator) for _ in range(20))
    assert compare(database, {"a/x": policy, "a/w": other}, corpus="a").edges == []
    found = compare(database, {"b/y": policy.upper(), "b/z": edited}, corpus="b")
    assert [(edge.left_id, edge.right_id) for edge in found.edges] == [("b/y", "b/z")]
    with database.connection() as connection:
        crossing = cross_corpus_edges(connection, "a")
        assert crossing == cross_corpus_edges(connection, "b")
        assert repository.duplicate_edges(connection, "a") == []
    expected = [("a", "a/x", "b/y", DuplicateKind.EXACT), ("a", "a/x", "b/z", DuplicateKind.NEAR)]
    assert [(e.left_corpus, e.left_document_id, e.right_document_id, e.kind) for e in crossing] == expected
    compare(database, {"a/x": policy, "a/w": other, "a/v": sentence(generator, 80)}, corpus="a")
    with database.connection() as connection:
        assert cross_corpus_edges(connection, "b") == crossing, "documents that did not change keep their edges"
    compare(database, {"b/z": edited}, corpus="b")
    with database.connection() as connection:
        crossing = cross_corpus_edges(connection, "a")
    assert [(e.left_document_id, e.right_document_id) for e in crossing] == [("a/x", "b/z")]


def test_a_text_of_two_corpora_has_its_copies_in_both(database: Database) -> None:
    generator = random.Random(12)
    policy = "\n".join(sentence(generator) for _ in range(20))
    edited = policy + "\nthis line was added later on"
    compare(database, {"a/x": policy, "a/y": edited}, corpus="a")
    compare(database, {"b/x": policy, "b/y": edited}, corpus="b")
    with database.connection() as connection:
        crossing = cross_corpus_edges(connection, "a")
    assert [(e.left_document_id, e.right_document_id, e.kind.value) for e in crossing] == [
        ("a/x", "b/x", "exact"), ("a/x", "b/y", "near"), ("a/y", "b/x", "near"), ("a/y", "b/y", "exact"),
    ]  # fmt: skip


def test_short_texts_match_only_exactly(database: Database) -> None:
    found = compare(database, {"c/1": "See above!", "c/2": "see above", "c/3": "see above now"})
    assert [(edge.left_id, edge.right_id, edge.kind) for edge in found.edges] == [("c/1", "c/2", DuplicateKind.EXACT)]
    assert found.change.computed == 0


def test_abandoned_signatures_leave_every_index(database: Database) -> None:
    texts = corpus_texts(12)
    compare(database, texts, remove_boilerplate=False)
    kept = dict(sorted(texts.items())[:10])
    before = compare(database, kept, remove_boilerplate=False)
    with database.connection() as connection:
        assert delete_abandoned_signatures(connection) == 0
        removed = delete_abandoned_signatures(connection, days=0)
        assert removed > 0
        for table in ("lsh_bands", "containment_keys", "unused_signatures"):
            row = connection.execute(
                f"SELECT count(*) AS n FROM corpus.{table} WHERE signature_id NOT IN "
                "(SELECT signature_id FROM corpus.document_signatures)"
            ).fetchone()
            assert row == {"n": 0}
    assert compare(database, kept, remove_boilerplate=False).hash == before.hash
    again = compare(database, texts, remove_boilerplate=False)
    assert again.change.computed == removed
