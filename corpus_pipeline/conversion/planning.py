"""What has to be converted: the files whose conversion is neither known nor known to fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from corpus_pipeline.conversion.catalogue import CatalogueEntry
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.pdf_models import resolved_grade
from corpus_pipeline.conversion.repository import KnownRoute, QuarantineRow
from corpus_pipeline.conversion.routing import ROUTING_VERSION, RouteOptions, requested_converter
from corpus_pipeline.inventory import FilePasswords, password_digest
from corpus_pipeline.records import QuarantineReason, SourceFile, canonical_json, sha256_hex
from corpus_pipeline.registry import ConversionSpec

__all__ = [
    "ANY_CONVERTER",
    "Conditions",
    "ContentKey",
    "Plan",
    "WantedFile",
    "chosen_routes",
    "make_plan",
    "options_sha256",
    "policy_sha256",
    "wanted_files",
]

ContentKey = tuple[str, str]
"""SHA-256 of the bytes, SHA-256 of the policy: files that share both share their conversion."""

ANY_CONVERTER = "*"
"""Stands in ``tried`` for a worker that died before it could say which converter it ran."""


@dataclass(frozen=True)
class WantedFile:
    """A file and the policy that applies to it."""

    file: SourceFile
    requested: str
    policy_sha256: str
    password: str | None = field(default=None, repr=False)

    @property
    def key(self) -> ContentKey:
        """What the conversion of this file depends on."""
        return self.file.sha256, self.policy_sha256


@dataclass(frozen=True)
class Conditions:
    """What a corpus chooses besides the converter: options of routes, and limits.

    Attributes:
        options: With the PDF grade that ``auto`` comes to on this machine.
        limits: ``ConversionLimits`` as a dictionary.
    """

    options: RouteOptions
    limits: Mapping[str, float]

    @classmethod
    def of(cls, spec: ConversionSpec) -> Conditions:
        """The conditions of a corpus."""
        keep = spec.embedded_images == "keep"
        options = RouteOptions(resolved_grade(spec.pdf_grade), spec.ocr, keep_images=keep)
        return cls(options, spec.limits.model_dump())

    @property
    def sha256(self) -> str:
        """Digest of all of them: a quarantined file is tried again when it changes."""
        chosen: list[object] = [self.options.pdf_grade, self.options.ocr, dict(self.limits)]
        return sha256_hex(canonical_json([*chosen, *(["keep_images"] if self.options.keep_images else [])]))


@dataclass(frozen=True)
class Plan:
    """What is to be done.

    Attributes:
        known: Conversions that can be taken over, by key.
        to_convert: One file for each key that must be converted.
    """

    known: Mapping[ContentKey, KnownRoute]
    to_convert: tuple[WantedFile, ...] = field(default=())


def policy_sha256(requested: str, extension: str, password: str | None) -> str:
    """Digest of all that decides the route of a content, its password included."""
    return sha256_hex(canonical_json([ROUTING_VERSION, requested, extension, password_digest(password)]))


def options_sha256(options: RouteOptions, file_format: str) -> str:
    """Digest of the options that matter for a format; empty when none does."""
    chosen = options.of_format(FileFormat(file_format))
    return sha256_hex(canonical_json(chosen)) if chosen else ""


def wanted_files(spec: ConversionSpec, files: Iterable[SourceFile], passwords: FilePasswords) -> list[WantedFile]:
    """Each file with its policy, in the order given."""
    wanted = []
    for file in files:
        requested = requested_converter(spec, file.relative_path)
        password = passwords.of(file)
        wanted.append(WantedFile(file, requested, policy_sha256(requested, file.extension, password), password))
    return wanted


def chosen_routes(known: Iterable[KnownRoute], conditions: Conditions) -> list[KnownRoute]:
    """The routes that were taken under the present options.

    A conversion that was made under laxer limits than the present ones is not among them: it is
    made again, because a limit is policy, whoever filled the cache.
    """
    return [
        route
        for route in known
        if route.options_sha256 == options_sha256(conditions.options, route.file_format)
        and all(name in route.limits and route.limits[name] <= limit for name, limit in conditions.limits.items())
    ]


def make_plan(
    wanted: Iterable[WantedFile],
    *,
    known: Iterable[KnownRoute],
    quarantined: Mapping[str, QuarantineRow],
    conditions: Conditions,
    catalogue: Mapping[str, CatalogueEntry],
) -> Plan:
    """Compares what is wanted with what is there.

    Args:
        wanted: All readable files of the corpus.
        known: Conversions found for their keys.
        quarantined: The corpus's quarantine by document id.
        conditions: The present options and limits.
        catalogue: The present converters.
    """
    current = (route for route in known if is_current(route.tried, catalogue))
    taken = {route.key: route for route in chosen_routes(current, conditions)}
    to_convert: dict[ContentKey, WantedFile] = {}
    for item in wanted:
        row = quarantined.get(item.file.document_id)
        failed_before = row is not None and _stays_quarantined(row, item, conditions.sha256, catalogue)
        if item.key not in taken and not failed_before:
            to_convert.setdefault(item.key, item)
    return Plan(taken, tuple(to_convert.values()))


def is_current(tried: Iterable[tuple[str, str]], catalogue: Mapping[str, CatalogueEntry]) -> bool:
    """Whether every converter that was tried is today what it was then."""
    return all(identity == identity_sha256(name, catalogue) for name, identity in tried)


def identity_sha256(name: str, catalogue: Mapping[str, CatalogueEntry]) -> str:
    """Identity of a converter, or of all of them together for :data:`ANY_CONVERTER`."""
    if name == ANY_CONVERTER:
        return sha256_hex(canonical_json({key: entry.identity_sha256 for key, entry in catalogue.items()}))
    return catalogue[name].identity_sha256 if name in catalogue else ""


def _stays_quarantined(
    row: QuarantineRow, item: WantedFile, limits_sha256: str, catalogue: Mapping[str, CatalogueEntry]
) -> bool:
    same_input = row.file.source_sha256 == item.file.sha256 and row.policy_sha256 == item.policy_sha256
    unchanged = same_input and row.limits_sha256 == limits_sha256 and is_current(row.tried, catalogue)
    return unchanged and not row.replay_requested and row.file.reason is not QuarantineReason.UNREADABLE
