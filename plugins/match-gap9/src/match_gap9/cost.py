"""Cost models of GAP9's units: the published formulas over tiles, with the constants of one preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from match_core import CostModel, EnergyModel, Overlap, TransferCycles, TransferShape, Workload
from numpy.typing import NDArray

from match_gap9 import formulas
from match_gap9.constants import DEFAULT_PRESET, values

if TYPE_CHECKING:
    from match_core.cost import Bound

Cycles = NDArray[np.int64]
Tile = Mapping[str, NDArray[np.int64]]


def _quant(workload: Workload) -> formulas.Ne16Quant:
    """Number formats of the emitted jobs: 32-bit scale and a bias per channel."""
    return formulas.Ne16Quant(weight_bits=workload.parameters["weight_bits"], scale_bits=32, bias=True)


def _window(workload: Workload, tile: Tile) -> tuple[Cycles, Cycles]:
    """Rows and columns of the input that a tile's windows cover, padding included."""
    stride_y, stride_x = workload.parameters["stride_y"], workload.parameters["stride_x"]
    return (tile["OY"] - 1) * stride_y + tile["FY"], (tile["OX"] - 1) * stride_x + tile["FX"]


@dataclass(frozen=True)
class UnitCost:
    """What both units share: transfers through the cluster DMA and the hand-over of a layer to the cluster."""

    pattern: str
    preset: str = DEFAULT_PRESET
    version: str = "2"
    bound: Bound = "fitted"
    overlap: Overlap = "all"
    energy: EnergyModel | None = None
    timing: Mapping[str, int] = field(default_factory=lambda: values(DEFAULT_PRESET))

    @property
    def name(self) -> str:
        """Names the formulas and the preset; appears in every report."""
        return f"gap9-{self.pattern}-{self.preset}"

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies between L2 and L1 by the cluster DMA (sheet 3.1 or 3.5), or requests to the external RAM."""
        t, timing = transfer, self.timing
        if "l3" in (t.far, t.near):
            return TransferCycles(*formulas.l3_copy(timing, commands=t.planes * t.rows, size_bytes=t.row_bytes))
        return TransferCycles(
            *formulas.dma_copy(timing, planes=t.planes, rows=t.rows, row_bytes=t.row_bytes, direction=t.direction)
        )

    def layer_cycles(self, workload: Workload) -> int:
        """Fabric controller to cluster controller and back."""
        return self.timing["cluster_offload_cycles"]


@dataclass(frozen=True)
class ClusterCost(UnitCost):
    """PULP-NN and the package's own kernels on eight cores (sheet 3.2)."""

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call on the team, from its start to its last barrier."""
        barriers = np.ones_like(next(iter(tile.values())))
        if self.pattern == "depthwise":
            barriers = barriers + 1  # after the turn to planes
        elif self.pattern == "linear":
            barriers = tile["N"]  # a call of the library for each row
        return self._work_cycles(workload, tile) + formulas.team_kernel(self.timing, barriers)

    def _work_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        t, timing = tile, self.timing
        match self.pattern:
            case "conv2d":
                return formulas.conv(
                    timing, out_y=t["OY"], out_x=t["OX"], k_out=t["K"], c_in=t["C"], kernel_y=t["FY"], kernel_x=t["FX"]
                )
            case "pointwise":
                return formulas.pointwise(timing, out_y=t["OY"], out_x=t["OX"], k_out=t["K"], c_in=t["C"])
            case "depthwise":
                rows, columns = _window(workload, tile)
                turn = formulas.own_transpose(timing, pixels=rows * columns, channels=t["K"])
                return turn + formulas.depthwise(
                    timing,
                    in_y=rows,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    channels=t["K"],
                    kernel_y=t["FY"],
                    kernel_x=t["FX"],
                )
            case "linear":
                cycles: Cycles = t["N"] * formulas.linear(timing, c_in=t["C"], k_out=t["K"])
                return cycles
            case "transpose":
                return formulas.own_transpose(timing, pixels=t["R"], channels=t["C"])
            case "quantize":
                return formulas.own_quantize(timing, elements=t["N"])
            case "flip" | "clip":
                return formulas.own_transpose(timing, pixels=1, channels=t["N"])
            case "add":
                return formulas.own_add(timing, elements=t["Y"] * t["X"] * t["C"])
            case "avgpool" | "avgpool_even" | "maxpool":
                return formulas.own_pool(
                    timing,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    channels=t["C"],
                    kernel_y=t["FY"],
                    kernel_x=t["FX"],
                    requant=self.pattern != "maxpool",
                )
            case "conv2d_wide" | "linear_wide" | "depthwise_wide":
                return self._wide_cycles(workload, t)
        raise KeyError(self.pattern)

    def _wide_cycles(self, workload: Workload, t: Tile) -> Cycles:
        """Kernels with 64-bit requantisation. Convolutions need scratch where they gather their inputs."""
        timing, shift, gathers = self.timing, workload.parameters["shift"], bool(workload.scratch)
        if self.pattern == "linear_wide":
            return formulas.wide_conv(timing, pixels=t["N"], k_out=t["K"], taps=t["C"], rows=int(gathers), shift=shift)
        if self.pattern == "depthwise_wide":
            return formulas.wide_depthwise(
                timing,
                out_y=t["OY"],
                out_x=t["OX"],
                channels=t["K"],
                kernel_y=t["FY"],
                kernel_x=t["FX"],
                stride_x=workload.parameters["stride_x"],
                shift=shift,
            )
        pixels, taps, rows = t["OY"] * t["OX"], t["FY"] * t["FX"] * t["C"], t["FY"] * int(gathers)
        return formulas.wide_conv(timing, pixels=pixels, k_out=t["K"], taps=taps, rows=rows, shift=shift)

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Offload to the team, and join."""
        return np.full_like(next(iter(tile.values())), formulas.team_launch(self.timing))


