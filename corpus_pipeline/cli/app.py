"""The command line: parsing, the global options, and the one place where errors become exit codes.

Exit codes: 0 done; 1 an error, named with its remedy; 2 wrong usage; 3 a corpus was held back
by a failed check, or an evidence pack is not sound; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from corpus_pipeline.cli.output import err, print_error
from corpus_pipeline.errors import CorpusPipelineError
from corpus_pipeline.registry import Registry, load_registry
from corpus_pipeline.settings import Settings, load_settings
from corpus_pipeline.store import Database

__all__ = ["EXIT_HELD_BACK", "CorpusArgument", "JsonOption", "State", "app", "main", "state_of"]

EXIT_ERROR = 1
EXIT_HELD_BACK = 3
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="corpus-pipeline",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Keeps a retrieval corpus worth searching.\n\n"
        "Begin with `corpus-pipeline init FOLDER`, look at the file it writes, then "
        '`corpus-pipeline ingest --all` and `corpus-pipeline search "your question"`. '
        "`corpus-pipeline dev` shows the same runs in the Dagster UI."
    ),
)

CorpusArgument = Annotated[str, typer.Argument(help="The corpus, by slug.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]


@dataclass
class State:
    """What the global options and the environment say; opens things at first use.

    Attributes:
        settings: Environment plus options.
    """

    settings: Settings
    _registry: Registry | None = None
    _database: Database | None = None

    @property
    def registry(self) -> Registry:
        """corpora.yaml.

        Raises:
            RegistryError: The file is absent or has faults.
        """
        if self._registry is None:
            self._registry = load_registry(self.settings.config)
        return self._registry

    @property
    def database(self) -> Database:
        """The open, migrated database.

        Raises:
            StoreError: It cannot be used.
        """
        if self._database is None:
            self._database = Database.open(self.settings)
        return self._database

    def close(self) -> None:
        """Closes the database if it was opened."""
        if self._database is not None:
            self._database.close()


def state_of(context: typer.Context) -> State:
    """The state made by the global options."""
    state = context.find_root().obj
    if not isinstance(state, State):
        raise typer.BadParameter("the command was called without its application")
    return state


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(version("corpus-pipeline"))
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(help="corpora.yaml to use (also CORPUS_CONFIG). Default: ./corpora.yaml.", show_default=False),
    ] = None,
    home: Annotated[
        Path | None,
        typer.Option(
            help="State folder: database, Dagster home (also CORPUS_HOME). Default: .corpus beside corpora.yaml.",
            show_default=False,
        ),
    ] = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of",
            formats=["%Y-%m-%d"],
            show_default=False,
            help="Day decisions are made for (also CORPUS_AS_OF). Default: today, UTC.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Global options, before the command."""
    del version
    context.obj = State(load_settings(config=config, home=home, as_of=as_of.date() if as_of else None))
    context.call_on_close(context.obj.close)


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the console script; never shows a traceback for an error of ours.

    ``CORPUS_DEBUG=1`` lets the traceback through.
    """
    _quiet_libraries()
    signal.signal(signal.SIGTERM, _terminate)
    if os.environ.get("CORPUS_DEBUG"):
        app(arguments)
        return
    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except typer.Exit as request:
        sys.exit(request.exit_code)
    except CorpusPipelineError as error:
        print_error(error)
        sys.exit(EXIT_ERROR)
    except (KeyboardInterrupt, typer.Abort):
        err.print("interrupted; what was published before is still served")
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_ERROR)
    except OSError as error:
        print_error(CorpusPipelineError(_os_message(error), remedy=_os_remedy(error)))
        sys.exit(EXIT_ERROR)
    except Exception as error:  # noqa: BLE001 - the last resort: a fault of ours, said in one line
        _exit_on_usage_error(error)
        print_error(
            CorpusPipelineError(
                f"unexpected {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}",
                remedy="Run the command again with CORPUS_DEBUG=1 for the traceback and report it.",
            )
        )
        sys.exit(EXIT_ERROR)


def _exit_on_usage_error(error: Exception) -> None:
    """Errors of click carry their message, exit code and way of showing themselves."""
    show: Any = getattr(error, "show", None)
    if callable(show) and hasattr(error, "exit_code"):
        show()
        sys.exit(error.exit_code)


def _os_message(error: OSError) -> str:
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"


def _os_remedy(error: OSError) -> str:
    import errno

    return {
        errno.ENOSPC: "Free disk space, or set CORPUS_HOME to a folder on a larger disk; nothing was published.",
        errno.EACCES: "Give the user who runs this access to the file or folder named above.",
        errno.ENOENT: "Check the path named above.",
    }.get(error.errno or 0, "Check the file or folder named above.")


def _terminate(number: int, frame: object) -> None:
    del number, frame
    raise KeyboardInterrupt


def _quiet_libraries() -> None:
    """Libraries report to their own loggers; a person at a terminal needs only what we print."""
    import logging
    import warnings

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    warnings.filterwarnings("ignore")
    logging.getLogger().setLevel(logging.ERROR)
