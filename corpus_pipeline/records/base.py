"""Hashes and the form in JSON of what crosses rooms, and what all records are."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ["Record", "as_json", "canonical_json", "sha256_hex"]


def sha256_hex(data: bytes | str) -> str:
    """Lower-case hexadecimal SHA-256; text is hashed as UTF-8.

    >>> sha256_hex("")[:12]
    'e3b0c44298fc'
    """
    return hashlib.sha256(data.encode("utf-8") if isinstance(data, str) else data).hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so that equal values have equal hashes.

    >>> canonical_json({"b": 1, "a": [2]})
    '{"a":[2],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=as_json)


def as_json(value: object) -> object:
    """The JSON form of a record, a date or a set, for ``json.dumps(default=…)``."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"no JSON form for {type(value).__name__}")


class Record(BaseModel):
    """Base of the records: frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
