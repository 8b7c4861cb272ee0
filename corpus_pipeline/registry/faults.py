"""Faults of the models, worded for the person who writes the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from corpus_pipeline.registry.located import KeyPath

__all__ = ["allowed_keys", "shown", "unknown_key", "wording"]

_SECRET_KEYS = frozenset({"password", "options", "url"})
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "dict_type": "a map of keys",
    "model_type": "a map of keys",
    "model_attributes_type": "a map of keys",
}
_LIMITS = {
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
}


def unknown_key(key: str, allowed: Sequence[str]) -> str:
    """The message for a key that the file form does not have.

    >>> unknown_key("ownr", ["owner", "source"])
    "unknown key; did you mean 'owner'? Allowed here: owner, source"
    """
    near = get_close_matches(key, allowed, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key; {hint}Allowed here: {', '.join(allowed)}"


def allowed_keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Keys that may stand in the map at ``path`` below ``model``."""
    current: Any = model
    for part in path:
        fields: Mapping[str, Any] = getattr(current, "model_fields", {})
        if not isinstance(part, str) or part not in fields:
            return []
        annotation = fields[part].annotation
        models = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]
        current = next((kind for kind in models if issubclass(kind, BaseModel)), None)
    return list(getattr(current, "model_fields", {}))


def shown(value: Any, path: KeyPath) -> str:
    """A value for a message; secrets and large values are described, not shown."""
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if _SECRET_KEYS.intersection(str(part) for part in path):
        return "another kind of value"
    text = str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:40] + "…"  # noqa: PLR2004 - one line on a terminal


def wording(error: ErrorDetails, path: KeyPath) -> str:
    """Expected and found, and what to write, for one error of pydantic other than an unknown key."""
    kind, context, value = error["type"], error.get("ctx", {}), error["input"]
    key, found = str(path[-1]), shown(error["input"], path)
    if kind == "missing":
        message = "is missing; " + _MISSING.get(key, "add it")
    elif kind in {"literal_error", "enum"}:
        message = _choice(str(context["expected"]), value, found)
    elif kind in _LIMITS:
        message = f"expected {_LIMITS[kind].format(**context)}, found {found}"
    elif kind == "tuple_type" and isinstance(value, str):
        message = f"expected a list, found one text; write [{found}]"
    elif kind == "string_type" and isinstance(value, bool | int | float):
        message = f'expected text, found {found}; put it in quotes: "{found}"'
    elif kind in {"string_too_short", "too_short"}:
        message = f"is empty; {_MISSING.get(key, 'write at least one value')}"
    else:
        message = (
            f"expected {_EXPECTED[kind]}, found {found}" if kind in _EXPECTED else f"{error['msg']}; found {found}"
        )
    return message


_MISSING = {
    "owner": "write the person or team that answers for the corpus, such as owner: support-docs@example.com",
    "source": "write where the files are, such as source: {url: ./documents}",
    "url": "write a folder or URL, such as url: ./documents",
    "access_groups": "write the groups that may see the corpus, such as [everyone]",
}


def _choice(expected: str, value: Any, found: str) -> str:
    choices = [choice.strip().strip("'") for choice in expected.replace(" or ", ", ").split(",")]
    near = get_close_matches(str(value), choices, n=1, cutoff=0.5) or [
        choice for choice in choices if choice.lower() == str(value).lower()
    ]
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"expected one of {', '.join(choices)}; found {found}{hint}"
