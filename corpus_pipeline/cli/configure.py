"""Commands about corpora.yaml and the database: ``init``, ``config``, ``store``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from corpus_pipeline.cli.app import JsonOption, app, state_of
from corpus_pipeline.cli.output import out, print_json, safe, table
from corpus_pipeline.registry import json_schema, shown_url, write_starter

__all__ = ["check", "init", "schema", "store_check"]

config_app = typer.Typer(no_args_is_help=True, help="Check corpora.yaml; print its JSON Schema for editors.")
store_app = typer.Typer(no_args_is_help=True, help="Check the database.")
app.add_typer(config_app, name="config")
app.add_typer(store_app, name="store")


@app.command()
def init(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder with your documents.", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Write a first, commented corpora.yaml for a folder of documents; it can be ingested as it is."""
    written = write_starter(folder, state_of(context).settings.config)
    if as_json:
        print_json({"config": str(written)})
        return
    out.print(f"wrote {safe(written)}; look at it, then run: corpus-pipeline ingest --all")


@config_app.command("check")
def check(context: typer.Context, as_json: JsonOption = False) -> None:
    """Read corpora.yaml and name every fault with file, line, key and what to write instead."""
    state = state_of(context)
    corpora = [state.registry.corpora[slug] for slug in sorted(state.registry.corpora)]
    if as_json:
        print_json({"config": str(state.settings.config), "corpora": [spec.slug for spec in corpora]})
        return
    out.print(
        table(
            f"{state.settings.config} is valid",
            ["corpus", "owner", "source", "groups", "nightly"],
            [
                [
                    spec.slug,
                    spec.owner,
                    shown_url(spec.source.url),
                    ", ".join(spec.access_groups),
                    f"{spec.schedule.cron} {spec.schedule.timezone}",
                ]
                for spec in corpora
            ],
        )
    )


@config_app.command("schema")
def schema() -> None:
    """Print the JSON Schema of corpora.yaml."""
    print_json(json_schema())


@store_app.command("check")
def store_check(context: typer.Context, as_json: JsonOption = False) -> None:
    """Connect, apply pending migrations, and compare the schema with what the migrations made."""
    from corpus_pipeline.store import safe_url
    from corpus_pipeline.store.migrations import demand_no_drift

    state = state_of(context)
    url = state.database.url
    demand_no_drift(url)
    with state.database.connection() as connection:
        row = connection.execute(
            "SELECT current_setting('server_version') AS postgresql, extversion AS pgvector "
            "FROM pg_extension WHERE extname = 'vector'"
        ).fetchone()
    found = {"url": safe_url(url), **(row or {}), "drift": False}
    if as_json:
        print_json(found)
        return
    out.print(
        f"{safe(found['url'])}: PostgreSQL {safe(found.get('postgresql'))}, "
        f"pgvector {safe(found.get('pgvector'))}, no drift"
    )
