"""One document in four formats, recognised by its converted text alone.

    python benchmarks/deduplication/formats.py [--formats txt html xml pdf] [--documents 50] [--texts FOLDER]

The RFCs of ``rfcs/formats`` are converted as an ingestion does; names, numbers and metadata play no part in what
follows. ``--texts`` keeps the converted texts in a folder, so that a second run need not convert again. A pair of
formats of one RFC is found when an exact or near edge joins them or a cluster holds both; boilerplate on and off.
"""

from __future__ import annotations

import argparse
import tempfile
import zlib
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from reporting import data_folder, machine, report
from running import Compared, compared

from corpus_pipeline.conversion import CATALOGUE, ConversionJob, ConversionPool
from corpus_pipeline.deduplication.signatures import shingle_set
from corpus_pipeline.records import ConvertedDocument, DuplicateKind
from corpus_pipeline.registry import ConversionLimits, DeduplicationSpec


def converted(paths: list[Path], folder: Path) -> dict[str, str]:
    """Texts by file name; those already in the folder are taken from there."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [path for path in paths if not (folder / path.name).exists()]
    targets = {name: entry.target for name, entry in CATALOGUE.items()}
    limits = ConversionLimits().model_dump()
    with tempfile.TemporaryDirectory() as scratch, ConversionPool(Path(scratch) / "scratch", workers=1) as pool:
        jobs = (
            ConversionJob(
                key=str(path),
                path=str(path),
                extension=path.suffix[1:],
                requested="auto",
                targets=targets,
                limits=limits,
            )
            for path in missing
        )
        for outcome in pool.run(jobs):
            if outcome.content:
                document = ConvertedDocument.model_validate_json(zlib.decompress(outcome.content))
                (folder / Path(outcome.key).name).write_text(document.text, encoding="utf-8")
    return {path.name: (folder / path.name).read_text("utf-8") for path in paths if (folder / path.name).exists()}


def joined(found: Compared) -> set[tuple[str, str]]:
    pairs = {(edge.left_id, edge.right_id) for edge in found.edges if edge.kind is not DuplicateKind.CONTAINED}
    return pairs | {pair for cluster in found.clusters for pair in combinations(sorted(cluster.members), 2)}


def measure(texts: dict[str, str], formats: list[str], removal: bool) -> list[dict[str, Any]]:
    found = compared(texts, DeduplicationSpec(remove_boilerplate=removal))
    pairs = joined(found)
    sets = {name: set(shingle_set(text, 5).tolist()) for name, text in texts.items()}
    rows = []
    for one, other in combinations(sorted(formats), 2):
        wanted = [
            (f"{stem}.{one}", f"{stem}.{other}")
            for stem in sorted({name.partition(".")[0] for name in texts})
            if f"{stem}.{one}" in texts and f"{stem}.{other}" in texts
        ]
        alike = [len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in wanted]
        rows.append(
            {
                "formats": f"{one} {other}",
                "boilerplate removed": f"{found.change.boilerplate.size} lines" if removal else "no",
                "pairs": len(wanted),
                "found": sum(pair in pairs for pair in wanted),
                "Jaccard of the whole texts, median": median(alike),
                "least": min(alike),
                "at 0.8 and above": sum(value >= 0.8 for value in alike),
            }
        )
    whole = sum(
        all(pair in pairs for pair in combinations(sorted(f"{stem}.{each}" for each in formats), 2))
        for stem in {name.partition(".")[0] for name in texts}
    )
    strangers = sum(a.partition(".")[0] != b.partition(".")[0] for a, b in pairs)
    rows.append(
        {
            "formats": "all of one RFC",
            "boilerplate removed": rows[0]["boilerplate removed"],
            "pairs": len({name.partition(".")[0] for name in texts}),
            "found": whole,
            "Jaccard of the whole texts, median": "",
            "least": "",
            "at 0.8 and above": f"{strangers} pairs of unlike RFCs",
        }
    )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--formats", nargs="+", default=["html", "pdf", "txt", "xml"])
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--texts", type=Path, default=None)
    arguments = parser.parse_args()
    folder = data_folder() / "rfcs" / "formats"
    stems = sorted({path.stem for path in folder.glob("rfc*.txt")})[: arguments.documents]
    paths = [folder / f"{stem}.{each}" for stem in stems for each in arguments.formats]
    with tempfile.TemporaryDirectory() as temporary:
        texts = converted(paths, arguments.texts or Path(temporary))
    rows = [row for removal in (False, True) for row in measure(texts, arguments.formats, removal)]
    report("formats", rows, {"converted": len(texts), "files": len(paths)} | machine())


if __name__ == "__main__":
    main()
