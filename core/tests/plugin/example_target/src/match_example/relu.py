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
    RuntimeFile,
    TransferCycles,
    TransferShape,
    TwinApi,
    UnitApi,
    Workload,
)
from match_core.contract.unit_api import InlineCode, InlineKernel, InlineRequest

from match_example.hardware import RELU_UNIT, START_CYCLES

if TYPE_CHECKING:
    from match_core.contract.cost import Bound, EnergyModel, Overlap
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
class ReluEnergy:
    """So much per element."""

    def kernel_energy_pj(self, workload: Workload, tile: Mapping[str, Cycles]) -> NDArray[np.float64]:
        """Elements times energy per element."""
        return tile["N"] * FIGURES["element_energy"]

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """Works in place."""
        return np.zeros(transfer.rows.shape)


@dataclass(frozen=True, slots=True)
class ReluCost:
    """Start, then a fixed number of elements per cycle and energy per element; nothing is copied."""

    start_cycles: int
    name: str = "example-relu"
    version: str = "1"
    bound: Bound = "exact"
    overlap: Overlap = "none"

    @property
    def energy(self) -> EnergyModel:
        """Figures as invented as the others."""
        return ReluEnergy()

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Elements over elements per cycle, rounded up."""
        return -(-tile["N"] // int(FIGURES["elements_per_cycle"]))

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The start."""
        return np.full_like(tile["N"], self.start_cycles)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Works in place."""
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing to hand over."""
        return 0


def _render(request: InlineRequest) -> InlineCode:
    """A call of the engine's driver: the same C on the chip and on the twin."""
    size = prod(int(extent) for extent in request.inputs[0].shape)
    return InlineCode(
        f"static void {request.function}(const float *restrict in0, float *restrict out0)\n"
        "{\n"
        f"    relu_engine_run(in0, out0, {size}u);\n"
        "}\n",
        includes=("relu_engine.h",),
    )


HEADER = """\
/* Driver of the ReLU engine (part of the chip's SDK). */
#ifndef RELU_ENGINE_H
#define RELU_ENGINE_H
#include <stdint.h>
/* Applies ReLU to `count` elements and returns when it is done. */
void relu_engine_run(const float *in, float *out, uint32_t count);
#endif
"""

TWIN = f"""\
/* The driver on the twin: the same result, and the engine's cycles on its own clock. */
#include "relu_engine.h"
#include "match_twin.h"

enum {{ HOST_CLOCK = 0, ENGINE_CLOCK = 1 }};

void relu_engine_run(const float *in, float *out, uint32_t count)
{{
    const uint64_t cycles = START_CYCLES + (count + {FIGURES["elements_per_cycle"] - 1:.0f}u)
                          / {FIGURES["elements_per_cycle"]:.0f}u;
    for (uint32_t i = 0u; i < count; ++i) {{
        out[i] = in[i] > 0.0f ? in[i] : 0.0f;
    }}
    match_twin_wait_until(HOST_CLOCK, match_twin_issue(HOST_CLOCK, ENGINE_CLOCK, cycles));
}}
"""


def unit_api(preset: str) -> UnitApi:
    """The C side; on the twin a start takes as long as the preset says."""
    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={"relu": InlineKernel(inputs=lambda match: (match.tensor("x"),), render=_render)},
        twin=TwinApi(
            headers=(RuntimeFile("relu_engine.h", HEADER),),
            sources=(RuntimeFile("relu_engine_twin.c", TWIN),),
            clocks=("host", "relu_unit"),
            defines=(f"START_CYCLES={START_CYCLES[preset]}u",),
        ),
        clock="relu_unit",
    )
