"""Which files a corpus has: scan, hashes, declared metadata, changes, the guard against short listings.

Not here: what is inside the files (``conversion``) and which of them count (``versions``).
"""

from corpus_pipeline.inventory.container_format import looks_like_mail
from corpus_pipeline.inventory.copies import local_copy
from corpus_pipeline.inventory.expansion import bomb, expansion_fault
from corpus_pipeline.inventory.file_passwords import FilePasswords, password_digest
from corpus_pipeline.inventory.front_matter import split_front_matter
from corpus_pipeline.inventory.member_copies import MemberCopies
from corpus_pipeline.inventory.precedence import EVERYONE, merge_metadata
from corpus_pipeline.inventory.repository import (
    approve_removals,
    held_removals,
    reopen_refused,
    source_changes,
    source_files,
)
from corpus_pipeline.inventory.taking import take_inventory

__all__ = [
    "EVERYONE",
    "FilePasswords",
    "MemberCopies",
    "approve_removals",
    "bomb",
    "expansion_fault",
    "held_removals",
    "local_copy",
    "looks_like_mail",
    "merge_metadata",
    "password_digest",
    "reopen_refused",
    "source_changes",
    "source_files",
    "split_front_matter",
    "take_inventory",
]
