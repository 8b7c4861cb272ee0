"""Moving the pointer: publication behind the gates, rollback with a hold, and lifting the hold."""

from __future__ import annotations

from corpus_pipeline.errors import (
    PublicationHeldError,
    PublicationRefusedError,
    StageError,
    UnknownCorpusError,
    UpstreamMissingError,
)
from corpus_pipeline.index.analyser import parts_fingerprint
from corpus_pipeline.index.history import Generation, GenerationStatus, Publication
from corpus_pipeline.index.loading import served_digests, served_documents
from corpus_pipeline.index.repository import generation, generations, locked_publication
from corpus_pipeline.index.retention import remove_old_rows
from corpus_pipeline.index.rows import generation_root
from corpus_pipeline.index.tables import PARENTS_TABLE
from corpus_pipeline.records import Stage
from corpus_pipeline.registry import CorpusSpec
from corpus_pipeline.store import (
    Connection,
    Database,
    Refusal,
    StageContext,
    StageResult,
    chain_refusals,
    latest_verdict,
    load_queries,
    open_stage,
    point_published_documents,
    record_published_documents,
    stage_output,
)

__all__ = ["publish_corpus", "resume_corpus", "rollback_corpus", "root_of_served_rows"]

Counts = dict[str, int | float | str]


def publish_corpus(context: StageContext) -> StageResult:
    """Moves the pointer of a corpus to its staged generation, if every gate allows it.

    Verdicts, hold and chain are read in the transaction that moves the pointer, so that no way
    of launching gets round them. Afterwards rows that retention gives up are removed.

    Returns:
        ``counts`` has generation, published (1 if the pointer moved) and rows_removed;
        ``output_sha256`` is the published root.

    Raises:
        PublicationHeldError: The corpus was rolled back and waits for ``resume``.
        PublicationRefusedError: A check failed or has not run, or the staged generation is not
            what was checked; the message lists every reason.
        UpstreamMissingError: An earlier stage has never run.
    """
    corpus = context.spec.slug
    with open_stage(context, Stage.PUBLISHED_CORPUS) as run:
        with context.database.connection() as connection:
            root = stage_output(connection, corpus, Stage.INDEX_GENERATION)
        if root is None:
            raise UpstreamMissingError(
                f"nothing has been staged for corpus {corpus!r}",
                remedy=f"Run the whole chain: corpus-pipeline ingest {corpus}.",
            )
        counts: Counts = {}
        with run.commit(output_sha256=root, counts=counts) as connection:
            counts.update(_publish(connection, context, root))
        removed = remove_old_rows(context.database, corpus)
    result = run.result
    return StageResult(
        result.corpus,
        result.stage,
        result.input_sha256,
        result.output_sha256,
        {**result.counts, "rows_removed": removed},
        result.seconds,
        counts["published"] == 0,
    )


def rollback_corpus(
    database: Database, corpus: str, who: str, reason: str, to_generation: int | None = None
) -> Publication:
    """Moves the pointer back and holds publication until :func:`resume_corpus`.

    Args:
        database: Of the pipeline.
        corpus: Slug.
        who: Name of the person, shown while the hold lasts.
        reason: Shown while the hold lasts.
        to_generation: An earlier generation whose rows are kept; the one before when absent.

    Returns:
        The pointer as it is now.

    Raises:
        UnknownCorpusError: Nothing of that corpus is published.
        StageError: There is no such earlier generation, or its rows are gone.
    """
    queries = load_queries("index")
    with database.connection() as connection:
        published = _published(connection, corpus)
        row = queries.rollback_target(connection, corpus=corpus, published=published.generation, wanted=to_generation)
        if row is None:
            raise _no_target(connection, published, to_generation)
        target = int(row["generation"])
        queries.end_generations_between(connection, corpus=corpus, target=target, published=published.generation)
        queries.mark_published(connection, corpus=corpus, generation=target)
        queries.move_pointer(connection, corpus=corpus, generation=target)
        _point_documents(connection, corpus, target)
        queries.hold(connection, corpus=corpus, who=who, reason=reason)
        _log(connection, published, "rollback", target, (who, reason))
    # Apart, for where they are not kept it takes seconds for a large corpus, and readers must not wait for it.
    return _record_documents(database, corpus)


def resume_corpus(database: Database, corpus: str, who: str) -> Publication:
    """Lifts the hold that a rollback has set; a no-op when there is none.

    Raises:
        UnknownCorpusError: Nothing of that corpus is published.
    """
    with database.connection() as connection:
        published = _published(connection, corpus)
        if load_queries("index").lift_hold(connection, corpus=corpus):
            _log(connection, published, "resume", published.generation, (who, ""))
    return _record_documents(database, corpus)


def root_of_served_rows(connection: Connection, known: Generation) -> str:
    """The root recomputed from the digests of the rows that are there."""
    return generation_root(
        embedding_fingerprint=known.embedding_fingerprint,
        chunker_fingerprint=known.chunker_fingerprint,
        analyser_fingerprint=parts_fingerprint(known.analyser) if known.analyser else None,
        fragment_digests=served_digests(connection, known.serving_table, known.corpus, known.generation),
        parent_digests=served_digests(connection, PARENTS_TABLE, known.corpus, known.generation),
    )


