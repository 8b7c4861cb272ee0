"""Where the project's own data files are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

from corpus_pipeline.errors import StoreError

__all__ = ["project_file"]

_PACKAGE = Path(__file__).resolve().parent.parent


def project_file(name: str) -> Path:
    """Path of a file or folder the project ships, such as ``sql`` or ``dagster.yaml``.

    Raises:
        StoreError: The installation lacks it.
    """
    # Inside first: beside an installed package lie those of others, and some are named sql.
    for folder in (_PACKAGE, _PACKAGE.parent):
        if (folder / name).exists():
            return folder / name
    raise StoreError(
        f"this installation of corpus-pipeline lacks {name!r}",
        remedy="Install it again: pip install --force-reinstall corpus-pipeline.",
    )
