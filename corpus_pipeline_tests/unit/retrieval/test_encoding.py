"""A question is encoded from when that is asked for, once, and a fault of it is raised where the vector is needed."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import ExitStack
from typing import Any, cast

import numpy as np
import pytest
from annotated_types import Le

from corpus_pipeline.embedding import EmbeddingModel
from corpus_pipeline.retrieval.encoding import MOST_AT_ONCE, encoding
from corpus_pipeline.retrieval.trace import Trace
from corpus_pipeline.settings import Settings


class Model:
    """Notes what it is asked to encode."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.asked: list[list[str]] = []
        self.encoded = threading.Event()
        self._fault = fault

    def encode_queries(self, queries: list[str]) -> Any:
        self.asked.append(queries)
        self.encoded.set()
        if self._fault:
            raise self._fault
        return np.ones((1, 3), np.float32)


def models(model: Model) -> dict[str, EmbeddingModel]:
    return {"space": cast("EmbeddingModel", model)}


def test_nothing_is_encoded_before_it_is_told_to() -> None:
    model = Model()
    with encoding(models(model), "why?", Trace()) as vectors:
        assert list(vectors) == ["space"]
        assert not model.asked
        vectors.begin()
        assert model.encoded.wait(5), "without anybody asking for the vector"
        vectors.begin()
        assert vectors["space"].tolist() == [1, 1, 1]
    assert model.asked == [["why?"]]


def test_a_vector_that_is_asked_for_is_made() -> None:
    model, trace = Model(), Trace()
    with encoding(models(model), "why?", trace) as vectors:
        assert vectors["space"].tolist() == vectors["space"].tolist() == [1, 1, 1]
    assert model.asked == [["why?"]]
    assert [stage.stage for stage in trace.stages] == ["encode"]


def test_a_fault_is_raised_where_the_vector_is_needed() -> None:
    with encoding(models(Model(ValueError("no weights"))), "why?", Trace()) as vectors:
        vectors.begin()
        with pytest.raises(ValueError, match="no weights"):
            vectors["space"]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_process_that_was_forked_off_encodes_as_well() -> None:
    with encoding(models(Model()), "why?", Trace()) as vectors:
        assert vectors["space"].tolist() == [1, 1, 1]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(10)  # threads of the parent would never answer
            with encoding(models(Model()), "why?", Trace()) as vectors:
                code = 0 if vectors["space"].tolist() == [1, 1, 1] else 1
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


class BusyModel(Model):
    """Encodes nothing before it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()

    def encode_queries(self, queries: list[str]) -> Any:
        self.asked.append(queries)
        self.may.wait(60)
        return np.ones((1, 3), np.float32)


def test_as_many_questions_are_encoded_at_once_as_there_may_be_searches() -> None:
    model = BusyModel()
    with ExitStack() as searches:
        open_ones = [searches.enter_context(encoding(models(model), "why?", Trace())) for _ in range(MOST_AT_ONCE)]
        for vectors in open_ones:
            vectors.begin()
        deadline = time.monotonic() + 30
        while len(model.asked) < MOST_AT_ONCE and time.monotonic() < deadline:
            time.sleep(0.01)
        most_connections = next(one.le for one in Settings.model_fields["pool_size"].metadata if isinstance(one, Le))
        assert len(model.asked) == MOST_AT_ONCE == most_connections

        waiting = Model()
        with encoding(models(waiting), "one more?", Trace()) as vectors:
            vectors.begin()
        model.may.set()
        assert [vectors["space"].tolist() for vectors in open_ones] == [[1, 1, 1]] * MOST_AT_ONCE
        assert not waiting.asked, "what no search waits for any more is not encoded"
