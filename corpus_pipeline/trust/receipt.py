"""What a purge removed, in numbers and hashes: the receipt holds no text and no name."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from corpus_pipeline.records import canonical_json, sha256_hex

__all__ = ["ChangedRoot", "PurgeReceipt", "PurgedDocument"]


@dataclass(frozen=True)
class PurgedDocument:
    """A document that is gone, by hashes.

    Attributes:
        document_id_sha256: Of its id, by which whoever knows the id finds the receipt.
        file_sha256s: Of all its files whose conversions were removed.
        spared_files: How many of its files another document has as well.
    """

    document_id_sha256: str
    file_sha256s: tuple[str, ...]
    spared_files: int


@dataclass(frozen=True)
class ChangedRoot:
    """A generation whose rows a purge has removed.

    Attributes:
        after: Its root now; that of before when the rows had not made it up in the first place.
        is_published: Readers see it.
    """

    corpus: str
    generation: int
    before: str
    after: str
    is_published: bool


@dataclass(frozen=True)
class PurgeReceipt:
    """What was removed for good, when, by whom and why.

    Attributes:
        removed: Rows removed by table; tables without any are left out. Vectors and terms that no
            text had any more go too.
        redacted: Reasons of decisions about other documents that named or quoted one of these, by table.
        hidden_copies: Fragments of other documents that were served through these and have no row until the next
            generation.
        refused_files: Files that the inventory leaves out from now on.
    """

    reason: str
    purged_by: str
    purged_at: datetime
    documents: tuple[PurgedDocument, ...]
    removed: dict[str, int]
    redacted: dict[str, int]
    roots: tuple[ChangedRoot, ...]
    hidden_copies: int
    refused_files: int

    @property
    def purge_id(self) -> str:
        """The beginning of the hash over everything else."""
        return sha256_hex(canonical_json(asdict(self)))[:16]

    def as_json(self) -> dict[str, Any]:
        """The stable JSON form, as it is stored."""
        form: dict[str, Any] = json.loads(canonical_json(asdict(self)))
        return {"purge_id": self.purge_id, **form}
