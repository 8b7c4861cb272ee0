"""Vectors from an OpenAI-compatible endpoint: ``POST <url>/embeddings``.

Requests are spaced by the rate limit; 429, 5xx and broken connections are tried again after a growing
pause, or the one that ``Retry-After`` asks for. The key is read from the environment when a request is
made; it is in no log, error, fingerprint or table.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from corpus_pipeline.errors import ConfigurationError, ModelUnavailableError, StageError
from corpus_pipeline.registry import EndpointSpec

if TYPE_CHECKING:
    import httpx

__all__ = ["EndpointEncoder"]

_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_TOO_MANY, _SERVER_FAULT, _REFUSED = 429, 500, (401, 403)
_SUCCESS = 200
_SHOWN_CHARS = 200


class EndpointEncoder:
    """Texts in batches to an endpoint.

    Args:
        spec: Where, how fast, and what to expect.
        model: Name of the model there.
        batch_size: Most texts of a request.
        pause: Waits so many seconds.
    """

    def __init__(
        self, spec: EndpointSpec, *, model: str, batch_size: int, pause: Callable[[float], None] = time.sleep
    ) -> None:
        try:
            import httpx
        except ImportError as error:
            raise ModelUnavailableError(
                "embedding.backend 'endpoint' needs the package httpx",
                remedy="Install it: pip install 'corpus-pipeline[endpoint]'.",
            ) from error
        self._spec = spec
        self._model = model
        self._batch_size = batch_size
        self._pause = pause
        self._last_request = float("-inf")
        self._client = httpx.Client(timeout=spec.timeout_seconds, follow_redirects=False)
        self._broken = httpx.TransportError
        self.dimensions = spec.dimensions

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Each distinct text once.

        Raises:
            ConfigurationError: The key is not set or not accepted.
            ModelUnavailableError: The endpoint gave no answer in the attempts allowed.
            StageError: The answer is not one vector of the stated dimensions for each text.
        """
        distinct = list(dict.fromkeys(texts))
        found: dict[str, npt.NDArray[np.float32]] = {}
        for at in range(0, len(distinct), self._batch_size):
            batch = distinct[at : at + self._batch_size]
            found.update(zip(batch, self._vectors(batch), strict=True))
        return np.stack([found[text] for text in texts])

    def _vectors(self, batch: list[str]) -> npt.NDArray[np.float32]:
        answer = self._answer({"model": self._model, "input": batch, "encoding_format": "float"})
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            places = [item["index"] for item in items]
            rows = np.asarray([item["embedding"] for item in items], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise self._odd(f"no list of vectors ({type(error).__name__})") from error
        if places != list(range(len(batch))) or rows.shape != (len(batch), self.dimensions):
            raise self._odd(f"{len(items)} vectors of shape {rows.shape}, expected {(len(batch), self.dimensions)}")
        return rows

    def _answer(self, body: dict[str, Any]) -> Any:
        reason = ""
        for attempt in range(self._spec.attempts):
            self._wait_for_turn()
            try:
                response = self._client.post(
                    f"{self._spec.url.rstrip('/')}/embeddings", json=body, headers=self._headers()
                )
            except self._broken as error:
                reason, asked = type(error).__name__, None
            else:
                if response.status_code == _SUCCESS:
                    return self._json(response)
                self._demand_worth_repeating(response)
                reason, asked = f"status {response.status_code}", response.headers.get("retry-after")
            if attempt + 1 < self._spec.attempts:
                self._pause(_pause_seconds(attempt, asked))
        raise ModelUnavailableError(
            f"{self._spec.url} gave no vectors in {self._spec.attempts} attempts, at last: {reason}",
            remedy="Run the stage again when the endpoint is well; what was embedded is kept.",
        )

    def _headers(self) -> dict[str, str]:
        name = self._spec.api_key_env
        if name is None:
            return {}
        key = os.environ.get(name, "").strip()
        if not key:
            raise ConfigurationError(
                f"the environment variable {name} is not set", remedy=f"Set {name} to the key of {self._spec.url}."
            )
        return {"Authorization": f"Bearer {key}"}

    def _wait_for_turn(self) -> None:
        if self._spec.requests_per_minute:
            left = self._last_request + 60.0 / self._spec.requests_per_minute - time.monotonic()
            if left > 0:
                self._pause(left)
        self._last_request = time.monotonic()

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            raise self._odd("no JSON") from error

    def _demand_worth_repeating(self, response: httpx.Response) -> None:
        status = response.status_code
        if status in _REFUSED:
            raise ConfigurationError(
                f"{self._spec.url} does not accept the key (status {status})",
                remedy=f"Check the key in the environment variable {self._spec.api_key_env}.",
            )
        if status != _TOO_MANY and status < _SERVER_FAULT:
            said = " ".join(response.text.split())[:_SHOWN_CHARS]
            raise StageError(
                f"{self._spec.url} refused the request (status {status}): {said!r}",
                remedy="Check embedding.model and embedding.endpoint in corpora.yaml.",
            )

    def _odd(self, what: str) -> StageError:
        return StageError(
            f"{self._spec.url} answered with {what}",
            remedy="Check embedding.model and embedding.endpoint.dimensions in corpora.yaml.",
        )


def _pause_seconds(attempt: int, asked: str | None) -> float:
    """What the endpoint asks for in seconds, else 1, 2, 4 … seconds; at most a minute.

    >>> _pause_seconds(0, None), _pause_seconds(3, None), _pause_seconds(0, "7"), _pause_seconds(0, "soon")
    (1.0, 8.0, 7.0, 1.0)
    """
    try:
        wanted = float(asked) if asked else -1.0
    except ValueError:
        wanted = -1.0
    grown = _FIRST_PAUSE_SECONDS * 2**attempt
    return min(wanted if wanted >= 0 else grown, _LONGEST_PAUSE_SECONDS)
