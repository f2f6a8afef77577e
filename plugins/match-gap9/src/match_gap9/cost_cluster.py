"""Cost of the cluster's kernels: the published formulas over tiles (GAP9 sheet 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core import Overlap, Workload

from match_gap9 import formulas
from match_gap9.cost_unit import Cycles, Tile, UnitCost


def _window(workload: Workload, tile: Tile) -> tuple[Cycles, Cycles]:
    """Rows and columns of the input that a tile's windows cover, padding included."""
    stride_y, stride_x = workload.parameters["stride_y"], workload.parameters["stride_x"]
    return (tile["OY"] - 1) * stride_y + tile["FY"], (tile["OX"] - 1) * stride_x + tile["FX"]


@dataclass(frozen=True)
class ClusterCost(UnitCost):
    """PULP-NN and the package's own kernels on eight cores (sheet 3.2). Side by side with NE16 core 0 issues copies and
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
        return self._work_cycles(workload, tile) + around(self.timing, barriers)

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
        timing, shift, direct = self.timing, workload.parameters["shift"], not workload.scratch
        if self.pattern == "linear_wide":
            return formulas.wide_conv(
                timing, pixels=t["N"], k_out=t["K"], c_in=t["C"], kernel_y=1, kernel_x=1, direct=direct, shift=shift
            )
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
        return formulas.wide_conv(
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
        return np.full_like(next(iter(tile.values())), launch(self.timing))
