"""Cycles of the analog array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile

from match_diana.analog.formulas import host_cycles, job_cycles
from match_diana.array_cost import ArrayCost
from match_diana.digital.formulas import chunk_cycles


@dataclass(frozen=True, slots=True)
class AnalogCost(ArrayCost):
    """Jobs for groups of input channels."""

    unit: ClassVar[str] = "analog"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """One instruction for each group of input channels of the tile. The layer's last group may be smaller, and it
        alone needs the parameters for the stage after the converters. A tile of some groups does not say which they
        are: it counts as its part of all."""
        t, numbers, groups = self.timing, workload.parameters, workload.dim("G").size
        job = partial(
            job_cycles,
            t,
            k=numbers["k"],
            taps=numbers["fx"] * workload.dim("FY").size,
            pixel_groups=tile["OY"] * (numbers["ox"] // numbers["unroll"]),
        )
        norm = chunk_cycles(t, np.asarray(workload.operand("norm").axes[0].size))
        together = (groups - 1) * job(channels=numbers["channels"]) + job(channels=numbers["last_channels"]) + norm
        cycles: Cycles = tile["G"] * together // groups
        return cycles

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """The host's part of every instruction."""
        cycles: Cycles = tile["G"] * host_cycles(self.timing)
        return cycles
