"""GELU in elementary operators: ``x * (1 + erf(x / sqrt(2))) / 2``, or with tanh, in any order of the factors."""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, shape_of

from match_quant.factors import Factors, factors, inner, made_by, near, scalar, sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx_graphsurgeon as gs

#: tanh(SLOPE * (x + CUBE * x^3)) approximates erf(x / sqrt(2)).
_SLOPE, _CUBE = sqrt(2 / pi), 0.044715
#: Tensors of one argument that may be x.
_MOST_TENSORS = 16


def replace_gelu(editor: Editor, last: gs.Node) -> None:
    """Replace the product that ``last`` ends, if it is a GELU."""
    y = last.outputs[0]
    dtype = np.dtype(y.dtype)
    for gate in factors(y).tensors if dtype.kind == "f" else ():
        for x, approximate, inside in _gates(gate):
            product = factors(y, (x, gate))
            nodes = (*inside, *product.nodes)
            both = len(product.tensors) == 2 and {id(tensor) for tensor in product.tensors} == {id(x), id(gate)}
            if not both or not near(product.number, 0.5, dtype) or not inner(editor, nodes, last):
                continue
            attrs, origin, shape = {"approximate": approximate}, editor.origin(*nodes), shape_of(y)
            editor.replace(y, editor.node("Gelu", [x], y.dtype, shape, name=last.name, origin=origin, attrs=attrs))
            return


def _gates(tensor: gs.Tensor) -> Iterator[tuple[gs.Tensor, str, tuple[gs.Node, ...]]]:
    """x, kind and nodes if the tensor is ``1 + erf(x / sqrt(2))`` or ``1 + tanh(...)``."""
    total = made_by(tensor, "Add")
    for one, bent in sums(total) if total is not None else ():
        node = made_by(bent, "Erf", "Tanh")
        if total is None or node is None or scalar(one) != 1.0:
            continue
        for x in _within(node.inputs[0]):
            argument, dtype = factors(node.inputs[0], (x,)), np.dtype(x.dtype)
            if node.op == "Erf" and argument.is_power(x, 1) and near(argument.number, sqrt(0.5), dtype):
                yield x, "none", (*argument.nodes, node, total)
            nodes = _cubic(argument, x, dtype) if node.op == "Tanh" else None
            if nodes is not None:
                yield x, "tanh", (*nodes, node, total)


def _within(tensor: gs.Tensor) -> list[gs.Tensor]:
    """The tensor and those it is computed from by sums and products."""
    found: dict[int, gs.Tensor] = {}
    waiting = [tensor]
    while waiting and len(found) < _MOST_TENSORS:
        current = waiting.pop()
        node = made_by(current, "Add", "Mul", "Div", "Pow")
        if constant(current) is None and id(current) not in found:
            found[id(current)] = current
            waiting.extend(node.inputs if node is not None else ())
    return list(found.values())


def _cubic(argument: Factors, x: gs.Tensor, dtype: np.dtype[np.generic]) -> tuple[gs.Node, ...] | None:
    """The nodes of ``SLOPE * (x + CUBE * x^3)``, perhaps with x or all factors moved into or out of the sum."""
    outer = [tensor for tensor in argument.tensors if tensor is not x]
    power = len(argument.tensors) - len(outer)  # 1 for x * (1 + CUBE * x^2)
    total = made_by(outer[0], "Add") if len(outer) == 1 and power < 2 else None
    for first, second in sums(total) if total is not None else ():
        a, b = factors(first, (x,)), factors(second, (x,))
        linear, cubic = argument.number * a.number, argument.number * b.number
        if not a.is_power(x, 1 - power) or not b.is_power(x, 3 - power) or total is None:
            continue
        if near(linear, _SLOPE, dtype) and near(cubic, _SLOPE * _CUBE, dtype):
            return (*a.nodes, *b.nodes, total, *argument.nodes)
    return None