@dataclass(frozen=True)
class Ne16Cost(UnitCost):
    """NE16 jobs (sheet 3.3, or 3.5 with the preset ``engine``). The controller programs the job of a tile of stride 1;
    a worker core programs the many jobs of stride 2, and those whose sums the cores requantise."""

    def _on_team(self, workload: Workload) -> bool:
        strided = self.pattern in ("conv3x3", "depthwise3x3") and workload.parameters["stride_y"] != 1
        return strided or self.pattern.endswith("_wide")

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of the jobs of one tile."""
        cycles = self._job_cycles(workload, tile, program=self._on_team(workload))
        if self._on_team(workload) and not self.pattern.endswith("_wide"):
            cycles = cycles + self.timing["team_start_cycles"] + self.timing["ne16_words_cycles"]
        return cycles

    def _job_cycles(self, workload: Workload, tile: Tile, program: bool) -> Cycles:
        t, timing = tile, self.timing
        match self.pattern:
            case "conv3x3":
                return formulas.ne16_conv3x3(
                    timing,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    k_out=t["K"],
                    k_in=t["C"],
                    stride=workload.parameters["stride_y"],
                    program=program,
                    quant=_quant(workload),
                )
            case "conv1x1":
                return formulas.ne16_conv1x1(
                    timing,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    k_out=t["K"],
                    k_in=t["C"],
                    program=program,
                    quant=_quant(workload),
                )
            case "depthwise3x3":
                return formulas.ne16_depthwise3x3(
                    timing,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    channels=t["K"],
                    stride=workload.parameters["stride_y"],
                    program=program,
                    quant=_quant(workload),
                )
            case "ne16_linear":
                return formulas.ne16_conv1x1(
                    timing,
                    out_y=t["N"],
                    out_x=np.ones_like(t["N"]),
                    k_out=t["K"],
                    k_in=t["C"],
                    program=program,
                    quant=_quant(workload),
                )
            case "conv3x3_wide":
                return self._wide_cycles(workload, "conv3x3", t["OY"], t["OX"], t["K"], t["C"])
            case "conv1x1_wide":
                return self._wide_cycles(workload, "conv1x1", t["OY"], t["OX"], t["K"], t["C"])
            case "depthwise3x3_wide":
                return self._wide_cycles(workload, "depthwise3x3", t["OY"], t["OX"], t["K"], np.ones_like(t["K"]))
            case "ne16_linear_wide":
                return self._wide_cycles(workload, "conv1x1", t["N"], np.ones_like(t["N"]), t["K"], t["C"])
        raise KeyError(self.pattern)

    def _wide_cycles(
        self, workload: Workload, operation: formulas.Operation, y: Cycles, x: Cycles, k: Cycles, c: Cycles
    ) -> Cycles:
        """Jobs with 32-bit outputs and their requantisation on the cores. A 1x1 stride is in the addresses."""
        parameters = workload.parameters
        return formulas.ne16_wide(
            self.timing,
            operation,
            out_y=y,
            out_x=x,
            k_out=k,
            k_in=c,
            stride=1 if operation == "conv1x1" else parameters["stride_y"],
            weight_bits=parameters["weight_bits"],
            shift=parameters["shift"],
        )

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Offload to the team, or filling and writing the 24 words of the job."""
        timing = self.timing
        words = timing["ne16_words_cycles"] + timing["ne16_program_cycles"]
        cycles = formulas.team_launch(timing) if self._on_team(workload) else words
        return np.full_like(next(iter(tile.values())), cycles)


def cost_model(unit: str, pattern: str, preset: str = DEFAULT_PRESET) -> CostModel:
    """The cost model of a pattern on ``cluster`` or ``ne16`` with the figures of a preset (KeyError if unknown)."""
    model = ClusterCost if unit == "cluster" else Ne16Cost
    return model(pattern, preset, timing=values(preset))
