"""Finds float tensors that hold integers, and requantisation of them that is written as Div, Floor, Clip.

NEMO and others export ``Conv -> [Mul, Add]* -> Div -> Floor -> Clip`` in floats, with integers as constants. Such a
chain becomes ``AsInteger -> Requant -> Cast``; the factors before it are folded in later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import clamp_bounds, constant, producer, shape_of

from match_quant.integer_values import cast
from match_quant.narrow_elementwise import ELEMENTWISE_RULES
from match_quant.narrow_linear import whole

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_WEIGHTED = frozenset(("Conv", "Gemm", "MatMul"))
_HOLDERS = frozenset((*_WEIGHTED, *ELEMENTWISE_RULES))
#: Inputs of these operators that are parameters, not data.
_SETTINGS = {"Reshape", "Squeeze", "Unsqueeze", "Slice", "Expand", "Tile", "Gather", "ReduceSum"}


class Holders:
    """Float tensors that hold integers if the graph's inputs do. ``summed``: tensors that depend on weights or
    on a tensor of an integer type, so they are certain to hold integers."""

    def __init__(self, graph: gs.Graph) -> None:
        self._held: set[int] = set()
        self._summed: set[int] = set()
        self._inputs = {id(tensor) for tensor in graph.inputs if _is_float(tensor)}
        for node in graph.nodes:
            self._visit(node)

    def certain(self, tensor: gs.Tensor) -> bool:
        """Whether the tensor holds integers."""
        return id(tensor) in self._held and id(tensor) in self._summed

    def inputs_of(self, tensor: gs.Tensor) -> frozenset[int]:
        """Ids of the float graph inputs that must hold integers for this tensor to do so; none if it does not."""
        found, waiting, seen = set(), [tensor], set()
        while waiting:
            current = waiting.pop()
            if id(current) in seen:
                continue
            seen.add(id(current))
            if id(current) in self._inputs:
                found.add(id(current))
            elif id(current) in self._held:
                maker = producer(current)
                waiting.extend(t for t in maker.inputs if _is_float(t)) if maker is not None else None
        return frozenset(found)

    def add(self, tensor: gs.Variable) -> None:
        """A new float tensor that holds integers."""
        self._held.add(id(tensor))
        self._summed.add(id(tensor))

    def _visit(self, node: gs.Node) -> None:
        if (node.domain or "") not in ("", "ai.onnx") or not node.outputs or not _is_float(node.outputs[0]):
            return
        if node.op == "Cast":
            if np.dtype(node.inputs[0].dtype).kind in "iu":
                self.add(node.outputs[0])
            return
        data = node.inputs[:1] if node.op in _SETTINGS else [t for t in node.inputs if not t.is_empty()]
        fits = all(whole(t) is not None if constant(t) is not None else self._is_held(t) for t in data)
        if node.op not in _HOLDERS or not fits:
            return
        self._held.update(id(tensor) for tensor in node.outputs)
        if node.op in _WEIGHTED or any(id(tensor) in self._summed for tensor in node.inputs):
            self._summed.update(id(tensor) for tensor in node.outputs)

    def _is_held(self, tensor: gs.Tensor) -> bool:
        return id(tensor) in self._inputs or id(tensor) in self._held


def _is_float(tensor: gs.Tensor) -> bool:
    return tensor.dtype is not None and np.dtype(tensor.dtype).kind == "f"


def spell_out_requantisation(editor: Editor, holders: Holders) -> None:
    """Replace every ``Clip(Floor(Div(x, D)))`` of integers (or with a Mul by ``1 / D``) whose bounds are 8-bit."""
    for node in list(editor.graph.nodes):
        found = _idiom(node, editor.graph, holders) if node.op == "Clip" else None
        if found is None:
            continue
        x, divisor, (lo, hi), makers = found
        name, shape, old = node.name, shape_of(node.outputs[0]), node.outputs[0]
        origin = editor.origin(*makers, node)
        integers = editor.node("match.arith::AsInteger", [x], np.int64, shape, name=f"{name}_source", origin=origin)
        numbers = {"multiplier": 1, "addend": 0, "divisor": divisor, "lo": lo, "hi": hi}
        constants = [editor.constant(f"{name}_{n}", np.array(v, np.int64)) for n, v in numbers.items()]
        op, dtype = ("RequantI8", np.int8) if lo < 0 else ("RequantU8", np.uint8)
        result = editor.node(
            f"match.arith::{op}", [integers, *constants], dtype, shape, name=f"{name}_requant", origin=origin
        )
        held = cast(editor, result, old.dtype, f"{name}_held", origin)
        editor.replace(old, held)
        holders.add(held)


def _idiom(
    node: gs.Node, graph: gs.Graph, holders: Holders
) -> tuple[gs.Tensor, int, tuple[int, int], tuple[gs.Node, ...]] | None:
    bounds, floor = clamp_bounds(node), _maker(node.inputs[0], ("Floor",), graph)
    divide = _maker(floor.inputs[0], ("Div", "Mul"), graph) if floor is not None else None
    if bounds is None or floor is None or divide is None or not all(np.isfinite(end) for end in bounds):
        return None
    lo, hi = (int(end) for end in bounds)
    if (lo, hi) != bounds or not (0 <= lo <= hi <= 255 or -128 <= lo <= hi <= 127):
        return None
    x = divide.inputs[0]
    divisor = _divisor(divide)
    if divisor is None or constant(x) is not None or not holders.certain(x):
        return None
    return x, divisor, (lo, hi), (divide, floor)


def _maker(tensor: gs.Tensor, ops: tuple[str, ...], graph: gs.Graph) -> gs.Node | None:
    node = producer(tensor)
    private = len(tensor.outputs) == 1 and not any(tensor is output for output in graph.outputs)
    return node if node is not None and private and node.op in ops and not node.domain else None


def _divisor(node: gs.Node) -> int | None:
    values = constant(node.inputs[1])
    if values is None or values.size != 1:
        return None
    value = float(np.asarray(values, np.float64).reshape(-1)[0])
    if node.op == "Mul":  # only powers of two have exact reciprocals
        value = 1 / value if value > 0 and np.log2(value) == np.rint(np.log2(value)) else 0.0
    return int(value) if 1 <= value < 2.0**53 and value == int(value) else None
