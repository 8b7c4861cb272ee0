"""``corpus-pipeline ingest``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus_pipeline.cli.app import EXIT_HELD_BACK, JsonOption, app, state_of
from corpus_pipeline.cli.live import LiveObserver
from corpus_pipeline.cli.output import err, out, print_json, safe, table
from corpus_pipeline.records import Stage

if TYPE_CHECKING:
    from corpus_pipeline.orchestration.ingestion import CorpusRun

__all__ = ["ingest"]


@app.command()
def ingest(
    context: typer.Context,
    corpora: Annotated[list[str] | None, typer.Argument(help="Corpora to ingest, by slug.", show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="Ingest every corpus of corpora.yaml.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run the whole chain, from source files to a published generation.

    Only what changed is converted, chunked and embedded. A corpus whose check fails keeps
    serving its previous generation; the others go on. Exit code 3 says that one was held back.
    """
    from corpus_pipeline.orchestration import ingestion

    state = state_of(context)
    slugs = sorted(state.registry.corpora) if everything else list(dict.fromkeys(corpora or []))
    if not slugs:
        raise typer.BadParameter(
            f"name a corpus or --all; corpora.yaml has: {', '.join(sorted(state.registry.corpora))}"
        )
    for slug in slugs:
        state.registry.corpus(slug)
    with LiveObserver() as observer:
        if not as_json:
            err.print(f"ingesting {', '.join(slugs)} as of {state.settings.decision_date}")
        runs = ingestion.ingest(state.settings, state.registry, state.database, slugs, observer)
    if as_json:
        print_json({"as_of": state.settings.decision_date, "corpora": [run_json(run) for run in runs]})
    else:
        _print_runs(runs)
    if any(not run.published for run in runs):
        raise typer.Exit(EXIT_HELD_BACK if all(not run.error for run in runs) else 1)


def run_json(run: CorpusRun) -> dict[str, Any]:
    """The stable JSON form of one corpus's ingestion."""
    return {
        "corpus": run.corpus,
        "published": run.published,
        "run_id": run.run_id,
        "error": run.error,
        "stages": {
            result.stage.value: {**result.counts, "seconds": round(result.seconds, 3), "unchanged": result.unchanged}
            for result in run.results
        },
        "checks": {
            verdict.stage.value: {"passed": verdict.passed, "failures": list(verdict.failures)}
            for verdict in run.verdicts
        },
    }


def _count(run: CorpusRun, stage: Stage, name: str) -> Any:
    for result in run.results:
        if result.stage is stage:
            return result.counts.get(name, 0)
    return ""


def _outcome(run: CorpusRun) -> str:
    if run.error:
        return "failed"
    if run.failed_checks:
        return "held back"
    if not run.published:
        return "stopped"
    last = run.results[-1]
    return "published" if not last.unchanged else "unchanged"


def _print_runs(runs: list[CorpusRun]) -> None:
    figures = [
        ("documents", Stage.CONVERTED_DOCUMENTS, "documents"),
        ("converted now", Stage.CONVERTED_DOCUMENTS, "converted"),
        ("quarantined files", Stage.CONVERTED_DOCUMENTS, "quarantined"),
        ("duplicate clusters", Stage.NEAR_DUPLICATE_CLUSTERS, "clusters"),
        ("superseded", Stage.DOCUMENT_VERSIONS, "superseded"),
        ("fragments", Stage.FRAGMENTS, "fragments"),
        ("chunked now", Stage.FRAGMENTS, "chunked"),
        ("embedded now", Stage.FRAGMENT_EMBEDDINGS, "embedded"),
        ("generation", Stage.INDEX_GENERATION, "generation"),
    ]
    rows: list[list[object]] = [[title, *[_count(run, stage, name) for run in runs]] for title, stage, name in figures]
    rows += [[f"{stage.value}, seconds", *[_seconds(run, stage) for run in runs]] for stage in Stage]
    rows.append(["all stages, seconds", *[f"{sum(result.seconds for result in run.results):.1f}" for run in runs]])
    rows.append(["outcome", *[_outcome(run) for run in runs]])
    names = [run.corpus for run in runs]
    out.print(table("", ["", *names], rows, numbers=names))
    for run in runs:
        root = _count(run, Stage.INDEX_GENERATION, "root")
        if root:
            out.print(f"{safe(run.corpus)}: root {safe(root)}", soft_wrap=True)
        if run.error:
            out.print(f"[bold red]{safe(run.corpus)}[/]: {safe(run.error)}")
    if runs and all(run.published for run in runs) and all(_untouched(run) for run in runs):
        out.print("Nothing changed: nothing was converted, chunked or embedded.")


def _seconds(run: CorpusRun, stage: Stage) -> str:
    return next((f"{result.seconds:.1f}" for result in run.results if result.stage is stage), "-")


def _untouched(run: CorpusRun) -> bool:
    work = [
        (Stage.CONVERTED_DOCUMENTS, "converted"),
        (Stage.FRAGMENTS, "chunked"),
        (Stage.FRAGMENT_EMBEDDINGS, "embedded"),
    ]
    return all(_count(run, stage, name) == 0 for stage, name in work)
