"""``corpus-pipeline search``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from corpus_pipeline.cli.app import JsonOption, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.retrieval import KeptOut, SearchRequest, SearchResult

__all__ = ["CorporaOption", "FiltersOption", "GroupsOption", "key_and_value", "result_json", "search"]

SNIPPET_CHARACTERS = 240
ADVICE = {
    "clarify": "Ask again with the meaning you want: {options}",
    "route": "Ask there: --corpus {options}",
}


CorporaOption = Annotated[
    list[str] | None, typer.Option("--corpus", "-c", help="Only these corpora.", show_default=False)
]
GroupsOption = Annotated[
    list[str] | None,
    typer.Option("--group", "-g", help="Access groups of the asker; default: everyone.", show_default=False),
]
FiltersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", "-f", help="KEY=VALUE, such as product=Relay or plan_tier=enterprise.", show_default=False
    ),
]


class Mode(StrEnum):
    """How corpora are searched."""

    DENSE = "dense"
    SPARSE = "sparse"
    HYBRID = "hybrid"


@app.command()
def search(  # noqa: PLR0913, PLR0917 - one parameter per option
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="The question, in words.", show_default=False)],
    corpora: CorporaOption = None,
    groups: GroupsOption = None,
    filters: FiltersOption = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="Most fragments to accept.", min=1, max=100)] = 5,
    min_score: Annotated[
        float | None,
        typer.Option(
            help="Least cosine similarity of an accepted fragment; default: as the corpus is configured, 0.3.",
            min=-1,
            max=1,
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(help="Nearest vectors, words (BM25), or both; default: as the corpus is configured, hybrid."),
    ] = None,
    reranker: Annotated[
        str | None,
        typer.Option(
            help="For a second look: bge-small-en-v1.5, ms-marco-MiniLM-L-12-v2, or a cross-encoder; `none` for none.",
            show_default=False,
        ),
    ] = None,
    evidence_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of all accepted sections.", min=64, show_default=False)
    ] = None,
    route: Annotated[bool, typer.Option("--route/--all-corpora", help="Let rules choose among the corpora.")] = True,
    read_scope: Annotated[
        bool,
        typer.Option("--read-scope/--no-read-scope", help="Read product, plan, period and the like from the question."),
    ] = True,
    explain: Annotated[bool, typer.Option("--explain", help="Also show what was kept out, and why.")] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show each stage with its counts and milliseconds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search the published generations as a reader with these groups would."""
    from corpus_pipeline import retrieval

    state = state_of(context)
    request = SearchRequest(
        query=query,
        corpora=tuple(corpora or ()),
        groups=tuple(groups or ("everyone",)),
        filters=dict(key_and_value(entry) for entry in filters or []),
        top_k=top_k,
        min_score=min_score,
        mode=mode.value if mode else None,
        reranker=reranker,
        evidence_tokens=evidence_tokens,
        route=route,
        read_scope=read_scope,
        as_of=state.settings.decision_date,
        explain=explain,
    )
    result = retrieval.search(state.database, state.registry, request)
    if as_json:
        print_json(result_json(result))
        return
    _print_result(result, explain=explain)
    if trace:
        _print_trace(result)


def result_json(result: SearchResult) -> dict[str, Any]:
    """The stable JSON form of a result: its fields, and ``span`` beside ``char_start`` and ``char_end``."""
    form: dict[str, Any] = result.model_dump(mode="json")
    for entry in (*form["accepted"], *form["kept_out"]):
        entry["span"] = [entry["char_start"], entry["char_end"]]
    return form


def key_and_value(entry: str) -> tuple[str, str]:
    """The two sides of KEY=VALUE.

    Raises:
        typer.BadParameter: One of them is missing.
    """
    key, separator, value = entry.partition("=")
    if not separator or not key or not value:
        raise typer.BadParameter(f"--filter {entry!r}: expected KEY=VALUE")
    return key.strip(), value.strip()


def _print_result(result: SearchResult, *, explain: bool) -> None:
    if result.scope.read:
        out.print(f"[dim]read from the question: {safe('; '.join(result.scope.read))}[/]")
    if not result.sufficient:
        out.print(f"[yellow]{safe(result.reason)}[/]")
        if (advice := ADVICE.get(result.verdict)) and result.options:
            out.print(advice.format(options=safe(" | ".join(result.options))))
    for position, hit in enumerate(result.accepted, start=1):
        place = " > ".join(hit.section_path)
        heading = hit.section_path[-1] if hit.section_path else ""
        page = f", page {hit.page_number}" if hit.page_number else ""
        out.print(f"[bold]{position}. {safe(hit.title or hit.document_id)}[/]  [green]{hit.score:.3f}[/]")
        out.print(f"   [dim]{safe(f'{hit.source_uri} [{hit.char_start}:{hit.char_end}]{page}')}[/]")
        if hit.also_in:
            out.print(f"   [dim]also in {safe(', '.join(str(other['document_id']) for other in hit.also_in))}[/]")
        if place:
            out.print(f"   [dim]{safe(place)}[/]")
        out.print(f"   {safe(_snippet(hit.text.removeprefix(heading)))}")
    if explain:
        _print_kept_out(result)


def _print_trace(result: SearchResult) -> None:
    rows = []
    for stage in result.trace:
        counted = ", ".join(f"{name} {count}" for name, count in stage.counts.items())
        rows.append([stage.stage, "; ".join((counted, *stage.notes)), f"{stage.milliseconds:.1f}"])
    out.print(table(f"Stages; {result.scope.reason}", ["stage", "counts", "ms"], rows, numbers=["ms"]))


def _snippet(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= SNIPPET_CHARACTERS else plain[: SNIPPET_CHARACTERS - 1] + "…"


def _print_kept_out(result: SearchResult) -> None:
    out.print("\n[bold]Kept out[/]" if result.kept_out else "\nNothing was kept out.")
    for entry in result.kept_out:
        out.print(f" • {safe(entry.document_id)}  [dim]{entry.score:.3f}[/]")
        out.print(f"   [yellow]{safe(_because(entry))}[/]")


def _because(entry: KeptOut) -> str:
    """The reason in words; its name too, where the words do not begin with it."""
    name = entry.reason.value.replace("_", " ")
    detail = entry.detail or entry.reference or ""
    told = not detail or name.split()[0] in detail.split()[:2]
    return (detail or name) if told else f"{name}: {detail}"
