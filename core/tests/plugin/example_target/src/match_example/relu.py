"""ReLU on the example's accelerator: what it accepts, what it costs, how it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core import (
    Any,
    Axis,
    Constraint,
    Dim,
    Match,
    Op,
    Operand,
    Pattern,
    PlatformApi,
    TransferShape,
    UnitApi,
    Workload,
)
from match_core.emit.api import InlineCode, InlineKernel, InlineRequest

from match_example.hardware import RELU_UNIT

if TYPE_CHECKING:
    from match_core.cost import Bound
    from numpy.typing import NDArray

    Cycles = NDArray[np.int64]

FIGURES = {constant.name: constant.value for constant in RELU_UNIT.constants}


def _float32(match: Match) -> str | None:
    dtype = np.dtype(match.tensor("x").dtype)
    return None if dtype == np.float32 else f"elements are {dtype}"


def _workload(match: Match) -> Workload:
    size = prod(match.shape("x"))
    axes = (Axis("n", size, (("N", 1),)),)
    operands = (Operand("x", "input", axes, 32), Operand("y", "output", axes, 32))
    return Workload("relu", (Dim("N", size, tileable=False),), operands, macs=0)


RELU = Pattern(
    name="relu",
    description="ReLU of a float32 tensor",
    structure=Op("Relu", "relu", (Any("x"),)),
    constraints=(Constraint("float32", "elements are float32", _float32),),
    workload=_workload,
)


@dataclass(frozen=True, slots=True)
class ReluCost:
    """Start, then a fixed number of elements per cycle; nothing is copied."""

    name: str = "example-relu"
    version: str = "1"
    bound: Bound = "exact"

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Elements over elements per cycle, rounded up."""
        return -(-tile["N"] // int(FIGURES["elements_per_cycle"]))

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The start."""
        return np.full_like(tile["N"], int(FIGURES["start"]))

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> Cycles:
        """Works in place."""
        return np.zeros_like(transfer.rows)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing to hand over."""
        return 0


def _render(request: InlineRequest) -> InlineCode:
    size = prod(int(extent) for extent in request.inputs[0].shape)
    return InlineCode(
        f"static void {request.function}(const float *restrict in0, float *restrict out0)\n"
        "{\n"
        f"    for (uint32_t i = 0u; i < {size}u; ++i) {{\n"
        "        out0[i] = in0[i] > 0.0f ? in0[i] : 0.0f;\n"
        "    }\n"
        "}\n"
    )


API = UnitApi(
    platform=PlatformApi(),
    memory=None,
    kernels={"relu": InlineKernel(inputs=lambda match: (match.tensor("x"),), render=_render)},
)
