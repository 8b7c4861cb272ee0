"""Vectors by hash of the text in a local file, so that a second run embeds nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from corpus_pipeline.embedding import EmbeddingModel
from corpus_pipeline.embedding.model import Vectors
from corpus_pipeline.records import sha256_hex

COMMIT_TEXTS = 512
_VARIABLES = 500


class VectorCache:
    """Embeds each distinct text once for a model."""

    def __init__(self, path: Path, model: EmbeddingModel) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path)
        self._database.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        self._model = model
        self.embedded = 0

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, shape ``(len(texts), dimensions)``, in the order given."""
        keys = [sha256_hex(f"{self._model.fingerprint}\n{text}") for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        known = self._known(list(by_key))
        missing = sorted(by_key.keys() - known.keys(), key=lambda key: len(by_key[key]))
        for at in range(0, len(missing), COMMIT_TEXTS):
            batch = missing[at : at + COMMIT_TEXTS]
            rows = self._model.encode_passages([by_key[key] for key in batch])
            self._database.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                [(key, row.tobytes()) for key, row in zip(batch, rows, strict=True)],
            )
            self._database.commit()
            known.update(zip(batch, rows, strict=True))
            self.embedded += len(batch)
        return np.stack([known[key] for key in keys])

    def _known(self, keys: list[str]) -> dict[str, Vectors]:
        known: dict[str, Vectors] = {}
        for at in range(0, len(keys), _VARIABLES):
            batch = keys[at : at + _VARIABLES]
            marks = ",".join("?" * len(batch))
            for key, blob in self._database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", batch):
                known[key] = np.frombuffer(blob, dtype=np.float32)
        return known

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
