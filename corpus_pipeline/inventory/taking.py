"""The stage: lists the source, reads what is new, merges metadata, guards removals, records changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from corpus_pipeline.errors import SourceUnavailableError
from corpus_pipeline.inventory import repository
from corpus_pipeline.inventory.changes import Removals, SourceChange, find_changes, guard_removals
from corpus_pipeline.inventory.listing import FoundFile, Listing, sort_files, storable_name
from corpus_pipeline.inventory.local_listing import local_files
from corpus_pipeline.inventory.manifest import MAX_MANIFEST_BYTES, Manifest, read_manifest
from corpus_pipeline.inventory.precedence import (
    FRONT_MATTER,
    MANIFEST,
    SIDECAR,
    Layer,
    documents_layer,
    merge_layers,
    narrowed_to_nobody,
)
from corpus_pipeline.inventory.reading import (
    Reading,
    extension_of,
    read_all,
    read_document,
    read_sidecar_file,
    still_holds,
)
from corpus_pipeline.inventory.remote_listing import remote_files
from corpus_pipeline.inventory.sidecars import match_sidecars
from corpus_pipeline.records import SourceFile, Stage, canonical_json, sha256_hex
from corpus_pipeline.registry import CorpusSpec, GlobSet, is_local, local_folder
from corpus_pipeline.store import StageContext, StageResult, open_stage

__all__ = ["take_inventory"]

REMOTE_THREADS = 16
MAX_PROBLEMS = 20
METADATA_PARTS = (
    "source_class", "source_type", "domain", "product", "audience", "answer_use", "access_groups", "lifecycle",
    "trust_level", "owner", "documents",
)  # fmt: skip
"""Parts of a corpus's entry that end in the metadata of its documents."""


@dataclass
class _Before:
    """What the database knows of a corpus."""

    files: dict[str, SourceFile]
    readings: dict[str, Reading]
    holds: list[repository.Hold]


@dataclass
class _Scan:
    """What was found and read now."""

    listing: Listing
    documents: dict[str, Reading] = field(default_factory=dict)
    sidecars: dict[str, Reading] = field(default_factory=dict)
    manifest: Manifest = field(default_factory=Manifest)
    files_read: int = 0


def take_inventory(context: StageContext) -> StageResult:
    """Makes the inventory of a corpus: every file with hash and declared metadata.

    Files whose change token is the same as last time are not opened. Missing files are removed
    with a record, or all kept when too many are missing at once (:func:`guard_removals`).

    Raises:
        SourceUnavailableError: The source cannot be listed completely; nothing was changed.
        RegistryError: The manifest cannot be used; nothing was changed.
        CorpusBusyError: Another run works on this corpus.
    """
    corpus = context.spec.slug
    with open_stage(context, Stage.SOURCE_INVENTORY) as run:
        with context.database.connection() as connection:
            before = _Before(
                {file.document_id: file for file in repository.source_files(connection, corpus)},
                repository.read_readings(connection, corpus),
                repository.read_holds(connection, corpus),
            )
        scan = _read_source(context, before)
        found, orphans = _describe(context.spec, scan)
        approvals = {hold.document_id: hold.approved_by for hold in before.holds if hold.approved_by is not None}
        removals = guard_removals(before.files, found, approvals, context.spec.gates.max_removed_ratio)
        after = dict(sorted((found | {one: before.files[one] for one in removals.held}).items()))
        changes = _changes(context, before, after, removals, approvals)
        _note(context, removals, orphans)
        counts = _counts(scan, after, changes, removals, orphans)
        with run.commit(output_sha256=_output_sha256(context.spec, after), counts=counts) as connection:
            repository.write_inventory(
                connection,
                corpus,
                before=before.files,
                after=after,
                changes=changes,
                held=removals.held,
                holds=[hold.document_id for hold in before.holds],
                run_id=context.run_id,
            )
            repository.delete_readings(connection, corpus, _forgotten(before, scan, removals))
    return run.result


