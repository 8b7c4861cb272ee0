"""Running an exported transformer: tokens in, token states out, several batches at once.

Measured against the libraries' own loop: one stream a core with small batches needs less time, for
no core waits for another within a layer and what a layer writes is still in the cache for the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Graph", "Inputs", "OnnxGraph", "OpenVinoGraph"]

Inputs = dict[str, npt.NDArray[np.int64]]
"""``input_ids``, ``attention_mask``, ``token_type_ids``, each of shape ``(texts, tokens)``."""

Take = Callable[[int, npt.NDArray[np.float32]], None]
"""Receives the number of a batch and its token states, from any thread."""


class Graph(Protocol):
    """An exported transformer."""

    def run(self, batches: Iterable[Inputs], take: Take) -> None:
        """Computes all batches and hands the states of each to ``take``, in any order."""


class OpenVinoGraph:
    """A graph of OpenVINO on the processor, one stream a core.

    Args:
        path: ``openvino_model.xml``; its weights lie beside it.
        precision: ``float32`` or ``bfloat16``. Named, for left alone OpenVINO takes bfloat16 wherever
            the processor has it.
    """

    def __init__(self, path: Path, precision: str) -> None:
        import openvino

        self._openvino = openvino
        hint = "bf16" if precision == "bfloat16" else "f32"
        self._compiled = openvino.Core().compile_model(
            str(path), "CPU", {"INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "THROUGHPUT"}
        )
        self._names = [each.get_any_name() for each in self._compiled.inputs]

    def run(self, batches: Iterable[Inputs], take: Take) -> None:
        """Computes all batches, as many at once as there are streams."""
        faults: list[BaseException] = []

        def received(request: Any, number: int) -> None:
            try:
                take(number, request.get_output_tensor(0).data)
            except BaseException as fault:  # noqa: BLE001 - raised again below, in the caller's thread
                faults.append(fault)

        queue = self._openvino.AsyncInferQueue(self._compiled)
        queue.set_callback(received)
        for number, inputs in enumerate(batches):
            queue.start_async({name: inputs[name] for name in self._names}, number)
        queue.wait_all()
        if faults:
            raise faults[0]


class OnnxGraph:
    """A graph of ONNX Runtime on the processor, one batch a core."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._names = [each.name for each in self._session.get_inputs()]

    def run(self, batches: Iterable[Inputs], take: Take) -> None:
        """Computes all batches, as many at once as there are cores."""

        def compute(numbered: tuple[int, Inputs]) -> None:
            number, inputs = numbered
            take(number, self._session.run(None, {name: inputs[name] for name in self._names})[0])

        waiting = list(enumerate(batches))
        if len(waiting) == 1:
            compute(waiting[0])
            return
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as cores:
            try:
                for done in [cores.submit(compute, one) for one in waiting]:
                    done.result()
            except BaseException:
                cores.shutdown(wait=False, cancel_futures=True)
                raise
