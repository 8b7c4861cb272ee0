"""The first corpora.yaml of a folder, ready to be ingested as it is."""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from itertools import islice
from pathlib import Path

from corpus_pipeline.errors import ConfigurationError
from corpus_pipeline.registry.checks import slug_from
from corpus_pipeline.registry.schema import write_json_schema

__all__ = ["write_starter"]

SCHEMA_PATH = Path(".corpus") / "corpora.schema.json"
_MAX_FILES = 20_000
_GIT_TIMEOUT_SECONDS = 5

_TEMPLATE = """\
# yaml-language-server: $schema={schema}
#
# What the corpora are. Check this file with: corpus-pipeline config check
# Every key is described in docs/adding-a-corpus.md.
version: 1

# Merged under every corpus below.
defaults:
  # The person or team that answers for the content.
  owner: {owner}
  # When the nightly run starts.
  schedule:
    cron: "0 2 * * *"
    timezone: UTC

corpora:
  # The key is the corpus's slug: lower-case letters, digits and _.
  {slug}:
    description: {description}
    source:
      # A folder, relative to this file, or any fsspec URL such as s3://bucket/docs.
      url: {url}
      # {found}
      include: ["**/*"]
      exclude: []
    # Who may see it. "everyone" is every reader; name groups to restrict it.
    access_groups: [everyone]
    # May it serve an answer? any, internal (not to customers), never.
    answer_use: any
    # VERIFIED, HIGH, MEDIUM, LOW or UNVERIFIED.
    trust_level: MEDIUM
    # domain: billing
    # product: example
    # A document not reviewed for longer is reported:
    # freshness_days: 365
    # Questions with expected and forbidden sources, the last gate before publication:
    # golden_queries: golden/{slug}.jsonl
    # Metadata of single documents, by path or glob:
    # documents:
    #   "archive/**": {{lifecycle: archived}}
"""


def write_starter(folder: Path, target: Path) -> Path:
    """Writes a first corpora.yaml for the files of a folder, and its JSON Schema beside it.

    Args:
        folder: Where the documents are.
        target: The file to write; the schema goes into ``.corpus`` next to it.

    Returns:
        ``target``.

    Raises:
        ConfigurationError: The folder is missing, the file exists already or cannot be written.
    """
    if not folder.is_dir():
        raise ConfigurationError(
            f"{folder} is no folder", remedy="Name the folder with your documents: corpus-pipeline init FOLDER."
        )
    slug = slug_from(folder.resolve().name)
    text = _TEMPLATE.format(
        schema=SCHEMA_PATH.as_posix(),
        owner=_quoted(_owner(folder)),
        slug=slug,
        description=_quoted(f"Documents of {folder.resolve().name}"),
        url=_quoted(_relative(folder.resolve(), target.absolute().parent)),
        found=_found(folder),
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
        write_json_schema(target.parent / SCHEMA_PATH)
    except FileExistsError:
        raise ConfigurationError(
            f"{target} exists already; it was left as it is",
            remedy="Add the corpus to it by hand (docs/adding-a-corpus.md), or name another file with --config.",
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"{target} cannot be written: {error.strerror}", remedy="Name a file you may write with --config."
        ) from error
    return target


def _quoted(text: str) -> str:
    # A JSON string is a YAML string; lone surrogates of a foreign file name become escapes of YAML.
    return json.dumps(text)


def _relative(folder: Path, base: Path) -> str:
    relative = os.path.relpath(folder, base.resolve())
    return str(folder) if relative.startswith("../..") else f"./{relative}" if relative != "." else "."


def _owner(folder: Path) -> str:
    git = shutil.which("git")
    if git:
        try:
            found = subprocess.run(  # noqa: S603 - fixed arguments, no shell
                [git, "config", "--get", "user.email"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_GIT_TIMEOUT_SECONDS,
                check=False,
            ).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            found = ""
        if found:
            return found
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "owner@example.com"


def _found(folder: Path) -> str:
    counts: Counter[str] = Counter()
    visible = (
        name
        for parent, folders, names in os.walk(folder)
        if _keep_visible(folders)
        for name in names
        if not name.startswith(".")
    )
    for name in islice(visible, _MAX_FILES):
        extension = Path(name).suffix.lower().lstrip(".")
        counts[extension if re.fullmatch(r"[a-z0-9]{1,10}", extension) else "others"] += 1
    if not counts:
        return "Found no files yet."
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "Found here: " + ", ".join(f"{count} {extension}" for extension, count in ranked[:12])


def _keep_visible(folders: list[str]) -> bool:
    folders[:] = sorted(name for name in folders if not name.startswith("."))
    return True
