"""Multiply-accumulates of single nodes, counted from shapes, for every operator that sums products over an axis.

Products with padding count, as in workloads. A transposed convolution counts the products of its definition (every
input element with every tap of its filters), not the steps of the host's kernel, which also visits the zeros between
the inputs. Other operators (elementwise ones, pooling, normalisation, Fourier transforms) count 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Products of an input row and of the hidden state for each unit of a layer.
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def node_macs(node: gs.Node) -> int:
    """Multiply-accumulates of a node; 0 for operators that sum no products. ValueError if a shape is not static."""
    count = _COUNTS.get(qualified_op(node))
    return 0 if count is None else count(node)


def _shape(tensor: gs.Tensor) -> tuple[int, ...]:
    if tensor.shape is None or any(isinstance(size, str) or size is None for size in tensor.shape):
        raise ValueError(f"tensor {tensor.name!r} has no static shape")
    return tuple(int(size) for size in tensor.shape)


def _convolution(weight: int) -> Callable[[gs.Node], int]:
    """Every result sums one filter: weights are [outputs][inputs per group][taps...], the input number ``weight``."""
    return lambda node: prod(_shape(node.outputs[0])) * prod(_shape(node.inputs[weight])[1:])


def _transposed_convolution(node: gs.Node) -> int:
    """Weights are [inputs][outputs per group][taps...]."""
    return prod(_shape(node.inputs[0])) * prod(_shape(node.inputs[1])[1:])


def _product(node: gs.Node) -> int:
    """Batched products of [..., M, K] and [..., K, N]; operands may be vectors."""
    return prod(_shape(node.outputs[0])) * _shape(node.inputs[0])[-1]


def _gemm(node: gs.Node) -> int:
    return prod(_shape(node.outputs[0])) * _shape(node.inputs[0])[0 if node.attrs.get("transA", 0) else 1]


def _recurrent(node: gs.Node) -> int:
    """The input is [steps][batch][inputs] in either layout; weights are [directions][gates * hidden][inputs]."""
    first, second, inputs = _shape(node.inputs[0])
    directions, rows, _ = _shape(node.inputs[1])
    return first * second * directions * rows * (inputs + rows // _GATES[node.op])


def _einsum(node: gs.Node) -> int:
    """One for each combination of labels, if several operands are multiplied and some label is summed."""
    stated = node.attrs.get("equation", "")
    text = stated.decode() if isinstance(stated, bytes) else str(stated)
    left, arrow, right = text.replace(" ", "").partition("->")
    terms, sizes = left.split(","), dict[str, int]()
    for term, tensor in zip(terms, node.inputs, strict=True):
        for label, size in zip(_labels(term, len(_shape(tensor))), _shape(tensor), strict=True):
            sizes[label] = max(size, sizes.get(label, 1))
    letters = [label for label in left if label.isalpha()]
    kept = set(right) if arrow else {label for label in letters if letters.count(label) == 1}
    return prod(sizes.values()) if len(terms) > 1 and not kept.issuperset(letters) else 0


def _labels(term: str, rank: int) -> tuple[str, ...]:
    """The labels of all axes; those of an ellipsis are counted from the last one."""
    before, _, after = term.partition("...")
    dots = rank - len(before) - len(after)
    return (*before, *(str(number) for number in reversed(range(dots))), *after)


_COUNTS: dict[str, Callable[[gs.Node], int]] = {
    **dict.fromkeys(("Conv", "ConvInteger", "match.nhwc::Conv", "match.nhwc::ConvInteger"), _convolution(1)),
    **dict.fromkeys(("DeformConv", "match.arith::ConvIntegerI16", "match.nhwc::ConvIntegerI16"), _convolution(1)),
    "QLinearConv": _convolution(3),
    "ConvTranspose": _transposed_convolution,
    **dict.fromkeys(("MatMul", "MatMulInteger", "QLinearMatMul", "match.arith::MatMulIntegerI16"), _product),
    **dict.fromkeys(("Gemm", "com.microsoft::QGemm"), _gemm),
    **dict.fromkeys(_GATES, _recurrent),
    "Einsum": _einsum,
}
