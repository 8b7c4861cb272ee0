"""Every error the package raises on purpose.

Tree::

    CorpusPipelineError
    ├── ConfigurationError        corpora.yaml, sidecars, manifests, environment
    │   ├── RegistryError         one or more faults in corpora.yaml, each with file, line and key
    │   │   └── GoldenQueriesError   the same for a file of golden queries
    │   └── SettingsError         an environment variable that cannot be used
    ├── StoreError                the database
    │   ├── DatabaseUnreachableError
    │   ├── DatabaseConflictError     a deadlock with another session; the statement may simply be run again
    │   ├── DatabaseAuthenticationError
    │   ├── MissingExtensionError     no pgvector
    │   ├── UnsupportedServerError    PostgreSQL or pgvector too old
    │   ├── DiskFullError
    │   ├── MigrationError            a migration failed or was edited after it ran
    │   └── SchemaDriftError          the live schema differs from the migrated one
    ├── StageError                the chain
    │   ├── UpstreamMissingError      an earlier stage has not run, or has run again since
    │   ├── CorpusBusyError           another run holds this corpus
    │   ├── SourceChangedError        a file is no longer what the inventory recorded
    │   └── SourceUnavailableError    the folder or URL of a corpus cannot be listed
    ├── ConversionError           one document could not be converted; carries its quarantine class
    ├── ModelUnavailableError     weights or an optional package are missing
    ├── GateError                 a blocking check failed
    │   └── PublicationRefusedError   the verdicts do not allow publication
    ├── SearchError               a query cannot be run as it was asked
    │   └── NothingPublishedError     no generation of the asked corpora is published
    ├── PurgeRefusedError         a document is not known, or still in use, and cannot be purged
    ├── AuditError                a signed result of a conversion audit cannot be kept
    ├── EvidenceError             an evidence pack cannot be made, found or trusted
    ├── PublicationHeldError      the corpus was rolled back and waits for `resume`
    └── UnknownCorpusError        a slug that corpora.yaml does not have

A message says what failed and on which file, corpus or document; what was expected
and found; and, in ``remedy``, what to do next. It never holds a secret or text of a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "AuditError",
    "ConfigurationError",
    "ConversionError",
    "CorpusBusyError",
    "CorpusPipelineError",
    "DatabaseAuthenticationError",
    "DatabaseConflictError",
    "DatabaseUnreachableError",
    "DiskFullError",
    "EvidenceError",
    "Fault",
    "GateError",
    "GoldenQueriesError",
    "MigrationError",
    "MissingExtensionError",
    "ModelUnavailableError",
    "NothingPublishedError",
    "PublicationHeldError",
    "PublicationRefusedError",
    "PurgeRefusedError",
    "RegistryError",
    "SchemaDriftError",
    "SearchError",
    "SettingsError",
    "SourceChangedError",
    "SourceUnavailableError",
    "StageError",
    "StoreError",
    "UnknownCorpusError",
    "UnsupportedServerError",
    "UpstreamMissingError",
]


class CorpusPipelineError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What failed, on what, expected and found.
        remedy: What the reader of the message should do next.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class ConfigurationError(CorpusPipelineError):
    """A configuration file or variable cannot be used."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in a configuration file.

    Attributes:
        file: Path as the user gave it.
        line: 1-based line, 0 when the file as a whole is meant.
        key: Dotted path of the key, such as ``corpora.policies.owner``.
        message: Expected and found, and what to write instead.
    """

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.key}: {self.message}"


class RegistryError(ConfigurationError):
    """All faults of a configuration file, reported together."""

    def __init__(self, faults: Sequence[Fault], *, remedy: str = "") -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in faults), remedy=remedy)


class GoldenQueriesError(RegistryError):
    """All faults of a file of golden queries, reported together."""


class SettingsError(ConfigurationError):
    """An environment variable has a value that cannot be used."""


class StoreError(CorpusPipelineError):
    """The database cannot do what was asked."""


class DatabaseUnreachableError(StoreError):
    """No server answers at the given address."""


class DatabaseConflictError(StoreError):
    """The server ended a transaction in favour of another session; running it again is right."""


class DatabaseAuthenticationError(StoreError):
    """The server refuses this user or password."""


class MissingExtensionError(StoreError):
    """The server has no pgvector."""


class UnsupportedServerError(StoreError):
    """PostgreSQL or pgvector is older than supported."""


class DiskFullError(StoreError):
    """No space is left for the database or the state folder."""


class MigrationError(StoreError):
    """A migration failed, is missing, or was edited after it had been applied."""


class SchemaDriftError(StoreError):
    """The live schema differs from what the migrations made."""


class StageError(CorpusPipelineError):
    """A stage of the chain cannot run."""


class UpstreamMissingError(StageError):
    """An earlier stage has not run for this corpus, or has changed since."""


class CorpusBusyError(StageError):
    """Another run works on this corpus."""


class SourceChangedError(StageError):
    """A file is no longer what the inventory recorded: edited, moved or gone since."""


class SourceUnavailableError(StageError):
    """The source of a corpus cannot be listed."""


class ConversionError(CorpusPipelineError):
    """One document could not be converted.

    Args:
        message: What a person can act on.
        reason: Value of ``records.QuarantineReason``.
    """

    def __init__(self, message: str, *, reason: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason


class ModelUnavailableError(CorpusPipelineError):
    """Model weights or an optional package are not installed."""


class GateError(CorpusPipelineError):
    """A blocking check failed."""


class PublicationRefusedError(GateError):
    """The stored verdicts do not allow this corpus to be published."""


class SearchError(CorpusPipelineError):
    """A query cannot be run as it was asked."""


class NothingPublishedError(SearchError):
    """No generation of the asked corpora is published."""


class EvidenceError(CorpusPipelineError):
    """An evidence pack cannot be made, found or trusted."""


class PublicationHeldError(CorpusPipelineError):
    """Publication of this corpus is on hold after a rollback."""


class UnknownCorpusError(CorpusPipelineError):
    """A corpus slug that the registry does not have."""


class PurgeRefusedError(CorpusPipelineError):
    """A document cannot be purged: it is not known, or still in use."""


class AuditError(CorpusPipelineError):
    """A signed result of a conversion audit cannot be kept."""
