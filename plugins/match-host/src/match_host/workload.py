"""Workloads of the host: one dimension that is not tiled, whole operands, operation counts as geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements
from match_host.kernels.built import Built

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import onnx_graphsurgeon as gs


def host_workload(kind: str, built: Built, outputs: Sequence[gs.Tensor]) -> Workload:
    """The workload of a built kernel; operands are ``in0``, ``in1``, ... in argument order, then ``out0``, ..."""
    operands = []
    for index, tensor in enumerate(built.arguments):
        packed = built.packed.get(index)
        shape, dtype = (shape_of(tensor), dtype_of(tensor)) if packed is None else (packed.shape, packed.dtype)
        operands.append(_operand(f"in{index}", "constant" if is_constant(tensor) else "input", shape, dtype))
    for index, tensor in enumerate(outputs):
        operands.append(_operand(f"out{index}", "output", shape_of(tensor), dtype_of(tensor)))
    total = max(1, sum(elements(shape_of(tensor)) for tensor in outputs))
    return Workload(
        kind=kind,
        dims=(Dim("N", total, tileable=False),),
        operands=tuple(operands),
        macs=built.work.products,
        geometry=(("elements", total), *built.work.counts(), *built.told.items()),
    )


def view_workload(source: gs.Tensor, result: gs.Tensor) -> Workload:
    """The workload of a view, without operations."""
    total = max(1, elements(shape_of(result)))
    operands = (
        _operand("in0", "input", shape_of(source), dtype_of(source)),
        _operand("out0", "output", shape_of(result), dtype_of(result)),
    )
    return Workload("host_view", (Dim("N", total, tileable=False),), operands, 0, (("elements", total),))


def _operand(name: str, role: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Operand:
    axes = tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape))
    return Operand(name, role, axes, 8 * dtype.itemsize)  # type: ignore[arg-type]  # callers give a role
