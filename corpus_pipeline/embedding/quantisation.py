"""Eight-bit products of matrices in an ONNX graph: a question takes two thirds to four fifths of the time.

Weights are rounded once, one scale a column; activations as they come, one scale for all tokens of a
run. Weights keep seven bits: without VNNI the processor adds pairs of products in 16 bits, which eight
bits overflow, so that processors with it and without it give the same sums.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpus_pipeline.errors import ConfigurationError

__all__ = ["QUANTISATION", "quantise"]

QUANTISATION = "dynamic, 7 bits a column, contracting products in float32"
"""Of which vectors depend; part of the fingerprint."""
_MATRIX = 2


def quantise(graph: Path, target: Path) -> None:
    """Writes a graph whose products with weights are of integers, but for those that contract.

    The product behind an activation function, from more values to fewer, stays in float32: what goes into it has a few
    values far above all others, and half of the whole error came from there.

    Args:
        graph: An ONNX file in float32.
        target: The file to write, which may be the same.

    Raises:
        ConfigurationError: The graph has no such products.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # Given as a file, the library writes another one beside it, and a model's own folder need not be writable.
    model = onnx.load(graph)
    products = _products(model.graph)
    if not products:
        raise ConfigurationError(
            "the model's ONNX graph has no products with weights of its own, so that eight bits would change nothing",
            remedy="Write `precision: float32` in corpora.yaml.",
        )
    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        nodes_to_quantize=products,
    )


def _products(graph: Any) -> list[str]:
    """Names of the products with weights that do not contract; those without a name get one."""
    matrices = {weights.name: weights.dims for weights in graph.initializer if len(weights.dims) == _MATRIX}
    expanding = {name for name, (rows, columns) in matrices.items() if rows <= columns}
    names = []
    for number, node in enumerate(graph.node):
        if node.op_type == "MatMul" and node.input[1] in expanding:
            node.name = node.name or f"product_{number}"
            names.append(node.name)
    return names
