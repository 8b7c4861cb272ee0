"""The manifest: one CSV or JSONL file with a ``path`` column and metadata for many documents."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus_pipeline.errors import ConfigurationError, Fault, RegistryError
from corpus_pipeline.inventory.front_matter import DeclaredBlock
from corpus_pipeline.registry import read_declared

__all__ = ["Manifest", "read_manifest"]

PATH_COLUMN = "path"
MAX_MANIFEST_BYTES = 500_000_000


@dataclass
class Manifest:
    """Metadata by relative path of the document."""

    rows: dict[str, DeclaredBlock] = field(default_factory=dict)


def read_manifest(content: bytes, file: str) -> Manifest:
    """Reads a manifest; what is wrong with one row is a problem of its document.

    Args:
        content: The bytes of the file.
        file: Its name; ``.csv`` is CSV, ``.jsonl`` and ``.ndjson`` are one JSON map a line.

    Raises:
        RegistryError: The file as a whole cannot be used. Without it the access that it may
            restrict is not known, so the corpus is not read at all.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unusable(file, 0, "(file)", "is not UTF-8 text; save it as UTF-8") from error
    rows = _json_rows(text, file) if file.lower().endswith((".jsonl", ".ndjson")) else _csv_rows(text, file)
    manifest = Manifest()
    for line, row in rows:
        path = row.get(PATH_COLUMN)
        if not isinstance(path, str) or not path.strip():
            raise _unusable(file, line, PATH_COLUMN, "is missing; write the path of the document below the source")
        key = path.strip().removeprefix("./")
        if key in manifest.rows:
            raise _unusable(file, line, PATH_COLUMN, f"{key!r} has a row already; keep one of them")
        manifest.rows[key] = _row(file, line, row)
    return manifest


def _row(file: str, line: int, row: Mapping[str, Any]) -> DeclaredBlock:
    found = read_declared({key: value for key, value in row.items() if key != PATH_COLUMN})
    return DeclaredBlock(found.values, tuple(f"{file}:{line} {key}: {message}" for key, message in found.problems))


def _csv_rows(text: str, file: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        names = reader.fieldnames or []
        if PATH_COLUMN not in names or len(set(names)) != len(names):
            raise _unusable(file, 1, PATH_COLUMN, f"expected a header with one {PATH_COLUMN!r} column, each name once")
        for row in reader:
            if None in row:
                raise _unusable(
                    file, reader.line_num, "(row)", "has more cells than the header; quote cells with commas"
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise _unusable(file, reader.line_num, "(row)", f"is not valid CSV: {error}") from error


def _json_rows(text: str, file: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            row = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise _unusable(file, line, "(row)", "is not valid JSON; write one map a line") from error
        if not isinstance(row, dict):
            raise _unusable(file, line, "(row)", 'expected a map such as {"path": "a.md", "owner": "me"}')
        yield line, row


def _unusable(file: str, line: int, key: str, message: str) -> ConfigurationError:
    return RegistryError(
        [Fault(file, line, key, message)],
        remedy="Correct the manifest and run this again. Nothing was changed in the corpus.",
    )
