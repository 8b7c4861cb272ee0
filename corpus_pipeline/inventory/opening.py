"""Opens the containers among the files of a corpus and lists their members beside the files.

A container whose bytes, limits and password are as before is not opened again.
"""

from __future__ import annotations

import hashlib
import queue
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from corpus_pipeline.compute import ScratchFolder
from corpus_pipeline.inventory import repository
from corpus_pipeline.inventory.container_contents import ContainerContents, ContainerMember, read_contents
from corpus_pipeline.inventory.container_format import ContainerKind
from corpus_pipeline.inventory.containers import ContainerOpener, OpenedContainer, opened_with
from corpus_pipeline.inventory.file_passwords import FilePasswords
from corpus_pipeline.inventory.listing import FoundFile, Listing
from corpus_pipeline.inventory.member_names import MEMBER_SEPARATOR
from corpus_pipeline.inventory.reading import CHUNK_BYTES, Reading
from corpus_pipeline.inventory.sidecars import match_sidecars
from corpus_pipeline.records import QuarantineReason, Stage
from corpus_pipeline.registry import PASSWORD_KEY, CorpusSpec, GlobSet
from corpus_pipeline.store import StageContext

__all__ = ["Members", "open_containers"]


@dataclass
class Members:
    """What the containers of a corpus hold, sorted by what it is for.

    Attributes:
        documents: Files by path, in the order of containers and members.
        readings: What reading them gave, by path.
        sidecars: What sidecars inside containers declare, by path.
        containers: Container of each document, by path.
        refusals: Class and message of containers and members that can never be converted, by path.
        archives: Containers that are no documents themselves and were opened.
        excluded: Members that the globs leave out.
        opened: Containers that were opened now, rather than taken over.
    """

    documents: dict[str, FoundFile] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    sidecars: dict[str, Reading] = field(default_factory=dict)
    containers: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, tuple[QuarantineReason, str]] = field(default_factory=dict)
    archives: set[str] = field(default_factory=set)
    excluded: int = 0
    opened: int = 0


@dataclass(frozen=True)
class _Candidate:
    """A file that may be a container, and what opens it."""

    file: FoundFile
    reading: Reading
    password: str | None = field(repr=False)
    opened_with: str


def open_containers(
    context: StageContext,
    listing: Listing,
    readings: Mapping[str, Reading],
    sidecars: Mapping[str, Reading],
    kept: Mapping[str, ContainerContents],
) -> Members:
    """Lists the members of all containers of a corpus.

    Args:
        context: Of the stage.
        listing: Its documents may be containers.
        readings: Of all documents.
        sidecars: Readings of all sidecars; one may hold a password.
        kept: Contents of containers as of the last inventory, by path.
    """
    candidates = _candidates(context.spec, listing, readings, sidecars)
    found = {
        path: kept[path]
        for path, candidate in candidates.items()
        if path in kept and kept[path].holds_for(candidate.reading.sha256, candidate.opened_with)
    }
    unopened = [candidate for path, candidate in candidates.items() if path not in found]
    for contents in _open_all(context, unopened):
        found[contents.path] = contents
    members = Members(opened=len(unopened))
    for path in candidates:
        _add(context.spec, members, listing, found[path])
    return members


def _candidates(
    spec: CorpusSpec, listing: Listing, readings: Mapping[str, Reading], sidecars: Mapping[str, Reading]
) -> dict[str, _Candidate]:
    passwords = FilePasswords(spec)
    paths = [path for path in listing.documents if readings[path].may_be_container]
    matched, _ = match_sidecars(paths, listing.sidecars)
    candidates = {}
    for path in paths:
        beside = path in matched and PASSWORD_KEY in sidecars[matched[path]].declared
        password = passwords.of_path(path, beside=beside)
        digest = opened_with(spec.conversion.limits, password)
        candidates[path] = _Candidate(listing.documents[path], readings[path], password, digest)
    return candidates


