"""YAML with the line of every key, so that a fault can name where it is.

Duplicate keys, aliases that contain themselves and texts that are no YAML are faults here,
not exceptions: one reading reports everything that is wrong with a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from corpus_pipeline.errors import Fault

__all__ = ["KeyPath", "LocatedYaml", "dotted", "parse_yaml"]

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a document down to a value."""

MAX_NODES = 100_000  # aliases can make a small file expand without end
MAX_OPEN_BRACKETS = 100  # the scanner's time grows with the cube of their number
_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class LocatedYaml:
    """A YAML document as plain values, with positions.

    Attributes:
        value: Maps (keys always text), lists and scalars; ``None`` for an empty document.
        lines: 1-based line of the key or list item at each path.
        texts: Each scalar as it was written, so that version ``1.10`` stays ``1.10``.
        faults: What is wrong with the YAML itself.
    """

    value: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    texts: Mapping[KeyPath, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def line(self, path: KeyPath) -> int:
        """Line of ``path`` or of the nearest level above it that the file has; 0 when it has none."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 0


def dotted(path: KeyPath) -> str:
    """A path for messages.

    >>> dotted(("corpora", "policies", "source", "include", 0))
    'corpora.policies.source.include[0]'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def parse_yaml(text: str, file: str, *, first_line: int = 1) -> LocatedYaml:
    """Reads one YAML document.

    Args:
        text: The document.
        file: Name for faults.
        first_line: Line of the file at which ``text`` begins, for front matter.
    """
    reader = _Reader(file, first_line)
    try:
        _demand_shallow(text)
        node = YAML(typ="safe", pure=True).compose(text)
        value = reader.read(node, ()) if node is not None else None
    except MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        return LocatedYaml(None, faults=(_broken(file, first_line + line, str(error.problem)),))
    except YAMLError as error:
        return LocatedYaml(None, faults=(_broken(file, first_line, _without_excerpt(error)),))
    except RecursionError:
        return LocatedYaml(None, faults=(_broken(file, first_line, "it is nested too deeply"),))
    except _TooLargeError:
        message = "aliases expand too far, or the file has too many values; write less, without aliases"
        return LocatedYaml(None, faults=(Fault(file, first_line, "(file)", message),))
    return LocatedYaml(value, reader.lines, reader.texts, tuple(reader.faults))


def _broken(file: str, line: int, problem: str) -> Fault:
    return Fault(
        file,
        line,
        "(file)",
        f"is not valid YAML: {problem}; check the indentation, and put text with ': ' or '#' in quotes",
    )


def _without_excerpt(error: YAMLError) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class _TooLargeError(Exception):
    """More nodes than any honest file has."""


def _demand_shallow(text: str) -> None:
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        if depth > MAX_OPEN_BRACKETS:
            raise RecursionError


class _Reader:
    """Turns nodes into plain values and notes where each was."""

    def __init__(self, file: str, first_line: int) -> None:
        self.file = file
        self.first_line = first_line
        self.lines: dict[KeyPath, int] = {}
        self.texts: dict[KeyPath, str] = {}
        self.faults: list[Fault] = []
        self._open: set[int] = set()
        self._nodes = 0

    def read(self, node: Node, path: KeyPath) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _TooLargeError
        if id(node) in self._open:
            self._fault(node, path, "an alias contains itself; write the value out")
            return None
        self._open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self._mapping(node, path)
            if isinstance(node, SequenceNode):
                return self._sequence(node, path)
            return self._scalar(node, path)
        finally:
            self._open.discard(id(node))

    def _line(self, node: Node) -> int:
        return self.first_line + int(node.start_mark.line)

    def _fault(self, node: Node, path: KeyPath, message: str) -> None:
        self.faults.append(Fault(self.file, self._line(node), dotted(path) or "(file)", message))

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if str(key_node.tag) == f"{_TAG}merge":
                merged.update(self._merged(value_node, path))
                continue
            if not isinstance(key_node, ScalarNode):
                self._fault(key_node, path, "a key must be plain text; found a list or map")
                continue
            key = str(key_node.value)
            if key in values:
                first = self.lines[(*path, key)]
                self._fault(key_node, (*path, key), f"is written twice, first on line {first}; keep one of them")
                continue
            self.lines[(*path, key)] = self._line(key_node)
            values[key] = self.read(value_node, (*path, key))
        return {**merged, **values}

    def _merged(self, node: Node, path: KeyPath) -> dict[str, Any]:
        value = self.read(node, path)
        maps = value if isinstance(value, list) else [value]
        return {key: item for part in reversed(maps) if isinstance(part, dict) for key, item in part.items()}

    def _sequence(self, node: SequenceNode, path: KeyPath) -> list[Any]:
        values = []
        for position, item in enumerate(node.value):
            self.lines[(*path, position)] = self._line(item)
            values.append(self.read(item, (*path, position)))
        return values

    def _scalar(self, node: Node, path: KeyPath) -> Any:
        text = str(node.value)
        self.texts[path] = text
        read = _SCALARS.get(str(node.tag))
        if read is None:
            return text
        try:
            return read(text)
        except ValueError:
            return text  # a number or date only at first sight, such as 2024-13-45


def _read_int(text: str) -> int:
    return int(text.replace("_", ""), 0) if text.lstrip("+-")[:2].lower() in {"0x", "0o", "0b"} else int(text)


def _read_float(text: str) -> float:
    return float(text.replace(".inf", "inf").replace(".nan", "nan").replace("_", "").lower())


def _read_time(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == len("2024-01-31") else datetime.fromisoformat(text)


_SCALARS: dict[str, Callable[[str], Any]] = {
    f"{_TAG}null": lambda _: None,
    f"{_TAG}bool": lambda text: text.lower() == "true",
    f"{_TAG}int": _read_int,
    f"{_TAG}float": _read_float,
    f"{_TAG}timestamp": _read_time,
}
