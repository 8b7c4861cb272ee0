"""corpora.yaml → :class:`Registry`, with every fault of the file reported at once.

A corpus is checked twice: by its model (keys, types, limits) and by ``checks`` (globs, cron,
files it refers to). Both look at the map as written, merged over ``defaults:``, so that one
fault does not hide another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from corpus_pipeline.errors import Fault, RegistryError
from corpus_pipeline.registry.checks import check_corpus, check_sources_differ, slug_fault
from corpus_pipeline.registry.environment import expand_variables, has_variable, unset_variables
from corpus_pipeline.registry.faults import allowed_keys, unknown_key, wording
from corpus_pipeline.registry.located import KeyPath, LocatedYaml, dotted, parse_yaml
from corpus_pipeline.registry.models import PASSWORD_KEY, CorpusSpec, Registry

__all__ = ["FILE_KEYS", "FILE_VERSION", "load_registry"]

FILE_VERSION = 1
FILE_KEYS = ("version", "defaults", "corpora")
_NOT_IN_FILE = ("slug", "base_folder")
_ANY = "*"
_EXPANDED: tuple[KeyPath, ...] = (
    ("source", "url"),
    ("source", "options"),
    ("conversion", "password"),
    ("documents", _ANY, PASSWORD_KEY),
)


def load_registry(path: Path, *, check_files: bool = True) -> Registry:
    """Reads and checks corpora.yaml.

    Args:
        path: The file.
        check_files: Also demand that source folders and golden queries exist. A process that
            serves many corpora passes False, so that one unmounted folder stops one corpus only.

    Raises:
        RegistryError: The file is missing, is not valid YAML, or has faults; all are named with
            file, line and key.
    """
    document = parse_yaml(_read(path), str(path))
    file = _File(str(path), document, list(document.faults))
    if document.value is None and document.faults:
        raise _error(file)
    top = _top_level(file)
    corpora = {
        slug: _corpus(file, slug, spec, top.defaults, path.absolute().parent, check_files=check_files)
        for slug, spec in top.corpora.items()
    }
    known = {slug: spec for slug, spec in corpora.items() if spec is not None}
    check_sources_differ(known, file.add)
    if file.faults:
        raise _error(file)
    return Registry(path=path, corpora=known)


@dataclass
class _File:
    name: str
    document: LocatedYaml
    faults: list[Fault] = field(default_factory=list)

    def add(self, path: KeyPath, message: str) -> None:
        """Notes a fault; one that stems from ``defaults:`` is noted there, once."""
        below = ("defaults", *path[2:])
        if path[:1] == ("corpora",) and not self._written(path) and path[2:] and self._written(below):
            path = below
        fault = Fault(self.name, self.document.line(path), dotted(path), message)
        if fault not in self.faults:
            self.faults.append(fault)

    def _written(self, path: KeyPath) -> bool:
        return path in self.document.lines


@dataclass
class _TopLevel:
    defaults: dict[str, Any]
    corpora: dict[str, Any]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        message = "does not exist"
        remedy = "Write a first one with `corpus-pipeline init FOLDER`, or name yours with --config or CORPUS_CONFIG."
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start}); save it as UTF-8"
        remedy = "Save the file as UTF-8 and run `corpus-pipeline config check`."
    except OSError as error:
        message = f"cannot be read: {error.strerror or type(error).__name__}"
        remedy = "Name a file that this user may read with --config or CORPUS_CONFIG."
    raise RegistryError([Fault(str(path), 0, "(file)", message)], remedy=remedy)


def _error(file: _File) -> RegistryError:
    faults = sorted(file.faults, key=lambda fault: (fault.line, fault.key, fault.message))
    places = "the place named above" if len(faults) == 1 else f"the {len(faults)} places named above"
    return RegistryError(faults, remedy=f"Correct {places}, then run `corpus-pipeline config check`.")


def _top_level(file: _File) -> _TopLevel:
    value = file.document.value
    if not isinstance(value, dict):
        found = "an empty file" if value is None else "something else"
        file.add((), f"expected a map with version: and corpora:, found {found}; `corpus-pipeline init` writes one")
        return _TopLevel({}, {})
    for key in value:
        if key not in FILE_KEYS:
            file.add((key,), unknown_key(key, FILE_KEYS))
    if value.get("version") != FILE_VERSION:
        file.add(("version",), f"expected version: {FILE_VERSION} at the top of the file")
    corpora = value.get("corpora")
    if not isinstance(corpora, dict) or not corpora:
        file.add(("corpora",), "expected a map from slug to corpus with at least one entry")
    return _TopLevel(_map(file, "defaults", value.get("defaults")), corpora if isinstance(corpora, dict) else {})


def _map(file: _File, key: str, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        file.add((key,), "expected a map of keys")
    return value if isinstance(value, dict) else {}


def _corpus(
    file: _File, slug: str, written: Any, defaults: dict[str, Any], base_folder: Path, *, check_files: bool
) -> CorpusSpec | None:
    place: KeyPath = ("corpora", slug)
    fault = slug_fault(slug)
    if fault:
        file.add(place, fault)
    if written is not None and not isinstance(written, dict):
        file.add(place, "expected a map of keys such as owner: and source:")
        return None
    merged = merge_maps(defaults, written or {})
    values = _expand(file, place, merged)
    for key in _NOT_IN_FILE:
        if key in values:
            file.add((*place, key), unknown_key(key, _corpus_keys()))
    check_corpus(values, place, base_folder, file.add, check_files=check_files)
    fields = {**values, "slug": slug, "base_folder": base_folder}
    try:
        return CorpusSpec.model_validate(fields)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _add_model_fault(file, place, detail)
        return None


def merge_maps(weaker: Mapping[str, Any], stronger: Mapping[str, Any]) -> dict[str, Any]:
    """One map over another: nested maps are merged, everything else is replaced.

    >>> merge_maps({"a": {"x": 1, "y": 2}, "b": [1]}, {"a": {"y": 3}, "b": []})
    {'a': {'x': 1, 'y': 3}, 'b': []}
    """
    merged = dict(weaker)
    for key, value in stronger.items():
        below = merged.get(key)
        merged[key] = merge_maps(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _add_model_fault(file: _File, place: KeyPath, detail: ErrorDetails) -> None:
    path: KeyPath = tuple(part for part in detail["loc"] if part != "[key]")
    if path[:1] == ("slug",):
        return
    if detail["type"] == "extra_forbidden":
        allowed = allowed_keys(CorpusSpec, path[:-1])
        file.add((*place, *path), unknown_key(str(path[-1]), [key for key in allowed if key not in _NOT_IN_FILE]))
    else:
        file.add((*place, *path), wording(detail, path))


def _corpus_keys() -> list[str]:
    return [key for key in CorpusSpec.model_fields if key not in _NOT_IN_FILE]


def _expand(file: _File, place: KeyPath, values: dict[str, Any]) -> dict[str, Any]:
    def walk(value: Any, path: KeyPath) -> Any:
        if isinstance(value, dict):
            return {key: walk(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item, (*path, position)) for position, item in enumerate(value)]
        return _expand_text(file, place, path, value) if isinstance(value, str) else value

    expanded: dict[str, Any] = walk(values, ())
    return expanded


def _expand_text(file: _File, place: KeyPath, path: KeyPath, text: str) -> str:
    if not any(_lies_below(path, allowed) for allowed in _EXPANDED):
        if has_variable(text) and path[:1] != ("description",):
            names = ", ".join(dotted(allowed) for allowed in _EXPANDED)
            file.add((*place, *path), f"${{…}} is filled in only in {names}; write the value itself")
        return text
    for message in unset_variables(text, os.environ):
        file.add((*place, *path), message)
    return expand_variables(text, os.environ)


def _lies_below(path: KeyPath, allowed: KeyPath) -> bool:
    return len(path) >= len(allowed) and all(name in (_ANY, part) for name, part in zip(allowed, path, strict=False))
