"""The metadata keys a person may declare about a document: names, aliases and value forms.

The same reading serves front matter, sidecars, manifests and ``documents:`` of corpora.yaml.
What cannot be read is a problem with its key, never an exception, and a key that restricts
who sees a document closes it when its value cannot be read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import Any, get_args

from corpus_pipeline.records import AnswerUse, Lifecycle, SourceType, TrustLevel

__all__ = ["KEY_ALIASES", "METADATA_KEYS", "RESTRICTING_KEYS", "DeclaredValues", "read_declared"]

MAX_TEXT_CHARS = 2_000
MAX_ATTRIBUTES = 200
MAX_KEY_CHARS = 80
SIMILARITY = 0.75
RESTRICTING_SIMILARITY = 0.85

_TEXT_KEYS = (
    "title", "product", "domain", "region", "customer_segment", "environment", "audience", "source_class",
    "version", "family", "superseded_by", "owner", "language",
)  # fmt: skip
_LIST_KEYS = {"acl_groups": "[,;\n]", "plan_tiers": "[,;\n]", "supersedes": "[;\n]"}  # a title may hold a comma
_DATE_KEYS = ("valid_from", "valid_until", "last_reviewed_at")
_CHOICE_KEYS: dict[str, tuple[str, ...]] = {
    "answer_use": get_args(AnswerUse),
    "trust_level": tuple(TrustLevel),
    "lifecycle": tuple(Lifecycle),
    "source_type": tuple(SourceType),
}
METADATA_KEYS: tuple[str, ...] = tuple(sorted((*_TEXT_KEYS, *_LIST_KEYS, *_DATE_KEYS, *_CHOICE_KEYS, "attributes")))
"""All keys of ``DocumentMetadata`` that can be declared."""

KEY_ALIASES: dict[str, str] = {
    "effective": "valid_from", "effective_at": "valid_from", "effective_from": "valid_from",
    "effective_date": "valid_from", "valid_to": "valid_until", "expires": "valid_until", "expires_at": "valid_until",
    "expiry_date": "valid_until", "expiration_date": "valid_until", "groups": "acl_groups",
    "access_groups": "acl_groups", "acl": "acl_groups", "tier": "plan_tiers", "plan_tier": "plan_tiers",
    "tiers": "plan_tiers", "replaces": "supersedes", "obsoletes": "supersedes", "replaced_by": "superseded_by",
    "obsoleted_by": "superseded_by", "status": "lifecycle", "lang": "language", "segment": "customer_segment",
    "last_reviewed": "last_reviewed_at", "reviewed_at": "last_reviewed_at", "review_date": "last_reviewed_at",
}  # fmt: skip
"""Other names of metadata keys, accepted wherever the key is."""

RESTRICTING_KEYS: dict[str, Any] = {"acl_groups": [], "answer_use": "never", "trust_level": TrustLevel.UNVERIFIED.value}
"""Keys that limit who sees a document or how far it is used, with the value that limits most."""

_LIFECYCLE_WORDS = {
    "current": "active", "final": "active", "published": "active", "approved": "active", "live": "active",
    "in force": "active", "superseded": "archived", "obsolete": "archived", "replaced": "archived",
    "historical": "archived", "retired": "withdrawn", "cancelled": "withdrawn", "canceled": "withdrawn",
    "rejected": "withdrawn", "revoked": "withdrawn", "in review": "draft", "proposed": "draft", "wip": "draft",
}  # fmt: skip


@dataclass
class DeclaredValues:
    """Metadata read from one source.

    Attributes:
        values: JSON values by canonical key.
        problems: Key as written, and what is wrong with it and what to write instead.
    """

    values: dict[str, Any] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)


def read_declared(
    raw: Mapping[str, Any], *, texts: Mapping[str, str] | None = None, keep_unknown: bool = False
) -> DeclaredValues:
    """Reads metadata as a person wrote it.

    Args:
        raw: Keys and values from YAML, JSON or CSV. ``None`` and empty text mean not declared.
        texts: Scalars as written, by key; used where the metadata is text.
        keep_unknown: Unknown keys become attributes (front matter); otherwise they are problems.

    >>> read_declared({"effective_at": "2024-01-31", "groups": "hr, finance"}).values
    {'valid_from': '2024-01-31', 'acl_groups': ['hr', 'finance']}
    """
    found = DeclaredValues()
    written: dict[str, str] = {}
    for key, value in raw.items():
        name = _canonical(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        if name in written and written[name] == name:
            found.problems.append((_shown_key(key), f"says the same as {name!r}, which is used; keep one of them"))
            continue
        if name in METADATA_KEYS:
            written[name] = key
            _take(found, name, key, value, (texts or {}).get(key), keep_unknown=keep_unknown)
        else:
            _take_unknown(found, key, value, keep_unknown=keep_unknown)
    _check_window(found)
    return found


@lru_cache(maxsize=4096)
def _nearest(name: str) -> tuple[str, float]:
    """The key or alias that looks most like a name, and how much; no key when none does."""
    near = get_close_matches(name[:MAX_KEY_CHARS], [*METADATA_KEYS, *KEY_ALIASES], n=1, cutoff=SIMILARITY)
    return (near[0], SequenceMatcher(None, near[0], name).ratio()) if near else ("", 0.0)


def _shown_key(key: str) -> str:
    text = key if key.isprintable() else ascii(key)[1:-1]
    return text if len(text) <= MAX_KEY_CHARS else text[:MAX_KEY_CHARS] + "…"


def _canonical(key: str) -> str:
    name = re.sub(r"[\s\-]+", "_", key.strip().lower())
    return KEY_ALIASES.get(name, name)


def _take(found: DeclaredValues, name: str, key: str, value: Any, text: str | None, *, keep_unknown: bool) -> None:
    if name == "attributes":
        _take_attributes(found, key, value)
        return
    try:
        found.values[name] = _READERS[name](value, text)
    except ValueError as error:
        if name == "lifecycle" and _canonical(key) != key and keep_unknown:
            _add_attribute(found, key, value)  # a status of the author's own vocabulary
            return
        message = str(error)
        if name in RESTRICTING_KEYS:
            found.values[name] = RESTRICTING_KEYS[name]
            message += f"; until then {name} is {json.dumps(RESTRICTING_KEYS[name])}"
        found.problems.append((_shown_key(key), message))


def _take_unknown(found: DeclaredValues, key: str, value: Any, *, keep_unknown: bool) -> None:
    name = _canonical(key)
    if name.startswith("attributes."):
        _add_attribute(found, key.strip()[len("attributes.") :], value)
        return
    near, similarity = _nearest(name)
    meant = KEY_ALIASES.get(near, near)
    if meant in RESTRICTING_KEYS and similarity >= RESTRICTING_SIMILARITY:
        found.values[meant] = RESTRICTING_KEYS[meant]
        found.problems.append(
            (
                _shown_key(key),
                f"unknown key; did you mean {meant!r}? Until then {meant} is {json.dumps(RESTRICTING_KEYS[meant])}",
            )
        )
    elif keep_unknown:
        _add_attribute(found, key, value)
    else:
        hint = f"did you mean {near!r}? " if near else ""
        found.problems.append(
            (
                _shown_key(key),
                f"unknown key; {hint}Allowed: {', '.join(METADATA_KEYS)}; put keys of your own under attributes:",
            )
        )


def _take_attributes(found: DeclaredValues, key: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        found.problems.append((_shown_key(key), "expected a map of names and values"))
        return
    for name, item in value.items():
        _add_attribute(found, str(name), item)


def _add_attribute(found: DeclaredValues, key: str, value: Any) -> None:
    attributes: dict[str, Any] = found.values.setdefault("attributes", {})
    if len(attributes) >= MAX_ATTRIBUTES:
        found.problems.append((_shown_key(key), f"more than {MAX_ATTRIBUTES} attributes; keep those that filters use"))
        return
    try:
        attributes[_clean(key.strip())] = _attribute(value)
    except ValueError as error:
        found.problems.append((_shown_key(key), str(error)))


def _attribute(value: Any) -> str | int | float | bool:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, list | tuple) and all(isinstance(item, str | int | float) for item in value):
        return _text(", ".join(str(item) for item in value), None)
    if isinstance(value, list | tuple | Mapping):
        return _text(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str), None)
    return _text(value, None)


def _clean(text: str) -> str:
    # PostgreSQL stores neither NUL nor lone surrogates.
    return re.sub("[\x00\ud800-\udfff]", "\ufffd", text)


def _text(value: Any, text: str | None) -> str:
    if isinstance(value, list | tuple | Mapping):
        raise ValueError("expected text; found a list or map")  # noqa: TRY004 - one kind of problem for the caller
    cleaned = _clean((text if text is not None else str(value)).strip())
    if len(cleaned) > MAX_TEXT_CHARS:
        raise ValueError(f"longer than {MAX_TEXT_CHARS} characters; shorten it")
    return cleaned


def _list(separator: str) -> Callable[[Any, str | None], list[str]]:
    def read(value: Any, text: str | None) -> list[str]:
        if isinstance(value, Mapping):
            raise ValueError("expected a list such as [a, b]; found a map")  # noqa: TRY004 - as above
        items: Iterable[Any] = (
            value if isinstance(value, list | tuple) else re.split(separator, text if text is not None else str(value))
        )
        names = [_text(item, None) for item in items if item is not None]
        return list(dict.fromkeys(name for name in names if name))

    return read


def _date(value: Any, _: str | None) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return datetime.fromisoformat(str(value).strip()).date().isoformat()
    except ValueError:
        raise ValueError("expected a date such as 2024-01-31") from None


def _choice(name: str) -> Callable[[Any, str | None], str]:
    choices = {choice.lower().replace("_", " "): str(choice) for choice in _CHOICE_KEYS[name]}

    def read(value: Any, _: str | None) -> str:
        word = str(value).strip().lower().replace("_", " ")
        if name == "lifecycle":
            word = _LIFECYCLE_WORDS.get(word, word)
        if word not in choices:
            raise ValueError(f"expected one of {', '.join(choices.values())}")
        return choices[word]

    return read


_READERS: dict[str, Callable[[Any, str | None], Any]] = {
    **dict.fromkeys(_TEXT_KEYS, _text),
    **{name: _list(separator) for name, separator in _LIST_KEYS.items()},
    **dict.fromkeys(_DATE_KEYS, _date),
    **{name: _choice(name) for name in _CHOICE_KEYS},
}


def _check_window(found: DeclaredValues) -> None:
    start, end = found.values.get("valid_from"), found.values.get("valid_until")
    if start and end and start > end:
        found.problems.append(("valid_until", "is before valid_from, so the document is never in force; correct one"))
