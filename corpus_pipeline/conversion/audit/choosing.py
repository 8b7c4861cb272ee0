"""Which files an audit looks at: a few of every format."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from corpus_pipeline.records import SourceFile

__all__ = ["choose_files"]


def choose_files(
    files: Iterable[SourceFile], formats: Mapping[str, str], per_format: int
) -> list[tuple[str, SourceFile]]:
    """Format and file, sorted by format.

    Of each format files of evenly spread size are taken, so that neither the shortest nor the longest
    stands for all; the choice depends on the files alone.

    Args:
        files: The readable files of a corpus.
        formats: Format by document id, for files that were converted; others go by their extension.
        per_format: Most files of each format.
    """
    groups: dict[str, list[SourceFile]] = defaultdict(list)
    for file in files:
        groups[formats.get(file.document_id) or f"not converted: {file.extension or 'no extension'}"].append(file)
    chosen = []
    for name in sorted(groups):
        members = sorted(groups[name], key=lambda file: (file.size_bytes, file.document_id))
        wanted = min(per_format, len(members))
        positions = sorted({int((number + 0.5) * len(members) / wanted) for number in range(wanted)})
        chosen += [(name, members[position]) for position in positions]
    return chosen
