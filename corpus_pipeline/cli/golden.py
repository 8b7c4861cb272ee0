"""``corpus-pipeline golden``: writing, checking and reading the golden queries of a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus_pipeline.cli.app import EXIT_HELD_BACK, CorpusArgument, JsonOption, State, app, state_of
from corpus_pipeline.cli.differences import diff_json, diff_text
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.cli.search import key_and_value

if TYPE_CHECKING:
    from corpus_pipeline.evaluation import Calibration, Finding, ScoreLimit
    from corpus_pipeline.store import StageContext

__all__ = ["calibrate", "check", "propose", "report"]

golden_app = typer.Typer(
    no_args_is_help=True,
    help="Golden queries: propose them, check them against the corpus, calibrate the least score, report.",
)
app.add_typer(golden_app, name="golden")


@golden_app.command()
def check(
    context: typer.Context,
    corpus: CorpusArgument,
    diff: Annotated[
        bool, typer.Option("--diff/--no-diff", help="Show what a successor changed in a superseded source.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Hold the golden queries against the corpus as last ingested: are their sources and passages still there?

    Says which sources are unknown, in quarantine or kept out, with the successor and the words it
    changed, and which anchors are gone or said more than once. Exit code 3 when a query cannot be
    answered as it stands.
    """
    from corpus_pipeline.evaluation import check_golden_set

    work = _context(state_of(context), corpus)
    golden = _golden_set(work)
    with work.database.connection() as connection:
        findings = check_golden_set(connection, work.spec, golden)
    if as_json:
        print_json(
            {"corpus": corpus, "queries": len(golden.queries), "findings": [_finding_json(one) for one in findings]}
        )
    else:
        _print_findings(findings, len(golden.queries), diff=diff)
    if any(finding.is_fault for finding in findings):
        raise typer.Exit(EXIT_HELD_BACK)


@golden_app.command()
def propose(  # noqa: PLR0913, PLR0917 - one parameter per option
    context: typer.Context,
    corpus: CorpusArgument,
    question: Annotated[str, typer.Argument(help="The question, in words.", show_default=False)],
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", "-g", help="Access groups of the asker; default: those of the corpus."),
    ] = None,
    filters: Annotated[
        list[str] | None, typer.Option("--filter", "-f", help="KEY=VALUE, as for search.", show_default=False)
    ] = None,
    category: Annotated[str, typer.Option(help="Category of the query.")] = "single_hop_factual",
    domain: Annotated[str | None, typer.Option(help="Domain its figures count under.", show_default=False)] = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="Most passages to propose.", min=1, max=20)] = 3,
    as_json: JsonOption = False,
) -> None:
    """Search, and print a line for the file of golden queries that expects the passages found. Not yet reviewed."""
    from corpus_pipeline import retrieval
    from corpus_pipeline.evaluation import propose_query, query_line

    state = state_of(context)
    spec = state.registry.corpus(corpus)
    request = retrieval.SearchRequest(
        query=question,
        corpora=(corpus,),
        groups=tuple(groups or spec.access_groups),
        filters=dict(key_and_value(entry) for entry in filters or []),
        top_k=top_k,
        as_of=state.settings.decision_date,
    )
    found = retrieval.search(state.database, state.registry, request)
    keys: dict[str, Any] = {"category": category, "domain": domain or spec.domain, "filters": request.filters}
    if groups:
        keys["groups"] = tuple(groups)
    line = query_line(propose_query(state.database, corpus, question, found.accepted, **keys))
    if as_json:
        print_json({"corpus": corpus, "query": json.loads(line), "reason": found.reason})
        return
    typer.echo(line)


