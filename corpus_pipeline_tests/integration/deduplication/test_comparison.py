"""Comparison through the database: incremental is from scratch, whatever the order and the workers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest

from corpus_pipeline.deduplication import repository
from corpus_pipeline.deduplication.clusters import form_clusters, form_edges, pair_kind
from corpus_pipeline.deduplication.comparison import Comparison, compare_documents
from corpus_pipeline.deduplication.parameters import ComparisonParameters, comparison_parameters
from corpus_pipeline.records import DuplicateCluster, DuplicateEdge, DuplicateKind, sha256_hex
from corpus_pipeline.registry import DeduplicationSpec
from corpus_pipeline.store import Database, SilentProgress

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
        texts[f"c/{number:03}.txt"] = text + ("\n" + FOOTER if generator.random() < 0.4 else "")
    return texts


class Texts:
    """Texts by hash that counts what is asked for."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.by_sha256 = {sha256_hex(text): text for text in texts.values()}
        self.read = 0

    def __call__(self, text_sha256s: Sequence[str]) -> Iterator[tuple[str, str]]:
        for key in text_sha256s:
            self.read += 1
            yield key, self.by_sha256[key]


def compare(
    database: Database,
    texts: dict[str, str],
    parameters: ComparisonParameters = PARAMETERS,
    *,
    source: Texts | None = None,
    workers: int = 1,
    corpus: str = "c",
) -> tuple[Comparison, list[DuplicateEdge], list[DuplicateCluster]]:
    comparison = compare_documents(
        database,
        sorted((document_id, sha256_hex(text)) for document_id, text in texts.items()),
        source or Texts(texts),
        parameters,
        remove_boilerplate=True,
        workers=workers,
        progress=SilentProgress(),
    )
    edges = form_edges(comparison.documents, comparison.pairs, parameters)
    clusters = form_clusters(corpus, comparison.documents, edges)
    with database.connection() as connection:
        repository.replace_comparison(connection, corpus, comparison.documents, edges, clusters)
        repository.replace_cross_corpus_edges(connection, corpus, parameters)
    return comparison, edges, clusters


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nights_in_any_order_end_where_a_run_from_nothing_ends(
    database: Database, seed: int, request: pytest.FixtureRequest
) -> None:
    generator = random.Random(seed)
    final = corpus_texts(seed)
    nights = []
    for _ in range(4):
        subset = dict(generator.sample(sorted(final.items()), generator.randrange(5, 40)))
        gone = {f"c/gone{n}.txt": sentence(generator, 60) + FOOTER for n in range(generator.randrange(6))}
        nights.append(subset | gone)
    for night in [*nights, final]:
        incremental = compare(database, night)
    with database.connection() as connection:
        connection.execute(
            "TRUNCATE corpus.text_profiles, corpus.document_signatures, corpus.lsh_bands, corpus.containment_keys, "
            "corpus.signature_pairs, corpus.compared_documents, corpus.duplicate_edges, "
            "corpus.duplicate_cluster_members"
        )
    scratch = compare(database, final)
    assert incremental[1] == scratch[1]
    assert incremental[2] == scratch[2]
    assert scratch[1], "the generated corpus has duplicates"
    with database.connection() as connection:
        assert repository.duplicate_edges(connection, "c") == scratch[1]
        assert repository.duplicate_clusters(connection, "c") == scratch[2]


def test_the_index_finds_the_pairs_that_comparing_everything_finds(database: Database) -> None:
    comparison, _, _ = compare(database, corpus_texts(5))
    ids = sorted(item.signature_id for item in comparison.documents if item.signature_id is not None)
    with database.connection() as connection:
        sets = {key: set(found.tolist()) for key, found in repository.shingle_sets(connection, ids).items()}
    expected = []
    for left, right in combinations(ids, 2):
        pair = repository.SignaturePair(left, right, len(sets[left]), len(sets[right]), len(sets[left] & sets[right]))
        if pair.shared and pair_kind(pair, PARAMETERS):
            expected.append(pair)
    assert comparison.pairs == expected


def test_an_unchanged_night_reads_and_computes_nothing(database: Database) -> None:
    texts = corpus_texts(7)
    first = compare(database, texts)
    source = Texts(texts)
    second = compare(database, texts, source=source)
    assert source.read == 0
    assert (second[0].computed, second[0].reused) == (0, first[0].computed)
    assert second[1:] == first[1:]


