"""Where docling's layout and table weights are on this machine, and which ones they are."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from corpus_pipeline.records import sha256_hex

__all__ = ["MODELS_REMEDY", "missing_for_models", "model_folder", "resolved_grade", "weights_version"]

_LAYOUT = "docling-project--docling-layout-heron"
_TABLES = "docling-project--docling-models"
_NEEDED = (f"{_LAYOUT}/*.safetensors", f"{_TABLES}/model_artifacts/tableformer/accurate/*.safetensors")
_PACKAGES = ("docling_ibm_models", "torchvision")
MODELS_REMEDY = (
    "pip install 'corpus-pipeline[docling-models]', fetch the weights once where there is a network with "
    "`docling-tools models download -o FOLDER`, and set DOCLING_ARTIFACTS_PATH to that folder; or set "
    "conversion.pdf_grade to auto."
)


def model_folder() -> Path:
    """The folder that is looked into: ``DOCLING_ARTIFACTS_PATH``, or docling's own download folder."""
    named = os.environ.get("DOCLING_ARTIFACTS_PATH")
    return Path(named) if named else Path.home() / ".cache" / "docling" / "models"


def missing_for_models() -> list[str]:
    """What the grade ``models`` lacks here, in words; empty when it can run."""
    packages = [f"the package {name}" for name in _PACKAGES if find_spec(name) is None]
    folder = model_folder()
    return packages + [f"weights {pattern} in {folder}" for pattern in _NEEDED if not any(folder.glob(pattern))]


def resolved_grade(asked: str) -> str:
    """``models``, ``geometry`` or ``native``: ``auto`` takes the models where they can run."""
    if asked != "auto":
        return asked
    return "geometry" if missing_for_models() else "models"


def weights_version() -> str:
    """Digest of the weights, such as ``weights 0123456789ab``; empty when there are none."""
    files = sorted(file for pattern in _NEEDED for file in model_folder().glob(pattern))
    if not files:
        return ""
    digests = [(file.name, _file_sha256(file, file.stat().st_size, file.stat().st_mtime_ns)) for file in files]
    return f"weights {sha256_hex(repr(digests))[:12]}"


@cache
def _file_sha256(file: Path, size: int, changed: int) -> str:  # noqa: ARG001 - size and time make the cached value expire
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
