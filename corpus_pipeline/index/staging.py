"""Staging: the next generation is loaded where nobody sees it, checked, and recorded, in one transaction."""

from __future__ import annotations

from typing import Any

from corpus_pipeline.embedding import load_model
from corpus_pipeline.errors import StageError
from corpus_pipeline.index.analyser import analyser_for
from corpus_pipeline.index.leaf_indexes import index_leaf
from corpus_pipeline.index.lexicon import analyse_corpus, count_terms, lexical_size
from corpus_pipeline.index.loading import (
    clear_above,
    count_served,
    insert_fragments,
    insert_parents,
    keep_added_rows,
    move_locations,
    retire_rows,
)
from corpus_pipeline.index.plan import Plan, make_plan
from corpus_pipeline.index.postings import has_postings, rebuild_postings, update_postings
from corpus_pipeline.index.recall import ann_recall
from corpus_pipeline.index.repository import add_generation, cached_dimensions, next_generation
from corpus_pipeline.index.tables import (
    PARENTS_TABLE,
    attach_partitions,
    ensure_serving_table,
    fragments_partition,
    leaves,
    make_partitions,
    parents_partition,
    table_dimensions,
)
from corpus_pipeline.records import Stage
from corpus_pipeline.store import Connection, StageContext, StageResult, StageRun, open_stage

__all__ = ["stage_generation"]

Counts = dict[str, int | float | str]


def stage_generation(context: StageContext) -> StageResult:
    """Stages the next generation of a corpus, invisible until it is published.

    Only differences to the published generation are written; when there are none, or when the
    same generation has been staged already, nothing is.

    Returns:
        ``counts`` has rows, rows_added, rows_retired, current, archived, documents_current,
        parents_added, parents_retired, ann_recall_at_10, generation and root;
        ``output_sha256`` is the root.

    Raises:
        StageError: The loaded rows are not what was meant to be loaded; nothing is kept.
    """
    with open_stage(context, Stage.INDEX_GENERATION) as run:
        analyse_corpus(context, analyser_for(context.spec.lexical.language))
        with context.database.connection() as connection:
            plan = make_plan(connection, context)
            if plan.reusable:
                _keep(run, plan, connection)
            else:
                _stage(run, plan, connection)
    return run.result


def _keep(run: StageRun, plan: Plan, writer: Connection) -> None:
    known = plan.reusable
    if known is None:
        return
    nothing = dict.fromkeys(("rows_added", "rows_retired", "parents_added", "parents_retired"), 0)
    counts: Counts = {**known.counts, **nothing}
    with run.commit(output_sha256=plan.root_sha256, counts=counts, within=writer):
        clear_above(writer, plan.corpus, max(known.generation, plan.base_generation))
        move_locations(writer, plan.table, plan.corpus, plan.moved)
        if not has_postings(writer, plan.table, plan.corpus):
            rebuild_postings(writer, plan.table, plan.corpus, known.generation)


def _stage(run: StageRun, plan: Plan, writer: Connection) -> None:
    context = run.context
    with context.database.connection() as connection:
        dimensions = _dimensions(connection, context, plan)
        ensure_serving_table(connection, plan.table, dimensions=dimensions)
    counts: Counts = {}
    with run.commit(output_sha256=plan.root_sha256, counts=counts, within=writer):
        clear_above(writer, plan.corpus, plan.base_generation)
        number = next_generation(writer, plan.corpus)
        unattached = make_partitions(writer, plan.table, plan.corpus)
        _load(writer, context, plan, number)
        for leaf in leaves(plan.table, plan.corpus):
            rows = plan.expected[f"{leaf.state}_count"]
            index_leaf(writer, leaf, rows=rows, changed=plan.fragments.added_count, dimensions=dimensions)
        current, _ = leaves(plan.table, plan.corpus)
        count_terms(writer, current, number, from_scratch=plan.counts_terms_anew)
        counts.update(_validated(writer, plan, number))
        add_generation(writer, _record(context, plan, number, counts) | lexical_size(writer, current, number))
        update_postings(writer, current, number)
        attach_partitions(writer, unattached, plan.corpus)


def _dimensions(connection: Connection, context: StageContext, plan: Plan) -> int:
    known = table_dimensions(connection, plan.table) or cached_dimensions(connection, plan.embedding_fingerprint)
    # Only an empty corpus has no vector; nothing else here needs the model's weights.
    return known or load_model(context.spec.embedding).dimensions


def _load(writer: Connection, context: StageContext, plan: Plan, number: int) -> None:
    retire_rows(writer, plan.table, plan.corpus, sorted(plan.fragments.retired), generation=number)
    retire_rows(writer, PARENTS_TABLE, plan.corpus, sorted(plan.parents.retired), generation=number)
    move_locations(writer, plan.table, plan.corpus, plan.moved)
    context.progress.start(Stage.INDEX_GENERATION, plan.fragments.added_count, "fragments loaded")
    keep_added_rows(writer, plan.table, plan.corpus, "fragments", base=plan.base_generation)
    keep_added_rows(writer, PARENTS_TABLE, plan.corpus, "parents", base=plan.base_generation)
    added = insert_fragments(
        writer,
        fragments_partition(plan.table, plan.corpus),
        embedding_fingerprint=plan.embedding_fingerprint,
        analyser_fingerprint=plan.analyser.fingerprint,
        generation=number,
    )
    if added != plan.fragments.added_count:
        raise StageError(
            f"{plan.fragments.added_count - added} of {plan.fragments.added_count} fragments to be added to "
            f"{plan.table} have no vector",
            remedy="Run fragment_embeddings for this corpus again, then index_generation.",
        )
    context.progress.advance(added)
    insert_parents(writer, parents_partition(plan.corpus), generation=number)


def _validated(writer: Connection, plan: Plan, number: int) -> Counts:
    # The partition, for it is not part of its table before all is well.
    found = count_served(writer, fragments_partition(plan.table, plan.corpus), plan.corpus, number)
    if found != plan.expected:
        raise StageError(
            f"generation {number} of {plan.corpus!r} has {found}, expected {plan.expected}",
            remedy="Nothing was kept and the published generation still serves. Run this again; "
            "if it repeats, something else writes to the serving tables.",
        )
    current, _ = leaves(plan.table, plan.corpus)
    return {
        "generation": number,
        "root": plan.root_sha256,
        "rows": found["row_count"],
        "rows_added": plan.fragments.added_count,
        "rows_retired": len(plan.fragments.retired),
        "current": found["current_count"],
        "archived": found["archived_count"],
        "documents_current": found["documents_current"],
        "parents_added": plan.parents.added_count,
        "parents_retired": len(plan.parents.retired),
        "ann_recall_at_10": round(ann_recall(writer, current, number), 4),
    }


def _record(context: StageContext, plan: Plan, number: int, counts: Counts) -> dict[str, Any]:
    return {
        "corpus": plan.corpus,
        "generation": number,
        "base_generation": plan.base_generation,
        "root_sha256": plan.root_sha256,
        "serving_table": plan.table,
        "embedding_fingerprint": plan.embedding_fingerprint,
        "chunker_fingerprint": plan.chunker_fingerprint,
        "model": context.spec.embedding.model_dump(mode="json"),
        "analyser": plan.analyser.parts,
        "counts": counts,
        "as_of": context.as_of,
        "inputs": plan.inputs,
        "run_id": context.run_id,
    }