def test_a_night_reads_only_what_is_new(database: Database) -> None:
    texts = corpus_texts(8)
    compare(database, texts)
    more = texts | {"c/999.txt": "\n".join(sentence(random.Random(0)) for _ in range(9))}
    source = Texts(more)
    comparison, _, _ = compare(database, more, source=source)
    assert comparison.computed == 1
    assert source.read == 2  # once for its profile, once for its signature


@pytest.mark.slow
def test_workers_make_no_difference(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.deduplication import computation

    texts = corpus_texts(9)
    one = compare(database, texts)
    with database.connection() as connection:
        connection.execute("TRUNCATE corpus.text_profiles, corpus.document_signatures CASCADE")
        connection.execute("TRUNCATE corpus.lsh_bands, corpus.containment_keys")
    monkeypatch.setattr(computation, "BATCH_TEXTS", 5)
    two = compare(database, texts, workers=2)
    assert two[1:] == one[1:]


def test_a_killed_search_goes_on_where_it_stopped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from corpus_pipeline.deduplication import comparison as module

    texts = corpus_texts(10)
    monkeypatch.setattr(module, "SEARCH_SIGNATURES", 3)
    calls = 0
    real = repository.mark_searched

    def dying(connection: object, ids: Sequence[int]) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        real(connection, ids)  # type: ignore[arg-type]

    monkeypatch.setattr(repository, "mark_searched", dying)
    with pytest.raises(KeyboardInterrupt):
        compare(database, texts)
    resumed = compare(database, texts)
    with database.connection() as connection:
        connection.execute("TRUNCATE corpus.text_profiles, corpus.document_signatures CASCADE")
        connection.execute("TRUNCATE corpus.lsh_bands, corpus.containment_keys")
    assert resumed[1:] == compare(database, texts)[1:]


def test_copies_in_another_corpus_are_edges_of_their_own(database: Database) -> None:
    generator = random.Random(11)
    policy = "\n".join(sentence(generator) for _ in range(20))
    edited = policy + "\nthis line was added later on"
    other = "\n".join(sentence(generator) for _ in range(20))
    _, edges, _ = compare(database, {"a/x": policy, "a/w": other}, corpus="a")
    assert edges == []
    _, edges, _ = compare(database, {"b/y": policy.upper(), "b/z": edited}, corpus="b")
    assert [(edge.left_id, edge.right_id) for edge in edges] == [("b/y", "b/z")]
    with database.connection() as connection:
        found = repository.cross_corpus_edges(connection, "a")
        assert found == repository.cross_corpus_edges(connection, "b")
        assert repository.duplicate_edges(connection, "a") == []
    assert [(e.left_corpus, e.left_document_id, e.right_document_id, e.kind) for e in found] == [
        ("a", "a/x", "b/y", DuplicateKind.EXACT),
        ("a", "a/x", "b/z", DuplicateKind.NEAR),
    ]
    compare(database, {"b/z": edited}, corpus="b")
    with database.connection() as connection:
        found = repository.cross_corpus_edges(connection, "a")
    assert [(e.left_document_id, e.right_document_id) for e in found] == [("a/x", "b/z")]


def test_short_texts_match_only_exactly(database: Database) -> None:
    comparison, edges, _ = compare(database, {"c/1": "See above!", "c/2": "see above", "c/3": "see above now"})
    assert [(edge.left_id, edge.right_id, edge.kind) for edge in edges] == [("c/1", "c/2", DuplicateKind.EXACT)]
    assert comparison.computed == 0


def test_abandoned_signatures_leave_every_index(database: Database) -> None:
    texts = corpus_texts(12)
    compare(database, texts)
    kept = dict(sorted(texts.items())[:10])
    before = compare(database, kept)
    with database.connection() as connection:
        assert repository.delete_abandoned_signatures(connection) == 0
        removed = repository.delete_abandoned_signatures(connection, days=0)
        assert removed > 0
        for table in ("lsh_bands", "containment_keys"):
            row = connection.execute(
                f"SELECT count(*) AS n FROM corpus.{table} WHERE signature_id NOT IN "
                "(SELECT signature_id FROM corpus.document_signatures)"
            ).fetchone()
            assert row == {"n": 0}
    assert compare(database, kept)[1:] == before[1:]
    again = compare(database, texts)
    assert again[0].computed == removed