def _open_all(context: StageContext, candidates: list[_Candidate]) -> Iterator[ContainerContents]:
    """Contents of containers as they are opened, each kept at once."""
    if not candidates:
        return
    context.progress.start(Stage.SOURCE_INVENTORY, len(candidates), "opening archives and mails")
    threads = min(context.settings.worker_count, len(candidates))
    openers: queue.SimpleQueue[ContainerOpener] = queue.SimpleQueue()
    with ExitStack() as stack:
        scratch = stack.enter_context(ScratchFolder(context.settings.state_folder / "scratch", "containers"))
        for _ in range(threads):
            openers.put(stack.enter_context(ContainerOpener(context.spec.conversion.limits)))
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=threads, thread_name_prefix="containers"))

        def opened(candidate: _Candidate) -> ContainerContents:
            opener = openers.get()
            try:
                return _open(opener, candidate, scratch.path)
            finally:
                openers.put(opener)

        for contents in pool.map(opened, candidates):
            with context.database.connection() as connection:
                if contents.reason != QuarantineReason.UNREADABLE:
                    repository.save_container(connection, context.spec.slug, contents)
            context.progress.advance()
            yield contents


def _open(opener: ContainerOpener, candidate: _Candidate, scratch: Path) -> ContainerContents:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    container, members = folder / "container", folder / "members"
    members.mkdir()
    try:
        fault = _copy(candidate.file, candidate.reading, container)
        if fault:
            opened = OpenedContainer(None, QuarantineReason.UNREADABLE, fault)
        else:
            name = candidate.file.relative_path.rpartition("/")[2]
            opened = opener.open(container, name, members, password=candidate.password)
        return read_contents(candidate.reading, candidate.opened_with, opened, members)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(file: FoundFile, reading: Reading, target: Path) -> str:
    """Copies the bytes that were read; what is wrong when they are others now."""
    digest = hashlib.sha256()
    try:
        with file.open() as source, target.open("wb") as copy:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
                copy.write(chunk)
    except Exception as error:  # noqa: BLE001 - each fsspec file system raises its own; one file never fails a run
        return f"cannot be read any more ({type(error).__name__})"
    same = digest.hexdigest() == reading.sha256
    return "" if same else "changed while the inventory ran; the next run reads it again"


def _add(spec: CorpusSpec, members: Members, listing: Listing, contents: ContainerContents) -> None:
    path = contents.path
    if contents.kind == "" and not contents.reason:
        return  # no container after all
    is_mail = bool(contents.kind) and ContainerKind(contents.kind).is_mail
    if not is_mail and any(other.startswith(path + MEMBER_SEPARATOR) for other in listing.documents):
        message = f"beside the archive lies a folder of the name {path.rpartition('/')[2]}!; rename the folder"
        members.refusals[path] = (QuarantineReason.UNSUPPORTED, message)
    elif contents.reason and not is_mail:
        members.refusals[path] = (QuarantineReason(contents.reason), contents.message)
    elif contents.reason:
        _add_refused_attachments(members, listing.documents[path], contents)
    else:
        if not is_mail:
            members.archives.add(path)
        _add_members(spec, members, listing.documents[path], contents)


def _add_members(spec: CorpusSpec, members: Members, container: FoundFile, contents: ContainerContents) -> None:
    include, exclude = GlobSet(spec.source.include), GlobSet(spec.source.exclude)
    for member in contents.members:
        if member.is_sidecar and not member.reason:
            members.sidecars[member.path] = member.reading()
        elif exclude.matches(member.path) or not include.matches(member.path):
            members.excluded += 1
        else:
            members.documents[member.path] = member.found(container)
            members.readings[member.path] = member.reading()
            members.containers[member.path] = container.relative_path
            if member.reason:
                members.refusals[member.path] = (QuarantineReason(member.reason), member.message)


def _add_refused_attachments(members: Members, mail: FoundFile, contents: ContainerContents) -> None:
    """The text of a mail stays a document; what it carries stands in quarantine under one name."""
    path = f"{mail.relative_path}{MEMBER_SEPARATOR}attachments"
    refused = ContainerMember(path, "", 0)
    members.documents[path] = refused.found(mail)
    members.readings[path] = refused.reading()
    members.containers[path] = mail.relative_path
    members.refusals[path] = (QuarantineReason(contents.reason), contents.message)
