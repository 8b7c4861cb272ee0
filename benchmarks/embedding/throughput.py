"""Texts a second of the backends beside plain ``SentenceTransformer.encode`` in torch float32.

    python -m benchmarks.embedding.throughput DATA_FOLDER [--texts 512] [--rounds 3]

``DATA_FOLDER`` holds ``peps/docs/*.rst``; the texts are fragments of them as the pipeline cuts them, in
random order. In each round every way embeds the same texts, one way after the other, so that other work
on the machine meets all of them; ratios are medians over the rounds. Processor seconds are given too:
they hardly depend on what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from benchmarks.embedding.texts import fragment_texts
from corpus_pipeline.chunking import token_counter
from corpus_pipeline.embedding import load_model
from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.model_files import model_folder
from corpus_pipeline.registry import EmbeddingSpec

HERE = Path(__file__).parent
PLAIN = "plain SentenceTransformer.encode"
Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Way:
    """Figures of one way to embed; ratios to the plain one, above 1 is faster."""

    name: str
    texts_per_second: float
    processor_seconds: float
    ratio: float
    processor_ratio: float
    minimum_cosine: float


def plain_encoder(batch_size: int) -> Encode:
    """The library as its documentation uses it."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(model_folder("all-MiniLM-L6-v2")), device="cpu", local_files_only=True)
    return lambda texts: np.asarray(
        model.encode(list(texts), batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False)
    )


def encoders(batch_size: int, exports: Path) -> dict[str, Encode]:
    """Every way that is installed."""
    found: dict[str, Encode] = {PLAIN: plain_encoder(batch_size)}
    for backend, precision in (("torch", "float32"), ("onnx", "float32"), ("onnx", "int8"), ("openvino", "float32")):
        spec = EmbeddingSpec.model_validate({"backend": backend, "precision": precision, "batch_size": batch_size})
        try:
            model = load_model(spec, export_folder=exports)
        except ModelUnavailableError as error:
            sys.stderr.write(f"{backend} is left out: {error}\n")
            continue
        found[f"pipeline, {backend}" + ("" if precision == "float32" else f" {precision}")] = model.encode_passages
    return found


def measure(ways: dict[str, Encode], texts: list[str], rounds: int) -> list[Way]:
    """All ways in turn, ``rounds`` times, after one round to warm up on a few texts."""
    wall: dict[str, list[float]] = {name: [] for name in ways}
    processor: dict[str, list[float]] = {name: [] for name in ways}
    vectors: dict[str, npt.NDArray[np.float32]] = {}
    for encode in ways.values():
        encode(texts[:16])
    for _ in range(rounds):
        for name, encode in ways.items():
            began, busy = time.perf_counter(), time.process_time()
            vectors[name] = encode(texts)
            wall[name].append(time.perf_counter() - began)
            processor[name].append(time.process_time() - busy)
    return [
        Way(
            name,
            round(len(texts) / min(wall[name]), 1),
            round(min(processor[name]), 2),
            round(median(a / b for a, b in zip(wall[PLAIN], wall[name], strict=True)), 2),
            round(median(a / b for a, b in zip(processor[PLAIN], processor[name], strict=True)), 2),
            round(float((vectors[PLAIN] * vectors[name]).sum(axis=1).min()), 6),
        )
        for name in ways
    ]


def main() -> int:
    """Prints the table and stores JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--exports", type=Path, default=Path(tempfile.gettempdir()) / "embedding-throughput")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "throughput.json")
    arguments = parser.parse_args()
    folder = arguments.data / "peps" / "docs"
    if not folder.is_dir():
        sys.stderr.write(f"{folder} is absent: nothing measured\n")
        return 0
    texts = fragment_texts(folder, arguments.documents)
    random.Random(7).shuffle(texts)
    texts = texts[: arguments.texts]
    lengths = token_counter(EmbeddingSpec()).counts(texts)
    print(f"{len(texts)} texts of {np.mean(lengths):.0f} tokens on average, {len(set(texts))} distinct")
    ways = measure(encoders(arguments.batch_size, arguments.exports), texts, arguments.rounds)
    print(f"{'':<34}{'texts/s':>9}{'ratio':>7}{'CPU s':>8}{'ratio':>7}  minimum cosine")
    for way in ways:
        print(
            f"{way.name:<34}{way.texts_per_second:>9}{way.ratio:>7}{way.processor_seconds:>8}{way.processor_ratio:>7}"
            f"  {way.minimum_cosine:.6f}"
        )
    stored = {
        "cores": os.cpu_count(),
        "texts": len(texts),
        "distinct": len(set(texts)),
        "tokens": sum(lengths),
        "rounds": arguments.rounds,
        "batch_size": arguments.batch_size,
        "ways": [asdict(way) for way in ways],
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(stored, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
