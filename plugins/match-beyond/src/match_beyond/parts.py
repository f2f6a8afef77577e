"""Parts of tensors along their rows: Slice and Concat nodes of a model that only name bytes.

Row-major tensors whose outer axes have size 1 hold a range of rows as contiguous bytes, so a stripe is a part of the
tensor at an offset: a ``Slice`` reads it in place, and a ``Concat`` is where its inputs already are. If the large
tensor's home is the store (``Model.away``), the program copies the part instead, while other tasks run.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment
from match_core.contract.pattern import Part, Pattern
from match_core.contract.structure import Match
from match_core.contract.workload import Axis, Dim, Operand, Workload

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.model import Model

#: Index of the first candidate, behind those of any model.
FIRST_INDEX = 1 << 30


def parts_of(node: gs.Node) -> tuple[Part, ...]:
    """The parts that a Slice or Concat names. ValueError for another node, or if bytes of a part are not contiguous."""
    if node.op == "Concat":
        whole, axis, start, found = node.outputs[0], int(node.attrs["axis"]), 0, []
        for tensor in node.inputs:
            found.append(Part(tensor.name, whole.name, _bytes(whole, axis, start)))
            start += int(tensor.shape[axis])
        return tuple(found)
    if node.op != "Slice" or any(values.size != 1 for values in _ranges(node)) or int(_ranges(node)[-1][0]) != 1:
        raise ValueError(f"{node.name!r} does not name one part of a tensor")
    first, _, axis, _ = (int(values[0]) for values in _ranges(node))
    return (Part(node.outputs[0].name, node.inputs[0].name, _bytes(node.inputs[0], axis, first)),)


def _ranges(node: gs.Node) -> list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """Starts, ends, axes and steps of a Slice."""
    return [tensor.values for tensor in node.inputs[1:5]]


def _bytes(whole: gs.Tensor, axis: int, first: int) -> int:
    shape = [int(size) for size in whole.shape]
    if prod(shape[:axis]) != 1:
        raise ValueError(f"parts of {whole.name!r} along axis {axis} are not contiguous")
    return first * prod(shape[axis + 1 :]) * int(np.dtype(whole.dtype).itemsize)


def _workload(match: Match) -> Workload:
    def operand(name: str, role: str, tensor: gs.Tensor) -> Operand:
        axes = tuple(Axis(f"a{number}", int(size)) for number, size in enumerate(tensor.shape))
        return Operand(name, role, axes, 8 * int(np.dtype(tensor.dtype).itemsize))  # type: ignore[arg-type]

    node = match.nodes[0]
    tensors = node.inputs if node.op == "Concat" else node.inputs[:1]
    operands = [operand(f"in{number}", "input", tensor) for number, tensor in enumerate(tensors)]
    elements = prod(int(size) for size in match.output.shape)
    dims = (Dim("N", elements, tileable=False),)
    return Workload("part", dims, (*operands, operand("out0", "output", match.output)), 0)


def _parts(match: Match) -> tuple[Part, ...]:
    return parts_of(match.nodes[0])


_PATTERNS = {
    False: Pattern("part", "rows of a tensor where they are (no code)", None, (), _workload, view=True, parts=_parts),
    True: Pattern(
        "swapped_part", "rows copied between memories", None, (), _workload, view=True, parts=_parts, swapped=True
    ),
}


def assigned(model: Model, host: str) -> tuple[Assignment, ...]:
    """An assignment for every node in ``model.parts``. They cost nothing; the planner adds the cycles of copies."""
    found = []
    for number, node in enumerate(node for node in model.graph.nodes if node.name in model.parts):
        large = node.outputs[0] if node.op == "Concat" else node.inputs[0]
        pattern, match = _PATTERNS[large.name in model.away], Match((node,), {"op": node})
        workload = pattern.workload(match)
        tile = tuple((dim.name, dim.size) for dim in workload.dims)
        schedule = LoopSchedule((), tile, (), 0, 0, None, (), Cost(model="part", bound="exact"))
        found.append(Assignment(Candidate(FIRST_INDEX + number, host, pattern, match, workload), schedule))
    return tuple(found)
