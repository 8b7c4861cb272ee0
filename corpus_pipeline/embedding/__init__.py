"""From fragments to vectors: each distinct text once for each model.

Here: the models and their fingerprints, and the tables ``corpus.embedding_models`` and
``corpus.embeddings``. Not here: what is embedded (chunking), which vectors a generation
serves (index), how queries are answered (retrieval, which embeds them through this room).
"""

from corpus_pipeline.embedding.fingerprint import embedding_fingerprint, fingerprint_parts
from corpus_pipeline.embedding.loading import load_model, load_model_of
from corpus_pipeline.embedding.model import EmbeddingModel
from corpus_pipeline.embedding.repository import vectors
from corpus_pipeline.embedding.stage import embed_corpus

__all__ = [
    "EmbeddingModel",
    "embed_corpus",
    "embedding_fingerprint",
    "fingerprint_parts",
    "load_model",
    "load_model_of",
    "vectors",
]
