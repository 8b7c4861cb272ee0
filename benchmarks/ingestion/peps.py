"""Ingests all PEPs through the whole chain, from the command line, and stores the figures.

    python -m benchmarks.ingestion.peps DATA_FOLDER [--home STATE_FOLDER]

``DATA_FOLDER`` holds ``peps/docs/*.rst``. With a state folder that has been used before, only what
changed is converted, chunked and embedded; the figures say so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).parent


def registry(data: Path) -> dict[str, object]:
    """corpora.yaml of the benchmark: OpenVINO embeds fastest on a CPU, and chunks use the model's whole input."""
    return {
        "version": 1,
        "corpora": {
            "peps": {
                "owner": "benchmarks@example.com",
                "source": {"url": str(data / "peps" / "docs"), "include": ["*.rst"]},
                "source_class": "documentation",
                "chunking": {"child_tokens": 256},
                "embedding": {"backend": "openvino", "batch_size": 64},
            }
        },
    }


def main() -> int:
    """Runs the ingestion and prints one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--output", type=Path, default=HERE / "peps.json")
    arguments = parser.parse_args()
    if not (arguments.data / "peps" / "docs").is_dir():
        sys.stderr.write(f"{arguments.data}/peps/docs is absent: nothing measured\n")
        return 0
    home = arguments.home or Path(tempfile.mkdtemp(prefix="peps-"))
    home.mkdir(parents=True, exist_ok=True)
    config = home / "corpora.yaml"
    config.write_text(yaml.safe_dump(registry(arguments.data.resolve())))
    command = [sys.executable, "-m", "corpus_pipeline.cli", "--config", str(config), "--home", str(home)]
    done = subprocess.run([*command, "ingest", "peps", "--json"], stdout=subprocess.PIPE, text=True, check=False)
    run = json.loads(done.stdout)["corpora"][0]
    arguments.output.write_text(json.dumps({"cores": os.cpu_count(), **run}, indent=1) + "\n")
    for stage, figures in run["stages"].items():
        shown = ", ".join(f"{name} {value}" for name, value in figures.items() if name != "unchanged" and value)
        print(f"{stage:<26} {shown}")
    print(f"published: {run['published']} {run['error']}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
