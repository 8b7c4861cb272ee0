"""The stage: lists the source, reads what is new, merges metadata, guards removals, records changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from corpus_pipeline.errors import SourceUnavailableError
from corpus_pipeline.inventory import repository
from corpus_pipeline.inventory.changes import Removals, SourceChange, find_changes, guard_removals
from corpus_pipeline.inventory.container_contents import ContainerContents
from corpus_pipeline.inventory.descriptions import describe_files, document_id
from corpus_pipeline.inventory.listing import FoundFile, Listing, sort_files
from corpus_pipeline.inventory.local_listing import local_files
from corpus_pipeline.inventory.manifest import MAX_MANIFEST_BYTES, Manifest, read_manifest
from corpus_pipeline.inventory.opening import Members, open_containers
from corpus_pipeline.inventory.reading import (
    Reading,
    read_all,
    read_document,
    read_sidecar_file,
    still_holds,
)
from corpus_pipeline.inventory.remote_listing import remote_files
from corpus_pipeline.records import SourceFile, Stage, canonical_json, sha256_hex
from corpus_pipeline.registry import CorpusSpec, GlobSet, is_local, local_folder
from corpus_pipeline.store import StageContext, StageResult, open_stage

__all__ = ["take_inventory"]

REMOTE_THREADS = 16
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
    containers: dict[str, ContainerContents]


@dataclass
class _Scan:
    """What was found and read now."""

    listing: Listing
    documents: dict[str, Reading] = field(default_factory=dict)
    sidecars: dict[str, Reading] = field(default_factory=dict)
    manifest: Manifest = field(default_factory=Manifest)
    members: Members = field(default_factory=Members)
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
                repository.read_containers(connection, corpus),
            )
        scan = _read_source(context, before)
        found, orphans = describe_files(
            context.spec, scan.listing, scan.documents, scan.sidecars, scan.manifest, scan.members
        )
        purged = _purged(context, found)
        found = {one: file for one, file in found.items() if one not in purged}
        approvals = {hold.document_id: hold.approved_by for hold in before.holds if hold.approved_by is not None}
        opened = {document_id(context.spec, path) for path in scan.members.archives}
        removals = guard_removals(before.files, found.keys() | opened, approvals, context.spec.gates.max_removed_ratio)
        after = dict(sorted((found | {one: before.files[one] for one in removals.held}).items()))
        changes = _changes(context, before, after, removals, approvals)
        _note(context, scan, removals, orphans)
        counts = _counts(scan, after, changes, removals, orphans) | {"purged": len(purged)}
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
            forgotten = _forgotten(before, scan, removals)
            left_out = {path for file in purged.values() for path in (file.relative_path, file.container)}
            repository.delete_readings(connection, corpus, (before.readings.keys() & forgotten) | left_out)
            repository.delete_containers(connection, corpus, (before.containers.keys() & forgotten) | left_out)
    return run.result


def _read_source(context: StageContext, before: _Before) -> _Scan:
    listing = _list_source(context)
    scan = _Scan(listing)
    scan.manifest = _read_manifest(context.spec, listing)
    scan.sidecars = _read_files(context, scan, listing.sidecars, read_sidecar_file, before.readings)
    scan.documents = _read_files(context, scan, listing.documents, read_document, before.readings)
    scan.members = open_containers(context, listing, scan.documents, scan.sidecars, before.containers)
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


def _purged(context: StageContext, found: Mapping[str, SourceFile]) -> dict[str, SourceFile]:
    """Files among those found that were purged for good; what was read of them now is not kept either."""
    with context.database.connection() as connection:
        hashes = repository.purged_files(connection, {file.sha256 for file in found.values()})
    purged = {one: file for one, file in found.items() if file.sha256 in hashes}
    if purged:
        context.progress.note(f"{len(purged)} files were purged and are left out")
    return purged


def _note(context: StageContext, scan: _Scan, removals: Removals, orphans: Iterable[str]) -> None:
    for archive in sorted(scan.members.archives - set(scan.members.containers.values())):
        context.progress.note(f"{archive}: source.include and source.exclude take none of its members")
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
        "excluded": scan.listing.excluded + scan.members.excluded,
        "sidecars": len(scan.listing.sidecars),
        "orphan_metadata": len(orphans),
        "doubtful": sum(bool(file.doubt) for file in after.values()),
        "unreadable": sum(not file.sha256 and not file.refusal for file in after.values()),
        "containers": len(set(scan.members.containers.values()) | scan.members.archives),
        "containers_opened": scan.members.opened,
        "members": sum(bool(file.container) for file in after.values()),
    }


def _output_sha256(spec: CorpusSpec, files: Mapping[str, SourceFile]) -> str:
    rows = [
        (file.document_id, file.sha256, file.extension, file.declared, file.declared_by, file.doubt)
        + ((file.refusal,) if file.refusal else ())
        for file in files.values()
    ]
    return sha256_hex(spec.digest(*METADATA_PARTS) + canonical_json(rows))


def _forgotten(before: _Before, scan: _Scan, removals: Removals) -> set[str]:
    held = [before.files[one] for one in removals.held]
    kept = {file.relative_path for file in held} | {file.container for file in held}
    return (before.readings.keys() | before.containers.keys()) - scan.documents.keys() - scan.sidecars.keys() - kept
