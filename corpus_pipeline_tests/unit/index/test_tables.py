"""Names of serving tables fit PostgreSQL's 63 bytes and do not collide."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from corpus_pipeline.index.leaf_indexes import build_memory_mb
from corpus_pipeline.index.tables import leaves, serving_table_name

SLUGS = st.from_regex(r"[a-z][a-z0-9_]{0,62}", fullmatch=True)
TABLE = serving_table_name("f" * 64, "a" * 64)


@given(SLUGS)
def test_every_slug_gives_names_that_fit(slug: str) -> None:
    for leaf in leaves(TABLE, slug):
        assert len(leaf.name) <= 63
        assert all(len(leaf.index_name(kind)) <= 63 for kind in ("hnsw", "terms", "document", "source_class"))


def test_slugs_that_begin_alike_have_different_leaves() -> None:
    first, second = "a" * 40 + "_one", "a" * 40 + "_two"
    assert len({leaf.name for slug in (first, second) for leaf in leaves(TABLE, slug)}) == 4


def test_build_memory_grows_with_rows_within_bounds() -> None:
    sizes = [build_memory_mb(rows, 384) for rows in (0, 10_000, 100_000, 500_000, 100_000_000)]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (64, 2048)
