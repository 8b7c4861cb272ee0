"""Commands for the morning: ``status``, ``quarantine`` and ``approve-removals``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from corpus_pipeline import conversion, inventory
from corpus_pipeline.cli.app import CorpusArgument, JsonOption, State, app, state_of
from corpus_pipeline.cli.failures import failure_lines
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.cli.overview import CorpusOverview, overview

__all__ = ["approve_removals", "quarantine_list", "quarantine_replay", "status"]

MAX_REMOVALS_SHOWN = 20
FIGURE_WIDTH, CORPUS_WIDTH = 24, 19
quarantine_app = typer.Typer(no_args_is_help=True, help="Files that could not be converted: list them, try them again.")
app.add_typer(quarantine_app, name="quarantine")


@app.command()
def status(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show for every corpus what is served, what the last run found, and what holds it back."""
    state = state_of(context)
    entries = overview(state.database, state.registry)
    if as_json:
        print_json({"corpora": [_overview_json(entry) for entry in entries]})
        return
    title = f"Corpora of {state.settings.config}"
    side_by_side = max(1, (out.width - FIGURE_WIDTH) // CORPUS_WIDTH)
    for start in range(0, len(entries), side_by_side):
        out.print(_overview_table(title if start == 0 else "", entries[start : start + side_by_side]))
    for entry in entries:
        _print_problems(entry)


def _overview_table(title: str, entries: Sequence[CorpusOverview]) -> Table:
    """Corpora as columns, as in the closing table of an ingestion: a row each would not fit a terminal."""
    rows: list[list[object]] = [
        ["generation", *["none" if entry.generation is None else entry.generation for entry in entries]],
        ["published", *[f"{entry.published_at:%Y-%m-%d %H:%M}" if entry.published_at else "-" for entry in entries]],
        *[
            [name.replace("_", " "), *["-" if entry.counts[name] is None else entry.counts[name] for entry in entries]]
            for name in entries[0].counts
        ],
        ["state", *[_state_word(entry) for entry in entries]],
    ]
    names = [entry.corpus for entry in entries]
    return table(title, ["", *names], rows, numbers=names)


def _state_word(entry: CorpusOverview) -> str:
    if entry.held:
        return "on hold"
    if entry.last_run_at is None:
        return "never ingested"
    return "blocked" if entry.blocked else "current"


def _print_problems(entry: CorpusOverview) -> None:
    if entry.held:
        out.print(
            f"[yellow]{safe(entry.corpus)}[/] is on hold since {entry.held_at:%Y-%m-%d %H:%M} UTC by "
            f"{safe(entry.held_by)}: {safe(entry.held_reason)} — `corpus-pipeline resume {safe(entry.corpus)}` lifts it"
        )
    for refusal in entry.blocked:
        out.print(f"[red]{safe(entry.corpus)}[/] {refusal.stage.value}: {safe(refusal.reason)}")
        verdict = entry.verdicts.get(refusal.stage)
        for line in failure_lines(verdict.failures if verdict else ()):
            out.print(line)
    warnings = sum(f["severity"] == "warning" for verdict in entry.verdicts.values() for f in verdict.failures)
    if warnings and not entry.blocked:
        out.print(f"[dim]{safe(entry.corpus)}: {warnings} warnings; `corpus-pipeline status --json` lists them[/]")


def _overview_json(entry: CorpusOverview) -> dict[str, Any]:
    return {
        "corpus": entry.corpus,
        "owner": entry.owner,
        "generation": entry.generation,
        "root": entry.root_sha256,
        "published_at": entry.published_at,
        "last_run_at": entry.last_run_at,
        **entry.counts,
        "held": {"by": entry.held_by, "at": entry.held_at, "reason": entry.held_reason} if entry.held else None,
        "blocked": [{"stage": refusal.stage.value, "reason": refusal.reason} for refusal in entry.blocked],
        "checks": {
            stage.value: {"passed": verdict.passed, "failures": list(verdict.failures)}
            for stage, verdict in entry.verdicts.items()
        },
    }


@quarantine_app.command("list")
def quarantine_list(
    context: typer.Context,
    corpus: Annotated[str | None, typer.Argument(help="Only this corpus.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """List quarantined files with the reason and what to do."""
    state = state_of(context)
    files = [entry for slug in _slugs(state, corpus) for entry in _quarantined(state, slug)]
    if as_json:
        print_json({"files": files})
        return
    out.print(
        table(
            "Quarantined files",
            ["document", "reason", "what happened and what to do", "attempts", "last"],
            [
                [
                    entry.document_id,
                    entry.reason.value,
                    entry.message,
                    entry.attempts,
                    f"{entry.last_failed_at:%Y-%m-%d %H:%M}" if entry.last_failed_at else "",
                ]
                for entry in files
            ],
            numbers=["attempts"],
        )
    )


def _quarantined(state: State, slug: str) -> list[Any]:
    with state.database.connection() as connection:
        return conversion.quarantined_files(connection, slug)


def _slugs(state: State, corpus: str | None) -> list[str]:
    return [state.registry.corpus(corpus).slug] if corpus else sorted(state.registry.corpora)


@quarantine_app.command("replay")
def quarantine_replay(
    context: typer.Context,
    corpus: CorpusArgument,
    documents: Annotated[
        list[str] | None, typer.Argument(help="Document ids; none means all of the corpus.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Try quarantined files again at the next ingestion, even though nothing about them changed."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        marked = conversion.request_replay(connection, corpus, documents or None)
    if as_json:
        print_json({"corpus": corpus, "marked": marked})
        return
    out.print(f"{marked} files will be tried again; now run: corpus-pipeline ingest {safe(corpus)}")


@app.command("approve-removals")
def approve_removals(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Let documents go whose files are missing from the source, after the guard has kept them.

    A listing that suddenly comes back short removes nothing by itself; `status` and the check of
    the inventory say how many files are missing.
    """
    import getpass

    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        missing = inventory.held_removals(connection, corpus)
        inventory.approve_removals(connection, corpus, getpass.getuser())
    if as_json:
        print_json({"corpus": corpus, "approved": missing})
        return
    for document_id in missing[:MAX_REMOVALS_SHOWN]:
        out.print(f"  {safe(document_id)}")
    if len(missing) > MAX_REMOVALS_SHOWN:
        out.print(f"  … and {len(missing) - MAX_REMOVALS_SHOWN} more")
    out.print(f"{len(missing)} removals approved; now run: corpus-pipeline ingest {safe(corpus)}")
