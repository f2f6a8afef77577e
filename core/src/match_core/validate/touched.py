"""The bytes that a task of a program touches, derived from its assignment alone, to check concurrent programs.

Shares nothing with the planner. Bytes are rows [first, end) of a tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_core.contract.mapping import Assignment
    from match_core.contract.workload import Operand


@dataclass(frozen=True, slots=True)
class Touch:
    """Rows of a tensor's bytes, ascending: ``first`` and ``end`` are int64 arrays of one length."""

    tensor: str
    first: NDArray[np.int64]
    end: NDArray[np.int64]
    writes: bool

    def meets(self, other: Touch) -> bool:
        """Whether the rows have a byte in common."""
        import numpy as np

        place = np.searchsorted(other.end, self.first, side="right")  # the first row that does not end earlier
        inside = place < len(other.end)
        return bool((other.first[place[inside]] < self.end[inside]).any())


def tensor_size(tensor: gs.Tensor) -> int:
    """Bytes of a tensor."""
    import numpy as np

    elements = int(np.prod([int(size) for size in tensor.shape], dtype=np.int64))
    if isinstance(tensor.dtype, int):  # a type that numpy does not have
        import onnx

        if "INT4" in onnx.TensorProto.DataType.Name(tensor.dtype):
            return -(-elements // 2)
        return elements * int(onnx.helper.tensor_dtype_to_np_dtype(tensor.dtype).itemsize)
    return elements * int(np.dtype(tensor.dtype).itemsize)


def stored_bytes(operand: Operand) -> int:
    """Bytes of a constant as kernels read it."""
    elements = 1
    for axis in operand.axes:
        elements *= -(-axis.size // axis.round_up) * axis.round_up
    return -(-elements * operand.element_bits // 8)


def touches(assignment: Assignment, graph: gs.Graph) -> tuple[Touch, ...]:
    """The bytes that the assignment reads from other assignments and writes for others."""
    reads, makes = _outside(assignment, graph)
    candidate = assignment.candidate
    found: list[Touch] = []
    for tensors, writes, role in ((reads, False, "input"), (makes, True, "output")):
        for name, tensor in tensors.items():
            parts = []
            if candidate.share is not None:
                operands = [o for o in candidate.workload.operands if o.role == role]
                made = candidate.match.results or candidate.match.nodes[-1].outputs[: len(operands)]
                shown = list(made) if writes else [candidate.match.tensor(o.name) for o in operands]
                parts = [o for o, other in zip(operands, shown, strict=True) if other.name == name]
            rows = [_rows(operand) for operand in parts] or [_all(tensor)]
            found += [Touch(name, first, end, writes) for first, end in rows]
    return tuple(found)


def _outside(assignment: Assignment, graph: gs.Graph) -> tuple[dict[str, gs.Tensor], dict[str, gs.Tensor]]:
    import onnx_graphsurgeon as gs

    nodes = assignment.candidate.match.nodes
    members = {node.name for node in nodes}
    made = {t.name: t for node in nodes for t in node.outputs if t.name}
    reads = {
        t.name: t for node in nodes for t in node.inputs if isinstance(t, gs.Variable) and t.name and t.name not in made
    }
    listed = assignment.candidate.match.results or nodes[-1].outputs
    needed = {t.name for t in graph.outputs} | {t.name for t in listed}
    for tensor in made.values():
        if any(reader.name not in members for reader in tensor.outputs):
            needed.add(tensor.name)
    return reads, {name: tensor for name, tensor in made.items() if name in needed}


def _all(tensor: gs.Tensor) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    import numpy as np

    return np.zeros(1, np.int64), np.full(1, tensor_size(tensor), np.int64)


def _rows(operand: Operand) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of the innermost axis that an operand covers in its tensor; adjacent rows are joined. (The innermost
    axis of a strided operand is dense like any other.)"""
    import numpy as np

    strides, stride = [], operand.element_bits
    for axis in reversed(operand.axes):
        strides.append(stride)
        stride *= axis.pitch or -(-axis.size // axis.round_up) * axis.round_up
    if operand.strided:
        strides = [axis.stride * operand.element_bits for axis in reversed(operand.axes)]
    first = np.full(1, operand.base * operand.element_bits, np.int64)
    for axis, step in list(zip(operand.axes, reversed(strides), strict=True))[:-1]:
        first = (first[:, None] + np.arange(axis.size, dtype=np.int64)[None, :] * step).reshape(-1)
    end = first + (operand.axes[-1].size if operand.axes else 1) * operand.element_bits
    order = np.argsort(first, kind="stable")
    first, end = first[order] // 8, -(-end[order] // 8)
    new = np.ones(len(first), bool)
    new[1:] = first[1:] > end[:-1]
    starts = np.flatnonzero(new)
    return first[starts], end[np.append(starts[1:], len(first)) - 1]
