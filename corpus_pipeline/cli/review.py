"""Commands that show what the pipeline decided: ``status``, ``versions``, ``duplicates``, ``quarantine``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.tree import Tree

from corpus_pipeline import conversion, deduplication, inventory, versions
from corpus_pipeline.cli.app import JsonOption, State, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.cli.overview import CorpusOverview, overview
from corpus_pipeline.records import VersionDecision

__all__ = ["approve_removals", "duplicates", "quarantine_list", "quarantine_replay", "status", "versions_command"]

CorpusArgument = Annotated[str, typer.Argument(help="The corpus, by slug.", show_default=False)]
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
    columns = ["documents", "quarantined", "duplicate clusters", "superseded", "fragments"]
    out.print(
        table(
            f"Corpora of {state.settings.config}",
            ["corpus", "generation", *columns, "published", "state"],
            [
                [
                    entry.corpus,
                    entry.generation if entry.generation is not None else "none",
                    *["-" if value is None else value for value in entry.counts.values()],
                    f"{entry.published_at:%Y-%m-%d %H:%M}" if entry.published_at else "",
                    _state_word(entry),
                ]
                for entry in entries
            ],
            numbers=["generation", *columns],
        )
    )
    for entry in entries:
        _print_problems(entry)


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
    }


@app.command("versions")
def versions_command(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Show families of versions: which document is current, what each one is superseded by, and why."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        decisions = versions.version_decisions(connection, corpus)
        sources = {document.document_id: document.source_uri for document in conversion.documents(connection, corpus)}
    if as_json:
        print_json({"corpus": corpus, "documents": [_decision_json(entry, sources) for entry in decisions]})
        return
    families: dict[str, list[VersionDecision]] = {}
    for entry in decisions:
        families.setdefault(entry.family, []).append(entry)
    shown = {name: members for name, members in families.items() if len(members) > 1 or not members[0].is_current}
    for name, members in sorted(shown.items()):
        tree = Tree(f"[bold]{safe(name)}[/]")
        for member in sorted(members, key=lambda entry: (not entry.is_current, entry.document_id)):
            tree.add(_decision_line(member))
        out.print(tree)
    single = len(families) - len(shown)
    out.print(f"{len(decisions)} documents, {len(families)} families; {single} are single current documents, not shown")


def _decision_line(entry: VersionDecision) -> str:
    mark = "[green]current[/]" if entry.is_current else f"[yellow]{entry.exclusion_reason or 'not current'}[/]"
    line = f"{mark} {safe(entry.document_id)}"
    if entry.exclusion_ref:
        line += f" → {safe(entry.exclusion_ref)}"
    if entry.evidence:
        line += f"\n    [dim]{safe(entry.evidence)}[/]"
    return line + ("  [red](review)[/]" if entry.needs_review else "")


def _decision_json(entry: VersionDecision, sources: dict[str, str]) -> dict[str, Any]:
    return {
        "document_id": entry.document_id,
        "source_uri": sources.get(entry.document_id),
        "family": entry.family,
        "version": entry.version,
        "lifecycle": entry.lifecycle,
        "is_current": entry.is_current,
        "superseded_by": entry.superseded_by,
        "duplicate_of": entry.duplicate_of,
        "valid_from": entry.valid_from,
        "valid_until": entry.valid_until,
        "kept_out": entry.exclusion_reason,
        "evidence": entry.evidence,
        "needs_review": entry.needs_review,
    }


@app.command()
def duplicates(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Show clusters of copies with the canonical member and each member's similarity to the centre."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        clusters = deduplication.duplicate_clusters(connection, corpus)
        decisions = {entry.document_id: entry for entry in versions.version_decisions(connection, corpus)}
    rows = [_cluster_json(cluster, decisions) for cluster in clusters]
    if as_json:
        print_json({"corpus": corpus, "clusters": rows})
        return
    for row in rows:
        tree = Tree(f"[bold]{safe(row['canonical'])}[/] [dim]({row['kind']})[/]")
        for member in row["members"]:
            if member["document_id"] != row["canonical"]:
                tree.add(
                    f"{member['similarity']:.3f} {safe(member['document_id'])} [dim]{safe(member['kept_out'] or '')}[/]"
                )
        out.print(tree)
    out.print(f"{len(rows)} clusters of copies in {safe(corpus)}")


def _cluster_json(cluster: Any, decisions: dict[str, VersionDecision]) -> dict[str, Any]:
    known = [decisions[member] for member in cluster.members if member in decisions]
    canonical = next((entry.document_id for entry in known if entry.is_canonical), cluster.members[0])
    return {
        "cluster_id": cluster.cluster_id,
        "kind": cluster.kind,
        "canonical": canonical,
        "members": [
            {
                "document_id": member,
                "similarity": round(cluster.similarity.get(member, 1.0), 4),
                "kept_out": decisions[member].exclusion_reason if member in decisions else None,
            }
            for member in cluster.members
        ],
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
) -> None:
    """Try quarantined files again at the next ingestion, even though nothing about them changed."""
    state = state_of(context)
    state.registry.corpus(corpus)
    with state.database.connection() as connection:
        marked = conversion.request_replay(connection, corpus, documents or None)
    out.print(f"{marked} files will be tried again; now run: corpus-pipeline ingest {safe(corpus)}")


@app.command("approve-removals")
def approve_removals(context: typer.Context, corpus: CorpusArgument) -> None:
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
    for document_id in missing[:20]:
        out.print(f"  {safe(document_id)}")
    out.print(f"{len(missing)} removals approved; now run: corpus-pipeline ingest {safe(corpus)}")
