"""The command ``audit-conversion``: sources beside what converters make of them, for a named reviewer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from corpus_pipeline.cli.app import CorpusArgument, JsonOption, State, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe, table

__all__ = ["audit_conversion"]


@app.command("audit-conversion")
def audit_conversion(
    context: typer.Context,
    corpus: CorpusArgument,
    report: Annotated[
        Path | None,
        typer.Option("--out", help="The HTML file to write. Default: audit-CORPUS.html here.", show_default=False),
    ] = None,
    per_format: Annotated[int, typer.Option(min=1, max=20, help="Files of every format.")] = 2,
    record: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="Keep the signed result downloaded from a report.", show_default=False
        ),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the recorded audits instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write an HTML report of a few files of every format beside their converted text, to be reviewed and signed.

    Each file is converted by every converter that is installed and reads it. The report offers its
    signed result for download; `--record` keeps it, so that experiments can refer to its id.
    """
    state = state_of(context)
    state.registry.corpus(corpus)
    if listing:
        _list(state, corpus, as_json=as_json)
    elif record is not None:
        _record(state, corpus, record, as_json=as_json)
    else:
        _make(state, corpus, report or Path(f"audit-{corpus}.html"), per_format, as_json=as_json)


def _make(state: State, corpus: str, path: Path, per_format: int, *, as_json: bool) -> None:
    from corpus_pipeline.conversion.audit import make_audit

    made = make_audit(state.database, state.settings, state.registry.corpus(corpus), out=path, per_format=per_format)
    if as_json:
        print_json(
            {
                "corpus": corpus,
                "report": str(path),
                "report_id": made.report_id,
                "html_sha256": made.html_sha256,
                "files": made.files,
                "formats": made.formats,
                "converters": made.converters,
                "skipped": made.skipped,
            }
        )
        return
    for line in made.skipped:
        out.print(f"[yellow]skipped[/] {safe(line)}")
    out.print(f"{safe(path)}: {made.files} files of {made.formats} formats, converters {', '.join(made.converters)}")
    out.print("Open it in a browser, give a verdict on each file, sign and download the result; then:")
    out.print(f"corpus-pipeline audit-conversion {safe(corpus)} --record FILE.json")


def _record(state: State, corpus: str, path: Path, *, as_json: bool) -> None:
    import getpass

    from corpus_pipeline.conversion.audit import read_result, record_result

    result = read_result(path)
    with state.database.connection() as connection:
        kept = record_result(connection, corpus, result, who=getpass.getuser())
    if as_json:
        print_json({"corpus": corpus, **kept})
        return
    said = "recorded" if kept["new"] else "was recorded before"
    out.print(f"audit {kept['audit_id']} by {safe(result.reviewer)} {said}; {len(result.files)} files")


def _list(state: State, corpus: str, *, as_json: bool) -> None:
    from corpus_pipeline.conversion.audit import recorded_audits

    with state.database.connection() as connection:
        audits = recorded_audits(connection, corpus)
    if as_json:
        print_json({"audits": audits})
        return
    shown = table(
        f"Audits of {corpus}",
        ["audit", "reviewer", "on", "good", "usable", "bad", "report", "comment"],
        [
            [
                audit["audit_id"],
                audit["reviewer"],
                audit["reviewed_on"],
                *[_count(audit, verdict) for verdict in ("good", "usable", "bad")],
                audit["html_sha256"][:12],
                audit["comment"],
            ]
            for audit in audits
        ],
        numbers=["good", "usable", "bad"],
    )
    for column in (shown.columns[0], shown.columns[2]):
        column.no_wrap = True  # an id in two lines cannot be copied
    out.print(shown)


def _count(audit: dict[str, Any], verdict: str) -> int:
    return sum(each["verdict"] == verdict for each in audit["verdicts"])
