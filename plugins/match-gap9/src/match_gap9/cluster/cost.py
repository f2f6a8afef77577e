"""Cost of the cluster's kernels over tiles: counted terms, or the published formulas (GAP9 sheet 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core import Overlap, Workload
from match_core.patterns.formulas import Cycles, Tile

from match_gap9 import formulas
from match_gap9.cluster import counted
from match_gap9.cost_unit import UnitCost
from match_gap9.elements.cost import ELEMENT_CYCLES
from match_gap9.moves.cost import MOVE_CYCLES

_BYTES = {**ELEMENT_CYCLES, **MOVE_CYCLES}


def _window(workload: Workload, tile: Tile) -> tuple[Cycles, Cycles]:
    """Rows and columns of the input that a tile's windows cover, padding included."""
    stride_y, stride_x = workload.parameters["stride_y"], workload.parameters["stride_x"]
    return (tile["OY"] - 1) * stride_y + tile["FY"], (tile["OX"] - 1) * stride_x + tile["FX"]


@dataclass(frozen=True)
class ClusterCost(UnitCost):
    """PULP-NN and the package's own kernels on eight cores (sheet 3.2). In concurrent programs core 0 issues copies and
    then works on the kernel with the others."""

    @property
    def overlap(self) -> Overlap:
        """See the base."""
        return "data" if self.beside else "all"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call on the team, from its start to its last barrier."""
        barriers = np.ones_like(next(iter(tile.values())))
        if self.pattern == "depthwise":
            barriers = barriers + 1  # after the turn to planes
        elif self.pattern == "linear":
            barriers = tile["N"]  # a call of the library for each row
        around = formulas.led_kernel if self.beside else formulas.team_kernel
        published = None if self.is_counted else self._published_cycles(workload, tile)
        work = self._counted_cycles(workload, tile) if published is None else published
        return work + around(self.timing, barriers)

    def _counted_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        t, timing = tile, self.timing
        match self.pattern:
            case "conv2d":
                return counted.conv(
                    timing, out_y=t["OY"], out_x=t["OX"], k_out=t["K"], c_in=t["C"], kernel_y=t["FY"], kernel_x=t["FX"]
                )
            case "pointwise":
                return counted.pointwise(timing, out_y=t["OY"], out_x=t["OX"], k_out=t["K"], c_in=t["C"])
            case "depthwise":
                rows, columns = _window(workload, tile)
                return counted.depthwise(
                    timing,
                    in_y=rows,
                    in_x=columns,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    channels=t["K"],
                    kernel_y=t["FY"],
                    kernel_x=t["FX"],
                )
            case "linear":
                return counted.linear(timing, rows=t["N"], c_in=t["C"], k_out=t["K"])
            case "transpose" | "transpose_part":
                return counted.transpose(timing, rows=t["R"], columns=t["C"])
            case "quantize":
                return counted.quantize(timing, elements=t["N"])
            case "flip":
                return counted.flip(timing, elements=t["N"])
            case "clip":
                return counted.clip(timing, elements=t["N"])
            case "add":
                return counted.add(timing, elements=t["Y"] * t["X"] * t["C"])
            case "avgpool" | "avgpool_even" | "maxpool":
                return counted.pool(
                    timing,
                    out_y=t["OY"],
                    out_x=t["OX"],
                    channels=t["C"],
                    kernel_y=t["FY"],
                    kernel_x=t["FX"],
                    average=self.pattern != "maxpool",
                )
            case "conv2d_wide" | "linear_wide" | "depthwise_wide":
                return self._wide_cycles(workload, t)
        return _BYTES[self.pattern](timing, workload, t)

    def _published_cycles(self, workload: Workload, tile: Tile) -> Cycles | None:
        """The published formulas of PULP-NN's kernels, None for others."""
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
                return counted.turn(timing, in_y=rows, in_x=columns, channels=t["K"]) + formulas.depthwise(
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
        return None

    def _wide_cycles(self, workload: Workload, t: Tile) -> Cycles:
        """Kernels with 64-bit requantisation. Convolutions need scratch where they gather their inputs."""
        timing, shift, direct = self.timing, workload.parameters["shift"], not workload.scratch
        if self.pattern == "linear_wide":
            return counted.wide_conv(
                timing, pixels=t["N"], k_out=t["K"], c_in=t["C"], kernel_y=1, kernel_x=1, direct=direct, shift=shift
            )
        if self.pattern == "depthwise_wide":
            return counted.wide_depthwise(
                timing,
                out_y=t["OY"],
                out_x=t["OX"],
                channels=t["K"],
                kernel_y=t["FY"],
                kernel_x=t["FX"],
                stride_x=workload.parameters["stride_x"],
                shift=shift,
            )
        return counted.wide_conv(
            timing,
            pixels=t["OY"] * t["OX"],
            k_out=t["K"],
            c_in=t["C"],
            kernel_y=t["FY"],
            kernel_x=t["FX"],
            direct=direct,
            shift=shift,
        )

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Offload to the team, and join; or what core 0 does before the first barrier."""
        launch = formulas.led_launch if self.beside else formulas.team_launch
        return np.full_like(next(iter(tile.values())), launch(self.timing) + self.step_cycles)
