"""Any function of one 8-bit tensor, element by element, becomes a table of 256 values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.transforms.integer_graph import IntegerGraph
from match_core.transforms.quant import Quant, Site, constant, producer, shape_of

if TYPE_CHECKING:
    import onnx
    import onnx_graphsurgeon as gs

_UNARY = frozenset(
    [
        "Abs",
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Ceil",
        "Celu",
        "Clip",
        "Cos",
        "Cosh",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Identity",
        "LeakyRelu",
        "Log",
        "Mish",
        "Neg",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Pow",
        "Max",
        "Min",
        "PRelu",
        "Cast",
    ]
)
#: Deepest chain of operators that is folded into one table.
_MAX_NODES = 32


def unary(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Element-wise operators of one quantised tensor and scalar constants, between DequantizeLinear and
    QuantizeLinear. The table holds what the float operators compute, value by value."""
    region = _region(graph, site)
    if region is None:
        return None
    nodes, dequantize = region
    source = graph.source(dequantize.outputs[0])
    if source is None or shape_of(source[0]) != site.real_shape:
        return None
    x, quant, _ = source
    stored = graph.stored(site.quant)
    if stored.dtype != quant.dtype:
        return None  # tables map a type to itself
    values = _evaluate(nodes, dequantize.outputs[0], site.quantize.inputs[0], quant)
    if values is None:
        return None
    table = np.array([stored.quantise(float(value)) for value in values], stored.dtype)
    origin = graph.editor.origin(dequantize, *nodes, site.quantize)
    return apply_table(graph, x, table, stored, site.op.name, origin)


def apply_table(
    graph: IntegerGraph,
    x: gs.Variable,
    table: NDArray[np.generic],
    result: Quant,
    name: str,
    origin: tuple[str, ...],
) -> gs.Variable:
    """A Lut node, or ``x`` itself where the table changes nothing. ``table`` is in the order of the stored values
    (-128 first for int8)."""
    limits = np.iinfo(result.dtype)
    known = graph.expectation(x).bounds()
    stored = np.arange(limits.min, limits.max + 1)
    reachable = (stored >= known[0]) & (stored <= known[1])
    if np.array_equal(table[reachable].astype(np.int64), stored[reachable]):
        return x
    op = "match.arith::LutU8" if result.dtype == np.uint8 else "match.arith::LutI8"
    values = graph.editor.constant(f"{name}_values", table.astype(result.dtype))
    return graph.editor.node(op, [x, values], result.dtype, shape_of(x), name=name, origin=origin)


def all_values(quant: Quant) -> NDArray[np.float32]:
    """The reals behind all 256 stored values in order, as DequantizeLinear computes them in float32."""
    limits = np.iinfo(quant.dtype)
    stored = np.arange(limits.min, limits.max + 1, dtype=np.int32)
    return np.asarray((stored - quant.zero).astype(np.float32) * np.float32(quant.scale), np.float32)


def requant_table(quant: Quant, result: Quant) -> NDArray[np.int64]:
    """Stored values of ``quant`` expressed with the parameters of ``result``, clipped to its bounds."""
    values = np.array([result.quantise(float(value)) for value in all_values(quant)], np.int64)
    return np.clip(values, result.lo, result.hi)


def _region(graph: IntegerGraph, site: Site) -> tuple[tuple[gs.Node, ...], gs.Node] | None:
    """The element-wise nodes behind the QuantizeLinear in topological order, and the one DequantizeLinear they read."""
    found: dict[int, gs.Node] = {}
    ordered: list[gs.Node] = []
    leaf: gs.Node | None = None
    shape = site.real_shape

    def visit(tensor: gs.Tensor) -> bool:
        nonlocal leaf
        values = constant(tensor)
        if values is not None:
            return values.size == 1
        node = producer(tensor)
        if node is None or tensor.shape is None or shape_of(tensor) != shape:
            return False
        if node.op == "DequantizeLinear":
            leaf = leaf or node
            return leaf.inputs[0] is node.inputs[0]
        if node.op not in _UNARY or (node.domain or "") not in ("", "ai.onnx") or len(found) >= _MAX_NODES:
            return False
        if id(node) not in found:
            found[id(node)] = node
            if not all(visit(i) for i in node.inputs if not i.is_empty()):
                return False
            ordered.append(node)
        return True

    if not visit(site.quantize.inputs[0]) or leaf is None:
        return None
    return tuple(ordered), leaf


def _evaluate(nodes: tuple[gs.Node, ...], start: gs.Tensor, end: gs.Tensor, quant: Quant) -> NDArray[np.float64] | None:
    """The region's float result for every stored value; None where it is not a number."""
    x = all_values(quant)
    if not nodes:
        return x.astype(np.float64)
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(_region_model(nodes, start, end, x.size))
    with np.errstate(all="ignore"):
        (result,) = evaluator.run(None, {"x": x})
    values = np.asarray(result, np.float64).reshape(-1)
    return values if values.size == x.size and not np.any(np.isnan(values)) else None


def _region_model(nodes: tuple[gs.Node, ...], start: gs.Tensor, end: gs.Tensor, size: int) -> onnx.ModelProto:
    import onnx_graphsurgeon as gs

    from match_core.ir.model import IR_VERSION, OPSET

    x = gs.Variable("x", dtype=np.float32, shape=[size])
    fresh: dict[int, gs.Tensor] = {id(start): x}

    def renamed(tensor: gs.Tensor) -> gs.Tensor:
        if tensor.is_empty():
            return gs.Variable.empty()
        if id(tensor) not in fresh:
            values = constant(tensor)
            from_start = producer(tensor)
            if values is not None:
                fresh[id(tensor)] = gs.Constant(f"c{len(fresh)}", values.reshape(values.shape[:0] or ()))
            elif from_start is not None and from_start.op == "DequantizeLinear":
                fresh[id(tensor)] = x
            else:
                fresh[id(tensor)] = gs.Variable(f"v{len(fresh)}", dtype=tensor.dtype, shape=[size])
        return fresh[id(tensor)]

    copies = [
        gs.Node(n.op, f"n{i}", dict(n.attrs), [renamed(t) for t in n.inputs], [renamed(t) for t in n.outputs])
        for i, n in enumerate(nodes)
    ]
    graph = gs.Graph(copies, [x], [renamed(end)], name="region", opset=OPSET)
    proto: onnx.ModelProto = gs.export_onnx(graph)
    proto.ir_version = IR_VERSION
    return proto
