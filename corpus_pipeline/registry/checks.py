"""What the models cannot know: globs, cron, document overrides, files a corpus refers to.

Works on the map as written, which may be wrong in other ways: a value of the wrong type is
left to the model's own faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus_pipeline.registry.cron import cron_fault, timezone_fault
from corpus_pipeline.registry.declared import read_declared
from corpus_pipeline.registry.environment import has_variable
from corpus_pipeline.registry.globs import glob_fault
from corpus_pipeline.registry.located import KeyPath
from corpus_pipeline.registry.models import PASSWORD_KEY, CorpusSpec
from corpus_pipeline.registry.sources import is_local, local_folder

__all__ = ["check_corpus", "check_sources_differ", "slug_fault", "slug_from"]

AddFault = Callable[[KeyPath, str], None]
_SLUG = re.compile(r"[a-z][a-z0-9_]{0,62}")


def slug_from(name: str) -> str:
    """A slug made of any name.

    >>> slug_from("Refund Policies (EU)"), slug_from("2024")
    ('refund_policies_eu', 'corpus_2024')
    """
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return (slug if slug[:1].isalpha() else f"corpus_{slug}".rstrip("_"))[:63].rstrip("_")


def slug_fault(slug: str) -> str:
    """What is wrong with a slug; empty when it is valid."""
    if _SLUG.fullmatch(slug):
        return ""
    return f"a slug is 1-63 lower-case letters, digits and _, and begins with a letter; write {slug_from(slug)}"


def check_corpus(
    values: Mapping[str, Any], place: KeyPath, base_folder: Path, add: AddFault, *, check_files: bool
) -> None:
    """Reports everything about one corpus that its model cannot see.

    Args:
        values: The corpus as written, merged over the defaults, variables filled in.
        place: Path of the corpus in the file.
        base_folder: Folder of the file.
        add: Takes the path of a fault and its message.
        check_files: Look whether folders and files exist.
    """
    for path, pattern in _globs(values):
        fault = glob_fault(pattern)
        if fault:
            add((*place, *path), f"the glob {pattern!r} {fault}")
    schedule = _mapping(values.get("schedule"))
    for key, check in (("cron", cron_fault), ("timezone", timezone_fault)):
        if isinstance(schedule.get(key), str) and check(schedule[key]):
            add((*place, "schedule", key), check(schedule[key]))
    for pattern, keys in _mapping(values.get("documents")).items():
        metadata = {key: value for key, value in _mapping(keys).items() if key != PASSWORD_KEY}
        for key, message in read_declared(metadata).problems:
            add((*place, "documents", pattern, key), message)
    if check_files:
        _check_files(values, place, base_folder, add)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _globs(values: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    source = _mapping(values.get("source"))
    for key in ("include", "exclude"):
        patterns = source.get(key)
        for position, pattern in enumerate(patterns if isinstance(patterns, list | tuple) else ()):
            if isinstance(pattern, str):
                yield ("source", key, position), pattern
    for pattern in _mapping(_mapping(values.get("conversion")).get("overrides")):
        yield ("conversion", "overrides", pattern), pattern
    for pattern in _mapping(values.get("documents")):
        yield ("documents", pattern), pattern


def _check_files(values: Mapping[str, Any], place: KeyPath, base_folder: Path, add: AddFault) -> None:
    url = _mapping(values.get("source")).get("url")
    if isinstance(url, str) and url.strip() and is_local(url) and not has_variable(url):
        folder = local_folder(url, base_folder)
        if not folder.is_dir():
            found = "is a file" if folder.exists() else "does not exist"
            add((*place, "source", "url"), f"the folder {folder} {found}; make it, or write the folder with the files")
    golden = values.get("golden_queries")
    if isinstance(golden, str) and not (base_folder / golden).is_file():
        add(
            (*place, "golden_queries"),
            f"the file {base_folder / golden} does not exist; write it, or leave the key out for now",
        )


def check_sources_differ(corpora: Mapping[str, CorpusSpec], add: AddFault) -> None:
    """Reports corpora that would take the same files from the same place."""
    first: dict[tuple[object, ...], str] = {}
    for slug, spec in corpora.items():
        url = spec.source.url
        location = str(local_folder(url, spec.base_folder)) if is_local(url) else url.rstrip("/")
        taken = (location, tuple(sorted(spec.source.include)), tuple(sorted(spec.source.exclude)))
        if taken in first:
            add(
                ("corpora", slug, "source", "url"),
                f"is the source of corpus {first[taken]!r} too, with the same globs; "
                "remove one corpus, or divide the files with include and exclude",
            )
        first.setdefault(taken, slug)
