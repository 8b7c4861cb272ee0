"""Commands that hold what is served against what it was made from, and remove documents for good."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from corpus_pipeline.cli.app import EXIT_HELD_BACK, CorpusArgument, JsonOption, State, app, state_of
from corpus_pipeline.cli.live import LiveObserver
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.store import Progress, StageContext

if TYPE_CHECKING:
    from corpus_pipeline.trust import Drift, PurgeReceipt, Verification

__all__ = ["drift", "purge", "verify"]

MAX_ROWS_SHOWN = 50


@app.command()
def verify(
    context: typer.Context,
    corpus: CorpusArgument,
    sources: Annotated[
        bool, typer.Option("--sources", help="Also read the files again, members of archives too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Recompute the hash chain of what is published, from the files to the evidence packs that cite it.

    Names the first broken link with document, fragment, expected and found value. Exit code 3 when a link is broken.
    """
    from corpus_pipeline.trust import verify_corpus

    state = state_of(context)
    with LiveObserver() as observer:
        report = verify_corpus(_stage_context(state, corpus, observer), sources=sources)
        report = _with_packs(state, report)
    if as_json:
        print_json(_verification_json(report))
    else:
        _print_verification(report)
    if not report.is_sound:
        raise typer.Exit(EXIT_HELD_BACK)


