"""Proposes a golden query from what a search finds now; a person reviews it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from corpus_pipeline.evaluation.facts import texts_of
from corpus_pipeline.evaluation.golden import GoldenQuery
from corpus_pipeline.evaluation.passage import Passage, locate, normalised
from corpus_pipeline.retrieval import AcceptedFragment
from corpus_pipeline.store import Database

__all__ = ["propose_query", "query_line"]

ANCHOR_WORDS = 16
MAX_WORDS = 60
MAX_ID = 60


def propose_query(
    database: Database, corpus: str, question: str, accepted: Sequence[AcceptedFragment], **keys: Any
) -> GoldenQuery:
    """A query, not yet reviewed, that expects the passages which were accepted, or none where none were.

    Args:
        database: For the converted texts, so that each anchor stands once in its document.
        corpus: Slug.
        question: As it was asked.
        accepted: What the search accepted, best first.
        keys: Further keys of the query, such as ``domain``.
    """
    with database.connection() as connection:
        texts = texts_of(connection, corpus, {one.document_id for one in accepted})
    passages = [
        Passage(source=one.document_id.removeprefix(f"{corpus}/"), anchor=_anchor(one, texts.get(one.document_id, "")))
        for one in accepted
    ]
    return GoldenQuery(
        query_id=_identifier(question),
        query=question,
        expected_passages=tuple(passages),
        should_match=bool(passages),
        **({"category": "expected_empty"} | keys if not passages else keys),
    )


def query_line(query: GoldenQuery) -> str:
    """The query as a line of a file of golden queries: only what was given, in the order of the keys."""
    import json

    given = query.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return json.dumps({**given, "review_status": query.review_status}, ensure_ascii=False)


def _identifier(question: str) -> str:
    words = re.findall(r"[a-z0-9]+", question.lower())
    return "-".join(words)[:MAX_ID].strip("-") or "question"


def _anchor(fragment: AcceptedFragment, text: str) -> str:
    """The first words of the fragment that are not its heading; more of them until they stand once in the text."""
    heading = fragment.section_path[-1] if fragment.section_path else ""
    words = normalised(fragment.text.removeprefix(heading)).split() or normalised(fragment.text).split()
    for count in range(min(ANCHOR_WORDS, len(words)), min(MAX_WORDS, len(words)) + 1):
        anchor = " ".join(words[:count])
        if len(locate(text, anchor)) == 1:
            return anchor
    return " ".join(words[:ANCHOR_WORDS])