def _read_source(context: StageContext, before: _Before) -> _Scan:
    listing = _list_source(context)
    scan = _Scan(listing)
    scan.manifest = _read_manifest(context.spec, listing)
    scan.sidecars = _read_files(context, scan, listing.sidecars, read_sidecar_file, before.readings)
    scan.documents = _read_files(context, scan, listing.documents, read_document, before.readings)
    return scan


def _list_source(context: StageContext) -> Listing:
    spec = context.spec
    context.progress.start(Stage.SOURCE_INVENTORY, None, "listing files")
    if not is_local(spec.source.url):
        return sort_files(spec, remote_files(spec), frozenset())
    root = local_folder(spec.source.url, spec.base_folder)
    own = [context.registry.path.absolute(), context.settings.config.absolute(), spec.golden_queries_path]
    real_root = root.resolve()
    never = frozenset(
        path.resolve().relative_to(real_root).as_posix()
        for path in own
        if path is not None and path.resolve().is_relative_to(real_root)
    )
    files = local_files(root, GlobSet(spec.source.exclude), context.settings.state_folder.resolve())
    return sort_files(spec, files, never)


def _read_manifest(spec: CorpusSpec, listing: Listing) -> Manifest:
    name = spec.source.manifest
    if name is None:
        return Manifest()
    if listing.manifest is None or listing.manifest.doubt:
        raise SourceUnavailableError(
            f"the manifest {name} of corpus {spec.slug!r} is not in the source",
            remedy="Put it back, or remove source.manifest from corpora.yaml. Nothing was changed in the corpus.",
        )
    try:
        with listing.manifest.open() as stream:
            content = stream.read(MAX_MANIFEST_BYTES)
    except Exception as error:  # each fsspec file system raises its own
        raise SourceUnavailableError(
            f"the manifest {name} of corpus {spec.slug!r} cannot be read: {type(error).__name__}",
            remedy="Let this user read it. Nothing was changed in the corpus.",
        ) from error
    return read_manifest(content, name)


def _read_files(
    context: StageContext,
    scan: _Scan,
    files: Mapping[str, FoundFile],
    read: Callable[[FoundFile], Reading],
    kept: Mapping[str, Reading],
) -> dict[str, Reading]:
    """Readings of all files: kept ones where they still hold, the others now, saved as they come."""
    readings = {path: kept[path] for path, file in files.items() if still_holds(file, kept.get(path))}
    unread = [file for path, file in files.items() if path not in readings]
    for file in unread:
        if file.doubt:
            readings[file.relative_path] = Reading(file.relative_path, "", "", 0, unreadable=file.doubt)
    to_read = [file for file in unread if not file.doubt]
    local = is_local(context.spec.source.url)
    threads = context.settings.worker_count if local else REMOTE_THREADS
    context.progress.start(Stage.SOURCE_INVENTORY, len(to_read), "reading new files")
    for batch in read_all(to_read, read, threads=threads):
        readings |= {reading.path: reading for reading in batch}
        with context.database.connection() as connection:
            repository.save_readings(connection, context.spec.slug, (one for one in batch if one.change_token))
        context.progress.advance(len(batch))
    scan.files_read += len(to_read)
    return readings


def _describe(spec: CorpusSpec, scan: _Scan) -> tuple[dict[str, SourceFile], list[str]]:
    """The records of all files by id, and what metadata belongs to no file."""
    matched, orphans = match_sidecars(scan.listing.documents, scan.listing.sidecars)
    files = {}
    for path, found in scan.listing.documents.items():
        sidecar = scan.sidecars[matched[path]] if path in matched else None
        file = _source_file(spec, found, scan.documents[path], sidecar, scan.manifest)
        files[file.document_id] = file
    orphans += [
        f"{spec.source.manifest}: {path}" for path in sorted(scan.manifest.rows.keys() - scan.listing.documents)
    ]
    return files, orphans


