"""``${VAR}`` in the few values that may hold a secret or differ between machines."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["expand_variables", "has_variable", "unset_variables"]

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def has_variable(text: str) -> bool:
    """Whether the text refers to an environment variable."""
    return any(match.group(1) is not None for match in _REFERENCE.finditer(text))


def unset_variables(text: str, environment: Mapping[str, str]) -> list[str]:
    """Faults of the references in a text, each as a message; empty when all can be filled in.

    >>> unset_variables("${HOST}/docs", {"HOST": "h"})
    []
    """
    faults = []
    for match in _REFERENCE.finditer(text):
        name = match.group(1)
        if name is None:
            continue
        if not _NAME.fullmatch(name):
            faults.append("has a reference without a valid name; write ${NAME}, or $${ for a literal ${")
        elif name not in environment:
            faults.append(f"the environment variable {name} is not set; export it before the run")
    return faults


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Fills in the references; ``$${`` stands for a literal ``${``.

    >>> expand_variables("s3://${BUCKET}/docs", {"BUCKET": "b"})
    's3://b/docs'
    """
    return _REFERENCE.sub(
        lambda match: "${" if match.group(1) is None else environment.get(match.group(1), match.group(0)), text
    )
