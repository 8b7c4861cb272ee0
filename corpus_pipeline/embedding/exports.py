"""Transformers as graphs of OpenVINO or ONNX: a model's own, or exported from its fingerprinted weights.

An export is kept under the fingerprint of its model with the hashes of its files; one that was
altered since is made again, so that a damaged file cannot change vectors in silence.
"""

from __future__ import annotations

import errno
import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus_pipeline.embedding.quantisation import quantise
from corpus_pipeline.model_files import file_sha256

if TYPE_CHECKING:
    import torch

__all__ = ["graph_file"]

_OWN = {"openvino": ("openvino/openvino_model.xml", "openvino_model.xml"), "onnx": ("onnx/model.onnx", "model.onnx")}
_HASHES = "export.json"
_OPSET = 17
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")

_Export = Callable[[Path], None]
"""Writes a graph below a folder."""


@contextmanager
def graph_file(folder: Path, backend: str, precision: str, kept: Path | None) -> Iterator[Path]:
    """The graph of a model for a backend, exported if the model has none of its own in that precision.

    Args:
        folder: The model.
        backend: ``openvino`` or ``onnx``.
        precision: A graph in ``int8`` is made from the one in float32.
        kept: Where the export is kept; ``None``, or a folder that cannot be written, keeps it only while the context is
            open.
    """
    own = _own_graph(folder, backend)
    if own is not None and precision != "int8":
        yield own
        return

    def export(target: Path) -> None:
        if own is None:
            _EXPORTERS[backend](folder, target)
        if precision == "int8":
            graph = target / _OWN[backend][0]
            graph.parent.mkdir(parents=True, exist_ok=True)
            quantise(own or graph, graph)

    if kept is not None and _is_kept(export, kept):
        yield kept / _OWN[backend][0]
    else:
        with tempfile.TemporaryDirectory(prefix="export-") as made:
            export(Path(made))
            yield Path(made) / _OWN[backend][0]


def _own_graph(folder: Path, backend: str) -> Path | None:
    return next((folder / name for name in _OWN[backend] if (folder / name).is_file()), None)


def _is_kept(export: _Export, kept: Path) -> bool:
    """Whether an export is kept there; made if it is not, unless this installation may not write there."""
    if _is_intact(kept):
        return True
    try:
        _keep(export, kept)
    except OSError:
        return False
    return True


def _keep(export: _Export, kept: Path) -> None:
    """Exports under the final name in one step; another process that was first keeps its own."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".export-", dir=kept.parent))
    try:
        export(made)
        hashes = {path.relative_to(made).as_posix(): file_sha256(path) for path in _files(made)}
        (made / _HASHES).write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        if not _is_intact(kept):
            shutil.rmtree(kept, ignore_errors=True)
        made.rename(kept)
    except OSError:
        if not _is_intact(kept):
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _is_intact(kept: Path) -> bool:
    try:
        hashes = json.loads((kept / _HASHES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(hashes == {path.relative_to(kept).as_posix(): file_sha256(path) for path in _files(kept)})


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _HASHES)


def _export_openvino(folder: Path, target: Path) -> None:
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(
            str(folder), backend="openvino", device="cpu", local_files_only=True, model_kwargs={"export": True}
        )
        model.save_pretrained(str(target), create_model_card=False)
    except RuntimeError as error:
        if "iostream error" not in str(error):
            raise
        # All that OpenVINO says of a file that it could not write.
        raise OSError(errno.ENOSPC, "OpenVINO could not write its graph", str(target)) from error


def _export_onnx(folder: Path, target: Path) -> None:
    """By torch's own exporter: optimum's asks for older releases of optimum and transformers than OpenVINO's."""
    import onnx  # noqa: F401 - torch needs it and would fail late and less clearly
    import torch
    from sentence_transformers import SentenceTransformer

    options: dict[str, Any] = {"attn_implementation": "eager", "dtype": torch.float32}
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs=options)
    first: Any = model[0]
    transformer = first.auto_model.eval()
    names = [name for name in _INPUTS if name in first.tokenizer.model_input_names]
    example = torch.ones((2, 8), dtype=torch.int64)
    axes = {name: {0: "texts", 1: "tokens"} for name in (*names, "states")}
    path = target / _OWN["onnx"][0]
    path.parent.mkdir(parents=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _with_open_mask(transformer, names),
            tuple(example for _ in names),
            str(path),
            input_names=names,
            output_names=["states"],
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )


def _with_open_mask(transformer: Any, names: list[str]) -> torch.nn.Module:
    """The transformer behind a mask that is added to scores: what the library makes of a mask cannot be traced."""
    import torch

    class Wrapped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            given = dict(zip(names, tensors, strict=True))
            kept = given["attention_mask"][:, None, None, :].to(torch.float32)
            given["attention_mask"] = (1.0 - kept) * torch.finfo(torch.float32).min
            states: torch.Tensor = self.transformer(**given, return_dict=True)[0]
            return states

    return Wrapped()


_EXPORTERS = {"openvino": _export_openvino, "onnx": _export_onnx}