def _source_file(
    spec: CorpusSpec, found: FoundFile, reading: Reading, sidecar: Reading | None, manifest: Manifest
) -> SourceFile:
    path = found.relative_path
    row = manifest.rows.get(path)
    problems = [*([reading.unreadable] if reading.unreadable else []), *reading.problems]
    layers: list[Layer] = [(FRONT_MATTER, reading.declared)]
    if row is not None:
        layers.append((MANIFEST, row.declared))
        problems += row.problems
    if sidecar is not None:
        closed = bool(sidecar.unreadable)
        layers.append((SIDECAR, {"acl_groups": []} if closed else sidecar.declared))
        problems += [f"{sidecar.path} {sidecar.unreadable}; until then nobody sees it"] if closed else sidecar.problems
    values, origins = merge_layers([*layers, documents_layer(spec, path)])
    if narrowed_to_nobody(spec, values, origins):
        problems.append("its front matter names only groups outside access_groups, so nobody sees it; use a sidecar")
    return SourceFile(
        corpus=spec.slug,
        document_id=f"{spec.slug}/{path}",
        relative_path=path,
        source_uri=found.source_uri,
        sha256=reading.sha256,
        size_bytes=reading.size_bytes if reading.sha256 else found.size_bytes,
        modified_at=found.modified_at,
        extension=extension_of(path),
        declared=values,
        declared_by=origins,
        doubt=_doubt(problems),
    )


def _doubt(problems: list[str]) -> str:
    more = len(problems) - MAX_PROBLEMS
    shown = [*problems[:MAX_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
    return storable_name("\n".join(shown))


def _changes(
    context: StageContext,
    before: _Before,
    after: Mapping[str, SourceFile],
    removals: Removals,
    approvals: Mapping[str, str],
) -> list[SourceChange]:
    new = [one for one in after if one not in before.files]
    with context.database.connection() as connection:
        returned = repository.removed_documents(connection, context.spec.slug, new) if new else set()
    reappeared = {hold.document_id for hold in before.holds} - set(removals.held) - set(removals.removed)
    return find_changes(before.files, after, restored=returned | reappeared, approvals=approvals)


def _note(context: StageContext, removals: Removals, orphans: Iterable[str]) -> None:
    for orphan in orphans:
        context.progress.note(f"metadata for a file that is not in the corpus: {orphan}")
    if removals.held:
        context.progress.note(
            f"{len(removals.held)} files are missing from the source and were kept; "
            "restore them, or approve their removal"
        )


def _counts(
    scan: _Scan,
    after: Mapping[str, SourceFile],
    changes: Iterable[SourceChange],
    removals: Removals,
    orphans: list[str],
) -> dict[str, int]:
    kinds = [change.change for change in changes]
    return {
        "files": len(after),
        "added": kinds.count("added"),
        "changed": kinds.count("changed"),
        "removed": kinds.count("removed"),
        "restored": kinds.count("restored"),
        "renamed": sum(change.renamed_from is not None for change in changes),
        "held_removals": len(removals.held),
        "files_read": scan.files_read,
        "excluded": scan.listing.excluded,
        "sidecars": len(scan.listing.sidecars),
        "orphan_metadata": len(orphans),
        "doubtful": sum(bool(file.doubt) for file in after.values()),
        "unreadable": sum(not file.sha256 for file in after.values()),
    }


def _output_sha256(spec: CorpusSpec, files: Mapping[str, SourceFile]) -> str:
    rows = [
        (file.document_id, file.sha256, file.extension, file.declared, file.declared_by, file.doubt)
        for file in files.values()
    ]
    return sha256_hex(spec.digest(*METADATA_PARTS) + canonical_json(rows))


def _forgotten(before: _Before, scan: _Scan, removals: Removals) -> set[str]:
    held = {before.files[one].relative_path for one in removals.held}
    return before.readings.keys() - scan.documents.keys() - scan.sidecars.keys() - held