@app.command()
def drift(
    context: typer.Context,
    corpus: CorpusArgument,
    repair: Annotated[
        bool, typer.Option("--repair", help="Restore missing and altered rows and remove extra ones.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List rows of the serving tables that are missing, altered or extra against what was published.

    Exit code 3 when there are any and they were not repaired.
    """
    from corpus_pipeline.trust import audit_drift, repair_drift

    state = state_of(context)
    with LiveObserver() as observer:
        stage_context = _stage_context(state, corpus, observer)
        found = repair_drift(stage_context, getpass.getuser()) if repair else audit_drift(stage_context)
    if as_json:
        print_json({**asdict(found), "clean": found.is_empty})
    else:
        _print_drift(found)
    if not found.is_empty and not found.repaired:
        raise typer.Exit(EXIT_HELD_BACK)


@app.command()
def purge(
    context: typer.Context,
    documents: Annotated[list[str], typer.Argument(help="Ids of documents, as CORPUS/PATH.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why, for the receipt, which is kept for ever.", show_default=False)],
    force: Annotated[
        bool, typer.Option("--force", help="Also what is in the source or served: it vanishes from what is served now.")
    ] = False,
    allow_again: Annotated[
        bool, typer.Option("--allow-again", help="The files may be taken in again; default: they are left out.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove documents for good: text, vectors, caches, history, evidence packs, and their rows of all generations.

    Prints a receipt of what was removed, in numbers and hashes, and keeps it. It cannot be undone.
    """
    from corpus_pipeline.trust import purge_documents

    state = state_of(context)
    if not yes:
        typer.confirm(f"Remove {len(set(documents))} documents for good?", abort=True, err=True)
    receipt = purge_documents(
        state.database, documents, reason=reason, who=getpass.getuser(), force=force, allow_again=allow_again
    )
    if as_json:
        print_json(receipt.as_json())
        return
    _print_receipt(receipt)


def _print_receipt(receipt: PurgeReceipt) -> None:
    out.print(f"purged {len(receipt.documents)} documents; receipt [bold]{receipt.purge_id}[/]")
    rows = [[name, count] for name, count in receipt.removed.items()]
    out.print(table("Removed", ["table", "rows"], rows, numbers=["rows"]))
    for root in receipt.roots:
        served = ", which is served" if root.is_published else ""
        out.print(f"{safe(root.corpus)} generation {root.generation}{served}: root {root.after}", soft_wrap=True)
    spared = sum(one.spared_files for one in receipt.documents)
    if spared:
        out.print(f"[yellow]{spared} files are other documents' as well; what was made of them stays[/]")
    if receipt.hidden_copies:
        corpora = " ".join(sorted({root.corpus for root in receipt.roots}))
        out.print(
            f"[yellow]{receipt.hidden_copies} fragments of other documents were served through these[/]; now run: "
            f"corpus-pipeline ingest {safe(corpora)}"
        )


def _stage_context(state: State, corpus: str, progress: Progress) -> StageContext:
    return StageContext(
        database=state.database,
        settings=state.settings,
        registry=state.registry,
        spec=state.registry.corpus(corpus),
        as_of=state.settings.decision_date,
        run_id="command line",
        progress=progress,
    )


def _with_packs(state: State, report: Verification) -> Verification:
    """The report with the packs that cite the corpus, each recomputed."""
    from corpus_pipeline import evidence
    from corpus_pipeline.trust import BrokenLink, Link, LinkCount

    with state.database.connection() as connection:
        try:
            kept = evidence.packs(connection, report.corpus, most=None)
        except ValidationError:
            what = "a pack that cites the corpus has lost its form"
            fault = BrokenLink(Link.EVIDENCE_PACK, None, None, what, "an evidence pack", "something else")
            return report.extended([LinkCount(Link.EVIDENCE_PACK, 0, 1)], [fault])
    broken = []
    for entry in kept:
        faults = evidence.validate_pack(entry.pack)
        if entry.pack.pack_id != entry.pack_id:
            faults.append(evidence.IntegrityFault(None, "its question, day or sources are not those of its id"))
        broken += [
            BrokenLink(
                Link.EVIDENCE_PACK,
                None,
                entry.pack_id,
                f"{fault.source_id or 'pack'}: {fault.what}",
                entry.pack_id,
                entry.pack.pack_id,
            )
            for fault in faults[:1]
        ]
    counts = LinkCount(Link.EVIDENCE_PACK, len(kept), len(broken))
    return report.extended([counts], broken[:1])


def _verification_json(report: Verification) -> dict[str, Any]:
    first = report.first
    return {
        "corpus": report.corpus,
        "generation": report.generation,
        "root": report.root_sha256,
        "sound": report.is_sound,
        "links": [asdict(count) for count in report.counts],
        "first_broken": asdict(first) if first else None,
        "broken": [asdict(fault) for fault in report.broken],
    }


def _print_verification(report: Verification) -> None:
    rows = [[count.link.value, count.checked, count.broken, count.skipped] for count in report.counts]
    title = f"{report.corpus}, generation {report.generation}"
    out.print(table(title, ["link", "checked", "broken", ""], rows, numbers=["checked", "broken"]))
    out.print(f"root {safe(report.root_sha256)}", soft_wrap=True)
    fault = report.first
    if fault is None:
        out.print("[green]sound[/]: every link that was checked holds")
        return
    where = " ".join(part for part in (fault.document_id, fault.place) if part)
    out.print(f"[bold red]broken[/] at {fault.link.value}: {safe(where)}", soft_wrap=True)
    out.print(f"  {safe(fault.what)}", soft_wrap=True)
    out.print(f"  expected {safe(fault.expected)}\n  found    {safe(fault.found)}", soft_wrap=True)
    others = ", ".join(other.link.value for other in report.broken[1:])
    if others:
        out.print(f"  [dim]also broken: {others}[/]")


def _print_drift(found: Drift) -> None:
    if found.is_empty:
        out.print(f"{safe(found.corpus)} serves what was published: root {found.root_sha256}", soft_wrap=True)
        return
    rows = [
        [row.kind, row.table, row.document_id, row.row_id, ", ".join(row.columns)]
        for row in found.rows[:MAX_ROWS_SHOWN]
    ]
    out.print(
        table(f"{found.corpus}, generation {found.generation}", ["", "table", "document", "row", "columns"], rows)
    )
    summary = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
    out.print(f"{summary}; root {found.found_root}, published {found.root_sha256}", soft_wrap=True)
    if found.repaired:
        out.print("[green]repaired[/]: the rows make up the published root again")
        if found.abandoned:
            out.print(f"The staged generation was removed; now run: corpus-pipeline ingest {safe(found.corpus)}")
    else:
        out.print(f"`corpus-pipeline drift {safe(found.corpus)} --repair` puts them right.")
