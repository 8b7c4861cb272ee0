"""Names of members: from what an archive says to what a document can be called.

Nothing is ever written under such a name; it only becomes part of a document's path.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus_pipeline.inventory.listing import is_hidden, storable_name
from corpus_pipeline.records import sha256_hex

__all__ = ["MEMBER_SEPARATOR", "MemberName", "clean_name", "container_paths", "distinct_name"]

MEMBER_SEPARATOR = "!/"
"""Stands between the path of a container and the path of a member in it."""

MAX_NAME = 500


@dataclass(frozen=True)
class MemberName:
    """A cleaned name.

    Attributes:
        path: POSIX path without ``..``, never empty; the separator does not occur in it.
        hidden: The file or a folder of it begins with a dot, so that it is not looked at.
        problem: Why a file of such a name is not read; empty when it is.
    """

    path: str
    hidden: bool = False
    problem: str = ""


def clean_name(name: str) -> MemberName:
    r"""The name of a member below its container.

    >>> clean_name("a\\b.pdf").path, clean_name("/etc/x").path, clean_name("./.git/x").hidden
    ('a/b.pdf', 'etc/x', True)
    >>> clean_name("../x").path, bool(clean_name("../x").problem)
    ('%2E%2E/x', True)
    """
    parts = [part for part in storable_name(name).replace("\\", "/").split("/") if part not in {"", "."}]
    leaving = ".." in parts
    shown = ["%2E%2E" if part == ".." else part for part in parts] or ["unnamed"]
    shown = [f"{part[:-1]}%21" if part.endswith("!") else part for part in shown[:-1]] + shown[-1:]
    path = "/".join(shown)
    if leaving:
        problem = "its name leads out of the archive with .. and it is not read; pack it again with a plain name"
        return MemberName(_shortened(path), problem=problem)
    if len(path) > MAX_NAME:
        problem = f"its name has {len(path)} characters, at most {MAX_NAME} are accepted; pack it with a shorter one"
        return MemberName(_shortened(path), problem=problem)
    return MemberName(path, hidden=any(is_hidden(part) for part in parts))


def distinct_name(path: str, taken: dict[str, int]) -> str:
    """The path, or with a number in it when it is taken already.

    Args:
        path: Wanted.
        taken: Number reached under each path so far; the result is added.

    >>> taken = {"a/x (2).pdf": 1}
    >>> [distinct_name("a/x.pdf", taken) for _ in range(3)]
    ['a/x.pdf', 'a/x (3).pdf', 'a/x (4).pdf']
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    number, found = taken.get(path, 1), path
    while found in taken:
        number += 1
        found = f"{folder}{slash}{stem} ({number}){dot}{extension}"
    taken[path] = number
    taken[found] = 1 if found != path else number
    return found


def container_paths(path: str, container: str) -> list[str]:
    """Paths of the containers around a member, outermost first.

    >>> container_paths("a.zip!/b/c.eml!/d.pdf", "a.zip")
    ['a.zip', 'a.zip!/b/c.eml']
    """
    inner = path[len(container) + len(MEMBER_SEPARATOR) :].split(MEMBER_SEPARATOR)
    return [MEMBER_SEPARATOR.join([container, *inner[:depth]]) for depth in range(len(inner))]


def _shortened(path: str) -> str:
    return path if len(path) <= MAX_NAME else f"{path[:60]}…{sha256_hex(path)[:12]}"
