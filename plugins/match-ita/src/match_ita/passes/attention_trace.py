"""Traces the elements of a tensor to their source, through operators that only move elements.

Exporters write the heads of attention in many ways: merged or separate weights, Split, Slice or Gather of them, Reshape
and Transpose in any order. All of them are traced the same way, by moving the element numbers of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import constant, constant_input, producer, shape_of
from numpy.typing import NDArray

from match_ita.passes.attention_affine import IDENTITY, Affine, affine_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Traced:
    """Element i of a tensor is ``affine`` of element ``index[i]`` (row-major number) of ``source``; ``nodes`` lie
    between them, the last one first."""

    source: gs.Tensor
    index: Ints
    affine: Affine
    nodes: tuple[gs.Node, ...]


def trace(tensor: gs.Tensor, stop: gs.Tensor | None = None) -> Traced:
    """Back to the first tensor that is not moved or scaled from another (or to ``stop``)."""
    chain: list[gs.Node] = []
    affine = IDENTITY
    source = tensor
    while (node := producer(source)) is not None and source is not stop:
        if node.op in _MOVES and not node.domain:
            if not _known(node):
                break
        else:
            step = affine_of(node)
            if step is None or node.inputs[0].dtype != np.int8:  # sums are the end
                break
            affine = affine.after(step)
        chain.append(node)
        source = node.inputs[0]
    index = np.arange(int(np.prod(shape_of(source))), dtype=np.int64).reshape(shape_of(source))
    reached = source
    for node in reversed(chain):
        result = next(t for t in node.outputs if t is tensor or any(n in chain for n in t.outputs))
        move = _MOVES.get(node.op) if not node.domain else None
        index = move(index, node, result) if move is not None else index
        reached = result
    if reached is not tensor:
        raise ValueError(f"{tensor.name!r} was not reached")
    return Traced(source, index, affine, tuple(chain))


def _known(node: gs.Node) -> bool:
    return qualified_op(node) == node.op and all(constant(t) is not None for t in node.inputs[1:] if not t.is_empty())


def _reshape(index: Ints, node: gs.Node, result: gs.Tensor) -> Ints:
    moved: Ints = index.reshape(shape_of(result))
    return moved


def _transpose(index: Ints, node: gs.Node, result: gs.Tensor) -> Ints:
    moved: Ints = index.transpose([int(axis) for axis in node.attrs.get("perm", range(index.ndim)[::-1])])
    return moved


def _slice(index: Ints, node: gs.Node, result: gs.Tensor) -> Ints:
    starts, ends, axes, steps = (constant_input(node, position) for position in range(1, 5))
    if starts is None or ends is None:
        raise ValueError(f"{node.name!r} has no limits")
    axes = np.arange(starts.size) if axes is None else axes
    steps = np.ones(starts.size, np.int64) if steps is None else steps
    cuts = [slice(None)] * index.ndim
    for start, end, axis, step in zip(*(v.reshape(-1).tolist() for v in (starts, ends, axes, steps)), strict=True):
        size = index.shape[axis]
        low = None if step < 0 and end < -size else end  # before the first element
        cuts[axis % index.ndim] = slice(start, low, step)
    part: Ints = index[tuple(cuts)]
    return part


def _gather(index: Ints, node: gs.Node, result: gs.Tensor) -> Ints:
    positions = constant_input(node, 1)
    if positions is None:
        raise ValueError(f"{node.name!r} has no indices")
    part: Ints = np.take(index, positions.astype(np.int64), axis=int(node.attrs.get("axis", 0)))
    return part


def _split(index: Ints, node: gs.Node, result: gs.Tensor) -> Ints:
    axis = int(node.attrs.get("axis", 0))
    sizes = [shape_of(tensor)[axis] for tensor in node.outputs]
    position = next(i for i, tensor in enumerate(node.outputs) if tensor is result)
    start = sum(sizes[:position])
    return np.take(index, np.arange(start, start + sizes[position]), axis=axis)


_MOVES: Mapping[str, Callable[[Ints, gs.Node, gs.Tensor], Ints]] = MappingProxyType(
    {
        **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"), _reshape),
        "Transpose": _transpose,
        "Slice": _slice,
        "Gather": _gather,
        "Split": _split,
    }
)
