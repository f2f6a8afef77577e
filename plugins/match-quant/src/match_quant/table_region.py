"""Computes a region of element-wise operators for all values of an 8-bit tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import erf
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.ir.reader import Quant, constant, quant_constant, quant_of
from match_core.passes.fold_constants import evaluate_node
from numpy.typing import NDArray

from match_quant.tables import all_values

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Values = NDArray[Any]
#: What ONNX's reference implementation computes for floats, which takes 70 ms to start; the operators of most GELUs.
_FUNCTIONS: dict[str, Callable[..., Values]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Erf": np.vectorize(erf, otypes="f"),
}


def evaluate(
    nodes: Sequence[gs.Node], starts: Sequence[gs.Node], end: gs.Tensor, quant: Quant
) -> NDArray[np.float64] | None:
    """The float tensor ``end`` for every stored value that ``starts`` (DequantizeLinear nodes) read, in order, computed
    in float32 (float16 if the model uses it). None if a result is not a number, or an operator has no reference
    implementation. ``nodes``: the nodes in between in topological order, including QuantizeLinear and DequantizeLinear.
    """
    x = all_values(quant).astype(starts[0].outputs[0].dtype)
    known = {id(start.outputs[0]): x for start in starts}
    with np.errstate(all="ignore"):
        for node in nodes:
            result = _result(node, known)
            if result is None:
                return None
            known[id(node.outputs[0])] = result
    values = known[id(end)].astype(np.float64).reshape(-1)
    return values if values.size == x.size and not np.any(np.isnan(values)) else None


def constant_of(tensor: gs.Tensor) -> NDArray[np.generic] | None:
    """The values of a constant, dequantised or not; None for computed tensors."""
    stored = quant_constant(tensor)
    return stored.real().astype(tensor.dtype) if stored is not None else constant(tensor)


def number_of(values: Values) -> Values | None:
    """The number that a constant repeats; None if there are several."""
    first = values.reshape(-1)[:1]
    return first.reshape(()) if first.size and np.all(values == first) else None


def _result(node: gs.Node, known: Mapping[int, Values]) -> Values | None:
    """Floats hold quantised tensors, which are exact there: infinities and values outside 32 bits saturate, and NaN is
    propagated and found at the end."""
    import onnx_graphsurgeon as gs

    given = [tensor if tensor.is_empty() else _values(tensor, known) for tensor in node.inputs]
    x: Values = given[0]
    y = node.outputs[0]
    if node.op in ("QuantizeLinear", "DequantizeLinear"):
        quant = quant_of(node, (y if node.op == "QuantizeLinear" else node.inputs[0]).dtype)
        assert quant is not None
        scale, zero = np.array(quant.scale, x.dtype), np.array(quant.zero, x.dtype)
        limits = [x.dtype.type(limit) for limit in (np.iinfo(quant.dtype).min, np.iinfo(quant.dtype).max)]
        real: Values = (x - zero) * scale
        return real if node.op == "DequantizeLinear" else np.clip(np.round(x / scale) + zero, *limits)
    if node.op in _FUNCTIONS and np.issubdtype(x.dtype, np.floating):
        return _FUNCTIONS[node.op](*given).astype(x.dtype)
    inputs = [value if isinstance(value, gs.Tensor) else gs.Constant(f"x{i}", value) for i, value in enumerate(given)]
    shape = np.broadcast_shapes(*(value.shape for value in given if isinstance(value, np.ndarray)))
    results = evaluate_node(gs.Node(node.op, "", dict(node.attrs), inputs, [gs.Variable("y", y.dtype, shape)]))
    return None if results is None else results[0]


def _values(tensor: gs.Tensor, known: Mapping[int, Values]) -> Values:
    if id(tensor) in known:
        return known[id(tensor)]
    values = constant_of(tensor)
    number = None if values is None else number_of(values)
    assert number is not None
    return number