def _publish(connection: Connection, context: StageContext, root: str) -> Counts:
    spec = context.spec
    published = locked_publication(connection, spec.slug)
    _demand_no_hold(published, spec.slug)
    _demand_gates(connection, spec)
    if stage_output(connection, spec.slug, Stage.INDEX_GENERATION) != root:
        raise PublicationRefusedError(
            f"corpus {spec.slug!r} was staged again while it was being published",
            remedy="Run published_corpus again.",
        )
    staged = _staged(connection, spec.slug, published, root)
    if staged is None and published is not None and published.root_sha256 == root:
        return {"generation": published.generation, "root": root, "published": 0}
    if staged is None:
        raise PublicationRefusedError(
            f"no staged generation of {spec.slug!r} has the root {root[:12]} that was checked; "
            f"the pointer has been moved since, or the staged rows were changed",
            remedy=f"Stage and check it again: corpus-pipeline ingest {spec.slug}.",
        )
    queries = load_queries("index")
    if published is not None:
        queries.mark_ended(
            connection,
            corpus=spec.slug,
            generation=published.generation,
            status=GenerationStatus.SUPERSEDED.value,
        )
    queries.mark_published(connection, corpus=spec.slug, generation=staged.generation)
    queries.move_pointer(connection, corpus=spec.slug, generation=staged.generation)
    record_published_documents(connection, spec.slug, served_documents(connection, staged))
    queries.log_move(
        connection,
        corpus=spec.slug,
        action="publish",
        from_generation=published.generation if published else None,
        to_generation=staged.generation,
        who=f"run {context.run_id}",
        reason="all checks passed",
    )
    return {"generation": staged.generation, "root": root, "published": 1}


def _record_documents(database: Database, corpus: str) -> Publication:
    with database.connection() as connection:
        published = _published(connection, corpus)
        known = generation(connection, corpus, published.generation)
        if known is not None and not _point_documents(connection, corpus, known.generation):
            record_published_documents(connection, corpus, served_documents(connection, known))
        return published


def _point_documents(connection: Connection, corpus: str, number: int) -> bool:
    """Lets other corpora know the documents of an earlier generation, where they are kept."""
    known = generation(connection, corpus, number)
    return known is not None and point_published_documents(connection, corpus, number, known.root_sha256)


def _staged(connection: Connection, corpus: str, published: Publication | None, root: str) -> Generation | None:
    base = published.generation if published else 0
    for known in reversed(generations(connection, corpus)):
        fits = (known.status, known.base_generation, known.root_sha256) == (GenerationStatus.STAGED, base, root)
        if fits and root_of_served_rows(connection, known) == root:
            return known
    return None


def _demand_no_hold(published: Publication | None, corpus: str) -> None:
    if published is not None and published.held:
        when = f"{published.held_at:%Y-%m-%d %H:%M} UTC" if published.held_at else "an unknown time"
        raise PublicationHeldError(
            f"publication of {corpus!r} is on hold since {when} by {published.held_by}: {published.held_reason}",
            remedy=f"When the cause is removed: corpus-pipeline resume {corpus}.",
        )


def _demand_gates(connection: Connection, spec: CorpusSpec) -> None:
    refusals = chain_refusals(connection, spec)
    if refusals:
        lines = [f"  {refusal.stage}: {refusal.reason}{_advice(connection, spec, refusal)}" for refusal in refusals]
        raise PublicationRefusedError(
            f"corpus {spec.slug!r} is not published; what was published before still serves:\n" + "\n".join(lines),
            remedy=f"Remove the causes, then run: corpus-pipeline ingest {spec.slug}.",
        )


def _advice(connection: Connection, spec: CorpusSpec, refusal: Refusal) -> str:
    output = stage_output(connection, spec.slug, refusal.stage)
    verdict = latest_verdict(connection, spec.slug, refusal.stage, output) if output else None
    remedies = [
        str(failure["remedy"])
        for failure in (verdict.failures if verdict and not verdict.passed else ())
        if failure.get("severity") == "critical" and failure.get("remedy")
    ]
    return "".join(f"\n    {remedy}" for remedy in dict.fromkeys(remedies))


def _published(connection: Connection, corpus: str) -> Publication:
    published = locked_publication(connection, corpus)
    if published is None:
        known = ", ".join(entry["corpus"] for entry in load_queries("index").publications(connection)) or "none"
        raise UnknownCorpusError(
            f"nothing of corpus {corpus!r} is published; published are: {known}",
            remedy="Correct the name, or ingest the corpus first.",
        )
    return published


def _no_target(connection: Connection, published: Publication, wanted: int | None) -> StageError:
    known = generation(connection, published.corpus, wanted) if wanted is not None else None
    if known is not None and known.rows_removed_at is not None:
        found = f"the rows of generation {wanted} were removed on {known.rows_removed_at:%Y-%m-%d}"
    elif wanted is not None:
        found = f"generation {wanted} is no earlier published generation"
    else:
        found = "no earlier generation is kept"
    return StageError(
        f"corpus {published.corpus!r} cannot be rolled back from generation {published.generation}: {found}",
        remedy="`corpus-pipeline status` lists what is published; correct the source and ingest again.",
    )


def _log(connection: Connection, published: Publication, action: str, target: int, why: tuple[str, str]) -> None:
    load_queries("index").log_move(
        connection,
        corpus=published.corpus,
        action=action,
        from_generation=published.generation,
        to_generation=target,
        who=why[0],
        reason=why[1],
    )
