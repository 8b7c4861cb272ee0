"""An OpenAI-compatible endpoint, over real HTTP on this machine."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from corpus_pipeline.chunking import token_counter
from corpus_pipeline.embedding import embedding_fingerprint, fingerprint_parts, load_model
from corpus_pipeline.embedding.endpoint import EndpointEncoder
from corpus_pipeline.errors import ConfigurationError, ModelUnavailableError, StageError
from corpus_pipeline.registry import EmbeddingSpec, EndpointSpec

KEY = "sk-very-secret"
TEXTS = ["refunds", "gift cards", "limits", "refunds"]


class Server(ThreadingHTTPServer):
    """Answers with a vector made of a text's length, after the statuses in ``faults``."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.faults: list[tuple[int, dict[str, str]]] = []
        self.dimensions = 3
        self.body: bytes | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append({"path": self.path, **body})
        self.server.keys.append(self.headers.get("authorization"))
        status, headers = self.server.faults.pop(0) if self.server.faults else (200, {})
        vectors = [[float(len(text))] * (self.server.dimensions - 1) + [1.0] for text in body["input"]]
        items = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        answer = self.server.body or json.dumps({"data": items[::-1], "model": body["model"]}).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_args: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def endpoint(server: Server, **changes: Any) -> EndpointSpec:
    given = {"url": server.url, "dimensions": 3, "max_tokens": 64, "api_key_env": "EMBEDDING_KEY", **changes}
    return EndpointSpec(**given)


def encoder(server: Server, pauses: list[float] | None = None, **changes: Any) -> EndpointEncoder:
    kept = [] if pauses is None else pauses
    return EndpointEncoder(endpoint(server, **changes), model="small", batch_size=2, pause=kept.append)


def test_each_distinct_text_is_sent_once_in_batches_and_comes_back_in_order(server: Server) -> None:
    rows = encoder(server).encode(TEXTS)
    assert rows[:, 0].tolist() == [7.0, 10.0, 6.0, 7.0]
    assert [request["input"] for request in server.requests] == [["refunds", "gift cards"], ["limits"]]
    assert {(request["path"], request["model"]) for request in server.requests} == {("/v1/embeddings", "small")}
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_a_busy_or_broken_endpoint_is_asked_again_after_a_growing_pause(server: Server) -> None:
    server.faults = [(429, {"retry-after": "7"}), (503, {}), (500, {})]
    pauses: list[float] = []
    rows = encoder(server, pauses).encode(["refunds"])
    assert rows.shape == (1, 3)
    assert pauses == [7.0, 2.0, 4.0]


def test_it_gives_up_after_the_attempts_allowed(server: Server) -> None:
    server.faults = [(503, {})] * 5
    with pytest.raises(ModelUnavailableError, match="in 3 attempts, at last: status 503"):
        encoder(server, attempts=3).encode(["a"])
    assert len(server.requests) == 3


def test_nobody_there_is_told_after_the_attempts(server: Server) -> None:
    gone = encoder(server, url="http://127.0.0.1:9/v1", attempts=2)
    with pytest.raises(ModelUnavailableError, match="ConnectError"):
        gone.encode(["a"])


def test_requests_are_spaced_by_the_rate_limit(server: Server) -> None:
    pauses: list[float] = []
    encoder(server, pauses, requests_per_minute=30).encode(TEXTS)
    assert len(pauses) == 1
    assert 1.0 < pauses[0] <= 2.0


def test_a_refused_request_is_not_repeated(server: Server) -> None:
    server.faults = [(400, {})]
    server.body = b'{"error": "no such model"}'
    with pytest.raises(StageError, match="no such model"):
        encoder(server).encode(["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"data": [{"index": 1, "embedding": [1, 2, 3]}]}', b"[]"])
def test_an_odd_answer_is_no_vector(server: Server, body: bytes) -> None:
    server.body = body
    with pytest.raises(StageError, match="answered with"):
        encoder(server).encode(["a"])


def test_other_dimensions_are_refused(server: Server) -> None:
    server.dimensions = 4
    with pytest.raises(StageError, match=r"shape \(1, 4\), expected \(1, 3\)"):
        encoder(server).encode(["a"])


def test_the_key_is_in_no_error_log_or_fingerprint(
    server: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    server.faults = [(401, {})]
    with pytest.raises(ConfigurationError, match="does not accept the key") as refused:
        encoder(server).encode(["a"])
    monkeypatch.delenv("EMBEDDING_KEY")
    with pytest.raises(ConfigurationError, match="EMBEDDING_KEY is not set"):
        encoder(server).encode(["a"])
    spec = EmbeddingSpec(backend="endpoint", model="small", endpoint=endpoint(server))
    seen = f"{refused.value} {refused.value.remedy} {caplog.text} {fingerprint_parts(spec)} {spec!r}"
    assert KEY not in seen
    assert "EMBEDDING_KEY" not in str(fingerprint_parts(spec))


def test_the_pipeline_embeds_and_counts_with_it(server: Server) -> None:
    spec = EmbeddingSpec(backend="endpoint", model="small", endpoint=endpoint(server), passage_prompt="p: ")
    model = load_model(spec)
    rows = model.encode_passages(["refunds"])
    assert server.requests[-1]["input"] == ["p: refunds"]
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert (model.dimensions, model.max_tokens, token_counter(spec).model_tokens) == (3, 64, 64)


def test_the_fingerprint_names_endpoint_and_model(server: Server) -> None:
    def fingerprint(model: str = "small", **changes: Any) -> str:
        return embedding_fingerprint(
            EmbeddingSpec(backend="endpoint", model=model, endpoint=endpoint(server, **changes))
        )

    base = fingerprint()
    assert fingerprint(api_key_env="OTHER", attempts=2, requests_per_minute=5, url=server.url + "/") == base
    assert len({base, fingerprint("large"), fingerprint(url="https://other/v1"), fingerprint(dimensions=4)}) == 4


def test_an_endpoint_belongs_to_its_backend_alone(server: Server) -> None:
    with pytest.raises(ValidationError, match="needed there"):
        EmbeddingSpec(backend="endpoint", model="small")
    with pytest.raises(ValidationError, match="needed there"):
        EmbeddingSpec(endpoint=endpoint(server))
    with pytest.raises(ValidationError, match="url"):
        endpoint(server, url="https://user:secret@host/v1")