@golden_app.command()
def calibrate(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Work out the least score from the golden queries, and print the line for corpora.yaml. Changes nothing."""
    from corpus_pipeline.evaluation import calibrate as calibrated
    from corpus_pipeline.evaluation import published_outcomes

    work = _context(state_of(context), corpus)
    _golden_set(work)
    _, outcomes = published_outcomes(work)
    found = calibrated(outcomes, work.spec.retrieval.min_score)
    if as_json:
        print_json(_calibration_json(corpus, found))
        return
    rows = [_limit_row(name, limit) for name, limit in (("in force", found.present), ("best", found.best))]
    columns = ["", "min_score", "F1", "abstention precision", "abstention recall"]
    out.print(table(f"{corpus}: {found.answerable} answerable, {found.unanswerable} not", columns, rows))
    if not found.is_informed:
        out.print("[yellow]Queries of both kinds are needed: some to answer, some with should_match false.[/]")
        return
    out.print(f"To apply it, write in corpora.yaml under {safe(corpus)}:")
    typer.echo(_registry_line(found))


@golden_app.command()
def report(
    context: typer.Context,
    corpus: CorpusArgument,
    path: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file to write. Default: golden-CORPUS.html here.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the last evaluation as one HTML file: figures, intervals, misses by class, trend."""
    from corpus_pipeline.evaluation import write_report

    work = _context(state_of(context), corpus)
    written = path or Path(f"golden-{corpus}.html")
    generation = write_report(work.database, work.spec, written)
    if as_json:
        print_json({"corpus": corpus, "report": str(written), "generation": generation})
        return
    out.print(f"{safe(written)}: generation {generation} of {safe(corpus)}")


def _context(state: State, corpus: str) -> StageContext:
    from corpus_pipeline.store import StageContext

    return StageContext(
        database=state.database,
        settings=state.settings,
        registry=state.registry,
        spec=state.registry.corpus(corpus),
        as_of=state.settings.decision_date,
        run_id="golden",
    )


def _golden_set(work: StageContext) -> Any:
    from corpus_pipeline.errors import Fault, GoldenQueriesError
    from corpus_pipeline.evaluation import golden_set

    if work.spec.golden_queries is None:
        raise GoldenQueriesError(
            [Fault(str(work.registry.path), 0, f"corpora.{work.spec.slug}.golden_queries", "is not given")],
            remedy="Name a JSONL file there; `corpus-pipeline golden propose` writes lines for it.",
        )
    return golden_set(work)


def _print_findings(findings: list[Finding], queries: int, *, diff: bool) -> None:
    for one in findings:
        colour = "red" if one.is_fault else "yellow"
        kind = one.kind.value.replace("_", " ")
        out.print(f"[{colour}]{safe(one.query_id)}[/] {kind}: {safe(one.source or one.key)} — {safe(one.detail)}")
        if one.successor:
            said = {None: "", True: "; it says this too", False: "; it does not say this"}[one.in_successor]
            out.print(f"   answers now: {safe(one.successor)}{said}")
        if diff and one.after:
            out.print(diff_text(one.before, one.after))
    faults = sum(finding.is_fault for finding in findings)
    out.print(f"{queries} queries, {faults} faults, {len(findings) - faults} remarks")


def _finding_json(one: Finding) -> dict[str, Any]:
    return {
        "query_id": one.query_id,
        "kind": one.kind.value,
        "fault": one.is_fault,
        "key": one.key,
        "source": one.source or None,
        "detail": one.detail,
        "successor": one.successor,
        "in_successor": one.in_successor,
        "diff": diff_json(one.before, one.after) if one.after else None,
    }


def _limit_row(name: str, limit: ScoreLimit) -> list[object]:
    return [name, f"{limit.min_score:.3f}", f"{limit.f1:.3f}", *map(_share, _abstention(limit))]


def _abstention(limit: ScoreLimit) -> tuple[float | None, float | None]:
    return limit.abstention_precision, limit.abstention_recall


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _registry_line(found: Calibration) -> str:
    return f"    retrieval: {{min_score: {found.best.min_score:g}}}"


def _calibration_json(corpus: str, found: Calibration) -> dict[str, Any]:
    limits = {
        name: {
            "min_score": limit.min_score,
            "f1": limit.f1,
            "abstention_precision": limit.abstention_precision,
            "abstention_recall": limit.abstention_recall,
        }
        for name, limit in (("present", found.present), ("best", found.best))
    }
    line = _registry_line(found).strip() if found.is_informed else None
    return {
        "corpus": corpus,
        "answerable": found.answerable,
        "unanswerable": found.unanswerable,
        **limits,
        "line": line,
    }
