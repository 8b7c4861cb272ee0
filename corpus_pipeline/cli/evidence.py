"""``corpus-pipeline evidence``: packs of cited sources, their validity and their quality."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from corpus_pipeline.cli.app import EXIT_HELD_BACK, CorpusArgument, JsonOption, State, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.cli.search import CorporaOption, FiltersOption, GroupsOption, key_and_value
from corpus_pipeline.errors import EvidenceError

if TYPE_CHECKING:
    from corpus_pipeline.evidence import EvidencePack, PackReport

__all__ = ["build", "check", "list_packs", "score", "show"]

EXCERPT_CHARACTERS = 200

evidence_app = typer.Typer(
    no_args_is_help=True,
    help="Packs of cited sources under one hash: gather them, keep them, and see later whether they still hold.",
)
app.add_typer(evidence_app, name="evidence")

PackArgument = Annotated[
    str, typer.Argument(help="A pack's id (ep_…), or a JSON file written by --out.", show_default=False)
]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="Also write the pack to this JSON file.", show_default=False)
]


@evidence_app.command()
def build(  # noqa: PLR0913, PLR0917 - one parameter per option
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question, in words.", show_default=False)],
    corpora: CorporaOption = None,
    groups: GroupsOption = None,
    filters: FiltersOption = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="Most fragments to cite.", min=1, max=100)] = 8,
    out_file: OutOption = None,
    keep: Annotated[bool, typer.Option("--keep/--dry-run", help="Keep the pack in the database.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Search, and make a pack of what was accepted: sources with line numbers, excerpts and hashes."""
    from corpus_pipeline import evidence
    from corpus_pipeline.retrieval import SearchRequest

    state = state_of(context)
    request = SearchRequest(
        query=query,
        corpora=tuple(corpora or ()),
        groups=tuple(groups or ("everyone",)),
        filters=dict(key_and_value(entry) for entry in filters or []),
        top_k=top_k,
        as_of=state.settings.decision_date,
    )
    pack = evidence.gather_evidence(state.database, state.registry, request)
    if keep:
        evidence.keep_pack(state.database, pack, getpass.getuser())
    _write(pack, out_file)
    if as_json:
        print_json(_pack_json(pack))
        return
    _print_pack(pack)
    _print_report(evidence.review_pack(state.database, state.registry, pack))
    if not keep:
        out.print("[dim]not kept (--dry-run)[/]")


@evidence_app.command()
def show(context: typer.Context, pack: PackArgument, as_json: JsonOption = False) -> None:
    """Show a pack: every source with its excerpts and hashes."""
    found = _load(state_of(context), pack)
    if as_json:
        print_json(_pack_json(found))
        return
    _print_pack(found)


