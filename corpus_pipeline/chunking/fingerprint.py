"""What the fragments of a document depend on, beside the document."""

from __future__ import annotations

from corpus_pipeline.chunking.tokens import token_counter
from corpus_pipeline.records import canonical_json, sha256_hex
from corpus_pipeline.registry import CorpusSpec

__all__ = ["CHUNKER_VERSION", "chunker_fingerprint"]

CHUNKER_VERSION = "3"
"""Raised with every change that may cut some document differently."""


_MARKING = {"boilerplate_documents", "boilerplate_share"}
"""What marks fragments and cuts none."""


def chunker_fingerprint(spec: CorpusSpec) -> str:
    """Hash of strategy, sizes, this room's version, tokenizer, model limit and passage prompt.

    Raises:
        ModelUnavailableError: The tokenizer is not there.
    """
    counter = token_counter(spec.embedding)
    return sha256_hex(
        canonical_json(
            {
                "chunking": spec.chunking.model_dump(mode="json", exclude=_MARKING),
                "version": CHUNKER_VERSION,
                "tokenizer_sha256": counter.tokenizer_sha256,
                "model_tokens": counter.model_tokens,
                "prompt": counter.prompt,
            }
        )
    )
