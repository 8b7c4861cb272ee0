"""Commands that move or hold the published pointer: ``rollback`` and ``resume``."""

from __future__ import annotations

import getpass
from typing import Annotated, Any

import typer

from corpus_pipeline import index
from corpus_pipeline.cli.app import CorpusArgument, JsonOption, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe

__all__ = ["resume", "rollback"]


@app.command()
def rollback(
    context: typer.Context,
    corpus: CorpusArgument,
    reason: Annotated[str, typer.Option(help="Why; `status` shows it.")] = "no reason given",
    to_generation: Annotated[
        int | None,
        typer.Option("--to", help="Generation to serve; default: the one published before.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the previous generation again, at once, and hold further publication of the corpus.

    Runs go on staging and checking; nothing of this corpus is published until `resume`.
    """
    state = state_of(context)
    state.registry.corpus(corpus)
    served = index.rollback_corpus(
        state.database, corpus, who=getpass.getuser(), reason=reason, to_generation=to_generation
    )
    if as_json:
        print_json(_pointer_json(served))
        return
    out.print(
        f"{safe(corpus)} serves generation {served.generation} again; publication is on hold until "
        f"`corpus-pipeline resume {safe(corpus)}`"
    )


@app.command()
def resume(context: typer.Context, corpus: CorpusArgument, as_json: JsonOption = False) -> None:
    """Lift the hold of a rollback; the next run may publish again."""
    state = state_of(context)
    state.registry.corpus(corpus)
    served = index.resume_corpus(state.database, corpus, who=getpass.getuser())
    if as_json:
        print_json(_pointer_json(served))
        return
    out.print(f"{safe(corpus)} may be published again; now run: corpus-pipeline ingest {safe(corpus)}")


def _pointer_json(served: index.Publication) -> dict[str, Any]:
    return {
        "corpus": served.corpus,
        "generation": served.generation,
        "root": served.root_sha256,
        "held": {"by": served.held_by, "at": served.held_at, "reason": served.held_reason} if served.held else None,
    }