@evidence_app.command()
def check(
    context: typer.Context,
    pack: PackArgument,
    propose: Annotated[
        bool, typer.Option("--propose", help="Ask the question again and keep the new pack beside the old one.")
    ] = False,
    out_file: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Recompute the hashes of a pack and compare its sources with what is published now.

    Exit code 3 when a source was changed, is stale, or the policy of the corpora is not met.
    """
    from corpus_pipeline import evidence

    state = state_of(context)
    found = _load(state, pack)
    report = evidence.review_pack(state.database, state.registry, found)
    proposed = evidence.propose_pack(state.database, state.registry, found) if propose else None
    if proposed is not None:
        evidence.keep_pack(state.database, proposed, getpass.getuser())
        _write(proposed, out_file)
    if as_json:
        print_json(_report_json(report) | {"proposed": _pack_json(proposed) if proposed else None})
    else:
        _print_report(report)
        if proposed is not None:
            out.print(f"\nProposed in its place: [bold]{safe(proposed.pack_id)}[/]")
            _print_pack(proposed)
        elif propose:
            out.print("asking again finds the same evidence")
    if not report.is_sound:
        raise typer.Exit(EXIT_HELD_BACK)


@evidence_app.command("list")
def list_packs(
    context: typer.Context,
    corpus: Annotated[str | None, typer.Argument(help="Only packs that cite it.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """List the kept packs, newest first, and whether they are stale."""
    from corpus_pipeline import evidence

    state = state_of(context)
    if corpus:
        state.registry.corpus(corpus)
    with state.database.connection() as connection:
        kept = evidence.packs(connection, corpus)
    reports = evidence.review_packs(state.database, state.registry, [entry.pack for entry in kept])
    if as_json:
        print_json({"packs": [_report_json(report) for report in reports]})
        return
    rows = [
        [
            entry.pack.pack_id,
            entry.pack.request.query,
            len(entry.pack.sources),
            report.score.score,
            "changed" if report.integrity else "stale" if report.is_stale else "current",
            f"{entry.created_at:%Y-%m-%d %H:%M}",
        ]
        for entry, report in zip(kept, reports, strict=True)
    ]
    columns = ["pack", "question", "sources", "score", "state", "kept at"]
    out.print(table("Evidence packs", columns, rows, numbers=["sources", "score"]))


@evidence_app.command()
def score(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Score a published corpus as evidence, from 0 to 100, by where its documents come from."""
    from corpus_pipeline import evidence

    state = state_of(context)
    found, counts = evidence.score_corpus(state.database, state.registry, corpus)
    if as_json:
        print_json({"corpus": corpus, "score": found.score, "deductions": found.deductions, "documents": counts})
        return
    out.print(f"{safe(corpus)}: [bold]{found.score}[/] of 100")
    for name, number in counts.items():
        out.print(f"  {number} documents of {safe(name)}")
    for reason, points in found.deductions.items():
        out.print(f"  [yellow]-{points}[/] {safe(reason)}")


def _load(state: State, name: str) -> EvidencePack:
    from corpus_pipeline import evidence

    path = Path(name)
    if name.startswith("ep_") and not path.exists():
        with state.database.connection() as connection:
            kept = evidence.stored(connection, name)
        if kept is None:
            raise EvidenceError(
                f"there is no pack {name!r}", remedy="`corpus-pipeline evidence list` names those that are kept."
            )
        return kept.pack
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
        form.pop("pack_id", None)
        return evidence.EvidencePack.model_validate(form)
    except (ValueError, AttributeError) as error:
        where = ""
        if isinstance(error, ValidationError):
            fault = error.errors(include_url=False, include_input=False)[0]
            where = f" at {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
        raise EvidenceError(
            f"{path} is not an evidence pack{where}",
            remedy="Give a file that `evidence build --out` wrote, or a pack's id.",
        ) from error


def _write(pack: EvidencePack, path: Path | None) -> None:
    if path is not None:
        path.write_text(json.dumps(_pack_json(pack), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _pack_json(pack: EvidencePack) -> dict[str, Any]:
    return {"pack_id": pack.pack_id, **pack.model_dump(mode="json")}


def _report_json(report: PackReport) -> dict[str, Any]:
    return {
        "pack_id": report.pack_id,
        "sound": report.is_sound,
        "stale": report.is_stale,
        "integrity": [{"source_id": fault.source_id, "what": fault.what} for fault in report.integrity],
        "sources": [
            {
                "source_id": status.source_id,
                "document_id": status.document_id,
                "state": status.state.value,
                "detail": status.detail,
                "successor": status.successor,
            }
            for status in report.sources
        ],
        "policy": [
            {"rule": f.rule, "message": f.message, "sources": list(f.sources), "blocking": f.blocking}
            for f in report.findings
        ],
        "score": report.score.score,
        "deductions": dict(report.score.deductions),
    }


def _print_pack(pack: EvidencePack) -> None:
    out.print(f"[bold]{safe(pack.pack_id)}[/]  {safe(pack.request.query)}")
    out.print(f"[dim]{safe(pack.evidence_hash)}, as of {pack.as_of}[/]")
    if not pack.sufficient:
        out.print(f"[yellow]{safe(pack.reason)}[/]")
    for source in pack.sources:
        origin = f"{source.source_type.value}, trust {source.trust_level.value}"
        kind = f"{origin}, {safe(source.corpus)} generation {source.generation}"
        out.print(f"\n[bold]{source.source_id}[/] {safe(source.title or source.document_id)}  [dim]{kind}[/]")
        out.print(f"   [dim]{safe(source.source_uri)}  sha256 {source.source_sha256[:12]}…[/]")
        for locator in source.locators:
            lines = f"lines {locator.line_start}-{locator.line_end}" if locator.line_start else "lines unknown"
            page = f", page {locator.page_number}" if locator.page_number else ""
            out.print(f"   {lines}{page}  [dim]{safe(locator.section)}[/]")
            plain = " ".join(locator.excerpt.split())
            shown = plain if len(plain) <= EXCERPT_CHARACTERS else plain[: EXCERPT_CHARACTERS - 1] + "…"
            out.print(f"   “{safe(shown)}”")


def _print_report(report: PackReport) -> None:
    colour = "green" if report.is_sound else "yellow"
    word = "sound" if report.is_sound else "stale" if report.is_stale else "not sound"
    out.print(f"\n[{colour}]{word}[/], quality {report.score.score} of 100")
    for fault in report.integrity:
        out.print(f"  [red]changed[/] {safe(fault.source_id or 'pack')}: {safe(fault.what)}")
    for status in report.sources:
        if status.is_stale or status.detail != "as cited":
            served = f"; served now: {status.successor}" if status.successor else ""
            out.print(f"  {status.source_id} {safe(status.document_id)}: {safe(status.detail + served)}")
    for finding in report.findings:
        mark = "[yellow]policy[/]" if finding.blocking else "[dim]note[/]"
        out.print(f"  {mark} {safe(finding.message)}")
    for reason, points in report.score.deductions.items():
        out.print(f"  [dim]-{points} {safe(reason)}[/]")
