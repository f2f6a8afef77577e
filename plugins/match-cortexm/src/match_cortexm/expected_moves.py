"""What operators that move, join or pool numbers make of expected ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_cortexm.expected import Expected

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.expected import Floats


def pooled(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """A mean, or a maximum, is 0 if all of its terms are (none is negative where any is expected to be 0)."""
    x, (source, result) = read[0], (shape_of(tensor) for tensor in (node.inputs[0], node.outputs[0]))
    terms = prod(node.attrs["kernel_shape"]) if "kernel_shape" in node.attrs else prod(source) // max(1, prod(result))
    if x.axis is not None and (len(source) != len(result) or source[x.axis] != result[x.axis]):
        x = x.merged()
    zero = x.zero**terms
    if "Max" in node.op:
        return Expected(x.mean + np.sqrt(x.variance), x.variance / 2, zero, x.axis)
    return Expected(x.mean, x.variance / terms, zero, x.axis)


def turned(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """The same numbers with the axes in another order."""
    x, rank = read[0], len(shape_of(node.inputs[0]))
    order = [int(axis) for axis in node.attrs.get("perm", reversed(range(rank)))]
    return x if x.axis is None else replace(x, axis=order.index(rank + x.axis) - rank)


def moved(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """The same numbers, or some of them, in another shape: by channels if these stay apart."""
    x, (source, result) = read[0], (shape_of(tensor) for tensor in (node.inputs[0], node.outputs[0]))
    if x.axis is None or len(x.mean) == 1:
        return x
    size, behind = source[x.axis], prod(source[x.axis :][1:])
    for axis in range(-len(result), 0):
        if result[axis] == size and prod(result[axis:][1:]) == behind:
            return replace(x, axis=axis)
    if result and prod(source[1:]) == result[-1]:  # all of one sample, one after another
        across = [size if axis == len(source) + x.axis else 1 for axis in range(1, len(source))]
        return x.spread(lambda value: np.broadcast_to(value.reshape(across), source[1:]).reshape(-1), -1)
    return x.merged()


def resized(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Some of the numbers, or each several times: by channels if all of these are there once."""
    x, (source, result) = read[0], (shape_of(tensor) for tensor in (node.inputs[0], node.outputs[0]))
    kept = x.axis is None or (len(source) == len(result) and source[x.axis] == result[x.axis])
    return x if kept else x.merged()


def joined(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Tensors one after another: by the axis along which they are."""
    result = shape_of(node.outputs[0])
    axis = int(node.attrs["axis"]) % len(result) - len(result)
    sizes = [shape_of(tensor)[axis] for tensor in node.inputs]
    if any(x.axis not in (None, axis) for x in read):
        read = [x.merged() for x in read]
    each = [x.along(axis, size) for x, size in zip(read, sizes, strict=True)]

    def all_of(name: str) -> Floats:
        parts = zip((getattr(x, name) for x in each), sizes, strict=True)
        return np.concatenate([np.broadcast_to(values, size) for values, size in parts])

    return Expected(all_of("mean"), all_of("variance"), all_of("zero"), axis)
