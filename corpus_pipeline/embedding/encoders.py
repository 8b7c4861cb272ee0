"""What turns texts into vectors: sentence-transformers itself, or an exported transformer run directly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from corpus_pipeline.embedding.batches import token_batches
from corpus_pipeline.embedding.graphs import Graph, Inputs
from corpus_pipeline.embedding.pooling import Pooling, pooled

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Encoding, Tokenizer

__all__ = ["Encoder", "GraphEncoder", "LibraryEncoder"]


class Encoder(Protocol):
    """Texts in, vectors out.

    Attributes:
        dimensions: Length of a vector.
    """

    dimensions: int

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of shape ``(len(texts), dimensions)`` in the order given, of any length; never without texts."""


class LibraryEncoder:
    """sentence-transformers, with whatever modules a model has."""

    def __init__(self, model: SentenceTransformer, *, batch_size: int) -> None:
        self._model = model
        self._batch_size = batch_size
        self.dimensions = int(model.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Batches of ``batch_size`` texts, which the library sorts by length."""
        rows = self._model.encode(
            list(texts), prompt="", batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(rows)


class GraphEncoder:
    """An exported transformer with mean or first-token pooling.

    Args:
        graph: The transformer.
        tokenizer: The model's, cutting off at its longest input and without padding.
        pooling: How token states become a vector.
        dimensions: Length of a vector.
        pad_id: Token that fills up a batch.
        batch_size: Most texts of a batch.
    """

    def __init__(
        self,
        graph: Graph,
        tokenizer: Tokenizer,
        pooling: Pooling,
        *,
        dimensions: int,
        pad_id: int,
        batch_size: int,
    ) -> None:
        self._graph = graph
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._pad_id = pad_id
        self._batch_size = batch_size
        self.dimensions = dimensions

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Each distinct text once, in batches of texts of like length."""
        distinct = list(dict.fromkeys(texts))
        encodings = self._tokenizer.encode_batch(distinct)
        batches = token_batches([len(encoding.ids) for encoding in encodings], max_texts=self._batch_size)
        rows = np.zeros((len(distinct), self.dimensions), dtype=np.float32)

        def take(number: int, states: npt.NDArray[np.float32]) -> None:
            batch = batches[number]
            lengths = [len(encodings[at].ids) for at in batch]
            rows[batch] = pooled(states, _mask(lengths), self._pooling)

        self._graph.run(self._inputs(encodings, batches), take)
        places = {text: place for place, text in enumerate(distinct)}
        return rows[[places[text] for text in texts]]

    def _inputs(self, encodings: list[Encoding], batches: list[list[int]]) -> Iterator[Inputs]:
        for batch in batches:
            mask = _mask([len(encodings[at].ids) for at in batch])
            ids = np.full(mask.shape, self._pad_id, dtype=np.int64)
            types = np.zeros(mask.shape, dtype=np.int64)
            for row, at in enumerate(batch):
                ids[row, : len(encodings[at].ids)] = encodings[at].ids
                types[row, : len(encodings[at].ids)] = encodings[at].type_ids
            yield {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def _mask(lengths: list[int]) -> npt.NDArray[np.int64]:
    return (np.arange(max(lengths)) < np.asarray(lengths)[:, None]).astype(np.int64)
