"""Signatures a second on one core: ours from text, datasketch and rensa from ready shingles.

python benchmarks/deduplication/signature_speed.py [--documents 5000]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

import numpy as np
from datasketch import MinHash
from reporting import machine, report

from corpus_pipeline.deduplication.kernels import shingle_hash32
from corpus_pipeline.deduplication.normalisation import words
from corpus_pipeline.deduplication.parameters import comparison_parameters
from corpus_pipeline.deduplication.signatures import minhash, shingle_set, sign
from corpus_pipeline.registry import DeduplicationSpec

WORDS = 300
PARAMETERS = comparison_parameters(DeduplicationSpec())


def documents(count: int) -> list[str]:
    generator = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["".join(generator.choices(letters, k=generator.randint(2, 10))) for _ in range(20_000)]
    return [" ".join(generator.choices(vocabulary, k=WORDS)) for _ in range(count)]


def rate(work: Callable[[], object], count: int, repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return count / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5000)
    count = parser.parse_args().documents
    texts = documents(count)
    sign(texts[0], PARAMETERS)  # compiles
    sets = [shingle_set(text, 5) for text in texts]
    found = [words(text) for text in texts]
    shingles = [[" ".join(item[n : n + 5]) for n in range(len(item) - 4)] for item in found]
    encoded = [[shingle.encode() for shingle in item] for item in shingles]
    few = encoded[: max(1, count // 10)]
    rates = {
        "ours, text to signature": rate(lambda: [sign(text, PARAMETERS) for text in texts], count),
        "ours, shingle hashes to signature": rate(lambda: [minhash(item, 128, 1) for item in sets], count),
        "datasketch bulk (SHA-1), shingles to signature": rate(
            lambda: MinHash.bulk(few, num_perm=128, seed=1), len(few), 1
        ),
    }
    try:
        from rensa import RMinHash
    except ImportError:
        print("rensa is not installed (pip install rensa): left out")
    else:

        def with_rensa() -> None:
            for item in shingles:
                sketch = RMinHash(num_perm=128, seed=1)
                sketch.update(item)
                sketch.digest()

        rates["rensa, shingles to signature"] = rate(with_rensa, count)
    reference = MinHash.bulk(encoded[:50], num_perm=128, seed=1, hashfunc=shingle_hash32)
    equal = all(
        np.array_equal(r.hashvalues, sign(t, PARAMETERS).minima) for r, t in zip(reference, texts, strict=False)
    )
    rows = [{"method": method, "documents_per_second": value} for method, value in rates.items()]
    conditions = {"words": WORDS, "permutations": 128, "bit_identical_to_datasketch": equal}
    report("signature_speed", rows, conditions | machine())


if __name__ == "__main__":
    main()
