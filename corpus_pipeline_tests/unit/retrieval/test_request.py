from __future__ import annotations

import subprocess
import sys

import pytest

from corpus_pipeline.errors import SearchError
from corpus_pipeline.registry import RetrievalSpec
from corpus_pipeline.retrieval import SearchRequest


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(query: str):
    with pytest.raises(SearchError, match="the query is empty") as caught:
        SearchRequest(query=query).demand_query()
    assert caught.value.remedy


def test_a_pasted_document_is_refused_without_repeating_it():
    with pytest.raises(SearchError, match="10001 characters") as caught:
        SearchRequest(query="secret " * 1428 + "12345").demand_query()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("mode", ["dense", "sparse"])
def test_three_candidates_are_fetched_for_each_fragment_wanted(mode: str):
    assert SearchRequest(query="q", top_k=4, mode=mode).limits().fetch_limit == 12


def test_lists_that_are_fused_are_long_enough_to_meet():
    assert SearchRequest(query="q", top_k=4).limits().fetch_limit == 50
    assert SearchRequest(query="q", top_k=20).limits().fetch_limit == 60


def test_what_the_question_leaves_open_is_as_the_corpus_is_configured():
    spec = RetrievalSpec(min_score=0.42, fetch_multiplier=7, reranker="ms-marco-MiniLM-L-12-v2")
    limits = SearchRequest(query="q", top_k=2, fetch_multiplier=4).limits(spec)
    assert (limits.min_score, limits.fetch_multiplier, limits.reranker) == (0.42, 4, "ms-marco-MiniLM-L-12-v2")
    assert limits.fetch_limit == 50  # as many as the reranker reads
    assert SearchRequest(query="q", reranker="none").limits(spec).reranker is None


def test_importing_the_room_loads_no_model_runtime():
    code = (
        "import sys, corpus_pipeline.retrieval, corpus_pipeline.evaluation; "
        "print(sorted({'torch', 'sentence_transformers', 'ir_measures', 'docling'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_filters_from_the_command_line_reach_free_attributes():
    request = SearchRequest(query="q", filters={"customer_facing": "true", "attributes.team": "billing"})
    assert request.filters.customer_facing
    assert request.filters.attributes == {"team": "billing"}


def test_an_unknown_filter_names_those_there_are():
    with pytest.raises(SearchError, match="there is no filter 'plan'") as caught:
        SearchRequest(query="q", filters={"plan": "free"})
    assert "plan_tier" in caught.value.remedy


def test_a_filter_of_the_wrong_type_is_refused():
    with pytest.raises(SearchError, match="filter customer_facing"):
        SearchRequest(query="q", filters={"customer_facing": "perhaps"})
