"""Boilerplate is ranked out unless a session asks for it."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from corpus_pipeline.index import read_session
from corpus_pipeline.retrieval.repository import NearestLookup, graph_scans, pipelined
from corpus_pipeline.retrieval.request import SearchFilters, SearchRequest
from corpus_pipeline.retrieval.rows import found_by_vector
from corpus_pipeline.store import Database


def test_boilerplate_is_found_only_when_asked_for(database: Database, serve: Any, served: Any) -> None:
    vectors = np.eye(8, dtype=np.float32)
    documents = [
        served("footer.md", "All rights reserved.", vectors[0], {"is_boilerplate": True}),
        served("text.md", "Refunds.", vectors[1], {"is_boilerplate": False}),
    ]
    target = serve("handbook", documents, space="a" * 64)
    with read_session(database, groups=("everyone",)) as connection:

        def found() -> list[str]:
            limits, day = SearchRequest(query="q").limits(), date(2026, 11, 1)
            with pipelined(connection):
                lookup = NearestLookup(connection, target, 2, SearchFilters(), limits, day)
                with graph_scans(connection) as prefer:
                    sent = lookup.send(vectors[0], prefer)
                return [candidate.document_id for candidate in found_by_vector(sent.rows(), target)]

        assert found() == ["handbook/text.md"]
        connection.execute("SELECT set_config('corpus.show_boilerplate', 'on', true)")
        assert found() == ["handbook/footer.md", "handbook/text.md"]
