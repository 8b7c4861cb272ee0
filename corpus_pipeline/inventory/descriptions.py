"""The records of the files of a corpus: what was found, what was read, whose metadata counts.

Metadata of a container holds for its members too, except what can only be meant for the container
itself. What a container says of its members (sidecars inside it) is what documents say of
themselves: it may narrow their access, never widen it, because a container comes from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from corpus_pipeline.inventory.listing import FoundFile, Listing, storable_name
from corpus_pipeline.inventory.manifest import Manifest
from corpus_pipeline.inventory.member_names import container_paths
from corpus_pipeline.inventory.opening import Members
from corpus_pipeline.inventory.precedence import (
    FRONT_MATTER,
    INNER_SIDECAR,
    MANIFEST,
    SIDECAR,
    Layer,
    documents_layer,
    merge_layers,
    narrowed_to_nobody,
)
from corpus_pipeline.inventory.reading import Reading, extension_of
from corpus_pipeline.inventory.sidecars import match_sidecars
from corpus_pipeline.records import SourceFile
from corpus_pipeline.registry import PASSWORD_KEY, CorpusSpec

__all__ = ["describe_files", "document_id"]

MAX_PROBLEMS = 20
_OF_THE_CONTAINER_ALONE = frozenset({"title", "supersedes", "superseded_by", PASSWORD_KEY})


@dataclass(frozen=True)
class _Sources:
    """Where metadata can come from, by path of the file it is for."""

    spec: CorpusSpec
    manifest: Manifest
    sidecars: Mapping[str, Reading]
    inner_sidecars: Mapping[str, Reading]


def document_id(spec: CorpusSpec, relative_path: str) -> str:
    """The id of a document of a corpus."""
    return f"{spec.slug}/{relative_path}"


def describe_files(
    spec: CorpusSpec,
    listing: Listing,
    readings: Mapping[str, Reading],
    sidecars: Mapping[str, Reading],
    manifest: Manifest,
    members: Members,
) -> tuple[dict[str, SourceFile], list[str]]:
    """The records of all files by id, and what metadata belongs to no file.

    Args:
        spec: Of the corpus.
        listing: Files and containers.
        readings: Of the documents of ``listing``.
        sidecars: Readings of its sidecars.
        manifest: Metadata by path.
        members: Of the containers.
    """
    matched, orphans = match_sidecars(listing.documents, listing.sidecars)
    inner, inner_orphans = match_sidecars(members.documents, members.sidecars)
    sources = _Sources(
        spec,
        manifest,
        {path: sidecars[sidecar] for path, sidecar in matched.items()},
        {path: members.sidecars[sidecar] for path, sidecar in inner.items()},
    )
    found = {path: file for path, file in listing.documents.items() if path not in members.archives}
    all_readings = {**readings, **members.readings}
    files = {}
    for path, file in (found | members.documents).items():
        described = _source_file(sources, file, all_readings[path], members)
        files[described.document_id] = described
    known = listing.documents.keys() | members.documents.keys()
    orphans += inner_orphans
    orphans += [f"{spec.source.manifest}: {path}" for path in sorted(manifest.rows.keys() - known)]
    return files, orphans


def _source_file(sources: _Sources, found: FoundFile, reading: Reading, members: Members) -> SourceFile:
    path = found.relative_path
    container = members.containers.get(path, "")
    reason, message = members.refusals.get(path, ("", ""))
    problems = [*([message] if message else []), *([reading.unreadable] if reading.unreadable else [])]
    problems += reading.problems
    chain = [*(container_paths(path, container) if container else []), path]
    layers: list[Layer] = [(FRONT_MATTER, reading.declared), *_layers(sources, chain)]
    problems += _problems(sources, path)
    values, origins = merge_layers(layers)
    if narrowed_to_nobody(sources.spec, values, origins):
        problems.append("its front matter names only groups outside access_groups, so nobody sees it; use a sidecar")
    return SourceFile(
        corpus=sources.spec.slug,
        document_id=document_id(sources.spec, path),
        relative_path=path,
        source_uri=found.source_uri,
        sha256=reading.sha256,
        size_bytes=reading.size_bytes if reading.sha256 else found.size_bytes,
        modified_at=found.modified_at,
        extension=extension_of(path),
        declared=values,
        declared_by=origins,
        doubt=_doubt(problems),
        container=container,
        refusal=str(reason),
    )


def _layers(sources: _Sources, chain: list[str]) -> Iterator[Layer]:
    """Declarations for a file and the containers around it, weakest origin first, outermost container first."""
    for path in chain:
        if path in sources.inner_sidecars:
            declared = _sidecar_values(sources.inner_sidecars[path])
            own = {key: value for key, value in declared.items() if key != PASSWORD_KEY}
            yield INNER_SIDECAR, _inherited(own, path, chain)
    for path in chain:
        if path in sources.manifest.rows:
            yield MANIFEST, _inherited(sources.manifest.rows[path].declared, path, chain)
    for path in chain:
        if path in sources.sidecars:
            yield SIDECAR, _inherited(_sidecar_values(sources.sidecars[path]), path, chain)
    for path in chain:
        origin, declared = documents_layer(sources.spec, path)
        yield origin, _inherited(declared, path, chain)


def _inherited(declared: Mapping[str, Any], path: str, chain: list[str]) -> Mapping[str, Any]:
    if path == chain[-1]:
        return declared
    return {key: value for key, value in declared.items() if key not in _OF_THE_CONTAINER_ALONE}


def _sidecar_values(sidecar: Reading) -> Mapping[str, Any]:
    return {"acl_groups": []} if sidecar.unreadable else sidecar.declared


def _problems(sources: _Sources, path: str) -> Iterator[str]:
    """What is wrong with the metadata of a file itself."""
    if path in sources.manifest.rows:
        yield from sources.manifest.rows[path].problems
    for sidecar in (sources.inner_sidecars.get(path), sources.sidecars.get(path)):
        if sidecar is not None and sidecar.unreadable:
            yield f"{sidecar.path} {sidecar.unreadable}; until then nobody sees it"
        elif sidecar is not None:
            yield from sidecar.problems


def _doubt(problems: Iterable[str]) -> str:
    listed = list(problems)
    more = len(listed) - MAX_PROBLEMS
    shown = [*listed[:MAX_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
    return storable_name("\n".join(shown))
