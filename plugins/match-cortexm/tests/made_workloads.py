"""Workloads of the host's kernels by shapes and counts, as its patterns make them."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_host.kernels.movement.movement import build_movement
from match_host.workload import host_workload


def copy_of(kind: str, before: tuple[int, ...], after: tuple[int, ...], bits: int = 8) -> Workload:
    """A copy that makes a tensor of the shape ``after``."""
    operands = [
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), bits)
        for name, role, shape in (("in0", "input", before), ("out0", "output", after))
    ]
    elements = int(np.prod(after))
    counts = (("elements", elements), ("memory", elements // 2), ("steps", elements // 4))
    return Workload(kind, (Dim("N", elements, tileable=False),), tuple(operands), 0, counts)


def moved(order: tuple[int, ...], shape: tuple[int, ...], dtype=np.int8) -> Workload:
    """The host's transposition, which tells its loops."""
    node = gs.Node("Transpose", "move", {"perm": list(order)})
    node.inputs, node.outputs = [gs.Variable("x", dtype, shape)], [gs.Variable("y", dtype, [shape[n] for n in order])]
    return host_workload("host_transpose", build_movement((node,), "kernel"), node.outputs)


def counted(kind: str, *counts: tuple[str, int]) -> Workload:
    """A function of as many elements as the first count."""
    axes = (Axis("a0", counts[0][1]),)
    operands = (Operand("in0", "input", axes), Operand("out0", "output", axes))
    return Workload(kind, (Dim("N", counts[0][1], tileable=False),), operands, 0, counts)


def product_of(
    kind: str, source: tuple[int, ...], weight: tuple[int, ...], result: tuple[int, ...], positions: int = 4
) -> Workload:
    """A product with tiles of ``positions`` by the last axis of the weights."""
    shapes = zip(("in0", "in1", "out0"), ("input", "constant", "output"), (source, weight, result), strict=True)
    operands = tuple(
        Operand(name, role, tuple(Axis(f"a{axis}", size) for axis, size in enumerate(shape)), 32)
        for name, role, shape in shapes
    )
    elements = int(np.prod(result))
    macs = elements * int(np.prod(weight[1:-1]))
    tile = (("held_rows", positions), ("held_columns", weight[-1]))
    counts = (("elements", elements), ("floating_tile_macs", macs), ("steps", macs // weight[-1]), *tile)
    return Workload(kind, (Dim("N", elements, tileable=False),), operands, macs, counts)
