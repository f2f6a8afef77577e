"""Cost of NE16's jobs (GAP9 sheet 3.3, or 3.5 with the preset ``engine``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from match_core import Overlap, Workload
from match_core.patterns.formulas import Cycles, Tile

from match_gap9 import formulas
from match_gap9.cost_unit import UnitCost
from match_gap9.ne16 import formulas as ne16_formulas
from match_gap9.wide import formulas as wide_formulas
from match_gap9.wide.patterns import JOINT

_WIDE = "_wide"
#: NE16's computation for each pattern. A stride of a 1x1 kernel is in the addresses; a dense layer is an image.
_OPERATIONS: Mapping[str, ne16_formulas.Operation] = MappingProxyType(
    {"conv3x3": "conv3x3", "conv1x1": "conv1x1", "depthwise3x3": "depthwise3x3", "ne16_linear": "conv1x1"}
)


@dataclass(frozen=True)
class Ne16Cost(UnitCost):
    """The controller programs the job of a tile of stride 1; a worker core programs the many jobs of stride 2, and
    those whose sums the cores requantise. In concurrent programs the controller does all of it, or core 0 leads the
    workers (``_is_joint``)."""

    @property
    def overlap(self) -> Overlap:
        """See the base."""
        return "data" if self.beside and self._is_wide else "all"

    @property
    def _is_wide(self) -> bool:
        return self.pattern.endswith(_WIDE)

    @property
    def _is_joint(self) -> bool:
        """In a concurrent program the workers requantise, and both units are busy."""
        return self.pattern.startswith(JOINT)

    @property
    def _operation(self) -> ne16_formulas.Operation:
        return _OPERATIONS[self.pattern.removeprefix(JOINT).removesuffix(_WIDE)]

    def _stride(self, workload: Workload) -> int:
        return 1 if self._operation == "conv1x1" else workload.parameters["stride_y"]

    def _on_team(self, workload: Workload) -> bool:
        return self._is_wide or self._stride(workload) != 1

    def layer_cycles(self, workload: Workload) -> int:
        """See the base; and the first tile, whose code is not in the instruction cache. The controller's loop of a
        concurrent program runs little else."""
        cold = self._is_joint or not self.beside
        return super().layer_cycles(workload) + (self.timing["ne16_cold_cycles"] if cold else 0)

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of the jobs of one tile, and of the cores' work for them after the launch."""
        timing, sizes = self.timing, _sizes(workload, tile)
        stride, bits = self._stride(workload), workload.parameters["weight_bits"]
        if self._is_wide:
            return wide_formulas.ne16_wide(
                timing,
                self._operation,
                stride=stride,
                weight_bits=bits,
                shift=workload.parameters["shift"],
                alone=self.beside and not self._is_joint,
                led=self._is_joint,
                **sizes,
            )
        quant = ne16_formulas.Ne16Quant(weight_bits=bits, scale_bits=32, bias=True)
        if not self._on_team(workload):
            return ne16_formulas.ne16_layer(timing, self._operation, program=False, quant=quant, **sizes)
        if self.beside:
            return ne16_formulas.ne16_stride2_rest(timing, self._operation, quant=quant, **sizes)
        jobs = ne16_formulas.ne16_layer(timing, self._operation, stride=stride, quant=quant, **sizes)
        return timing["team_start_cycles"] + timing["ne16_words_cycles"] + jobs

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Offload to the team, or filling and writing the 24 words of the job. Side by side: with stride 2 until the
        last job is written; nothing where the controller does all of the kernel."""
        timing = self.timing
        if self._is_joint:
            return np.full_like(next(iter(tile.values())), formulas.led_launch(timing) + self.step_cycles)
        words = timing["ne16_words_cycles"] + timing["ne16_program_cycles"]
        cycles = formulas.team_launch(timing) if self._on_team(workload) else words
        if self.beside and self._on_team(workload):
            if not self._is_wide:
                return self._stride2_launch(workload, tile)
            cycles = 0
        return np.full_like(next(iter(tile.values())), cycles + self.step_cycles)

    def _stride2_launch(self, workload: Workload, tile: Tile) -> Cycles:
        quant = ne16_formulas.Ne16Quant(weight_bits=workload.parameters["weight_bits"], scale_bits=32, bias=True)
        sizes, timing = _sizes(workload, tile), self.timing
        jobs = ne16_formulas.ne16_layer(timing, self._operation, stride=2, quant=quant, **sizes)
        rest = ne16_formulas.ne16_stride2_rest(timing, self._operation, quant=quant, **sizes)
        return timing["ne16_words_cycles"] + self.step_cycles + jobs - rest


def _sizes(workload: Workload, t: Tile) -> dict[str, Any]:
    """A tile's sizes by their names in the formulas."""
    y, x = (t["N"], np.ones_like(t["N"])) if "N" in t else (t["OY"], t["OX"])
    sizes: dict[str, Any] = {"out_y": y, "out_x": x, "k_out": t["K"], "k_in": t.get("C", np.ones_like(y))}
    return sizes | {"pad_bottom": _left_out(workload, t, "y"), "pad_right": _left_out(workload, t, "x")}


def _left_out(workload: Workload, tile: Tile, axis: str) -> Cycles:
    """Padding below (axis "y") or to the right ("x") that the counters of a job leave out: zeros behind the input, in a
    tile that is not cut along the axis. Tiles at the border of a cut one are taken as inner ones."""
    none = np.zeros_like(next(iter(tile.values())))
    if workload.parameters.get("pad_value", 0) != 0 or workload.parameters.get("stride_y", 1) != 1:
        return none
    padded = next((a for a in workload.operand("input").axes if a.name == axis and a.windowed), None)
    if padded is None:
        return none
    end = sum(coefficient * (workload.dim(name).size - 1) for name, coefficient in padded.terms) + 1
    after = max(0, end - padded.offset - padded.size)
    whole = np.logical_and.reduce([tile[name] == workload.dim(name).size for name, _ in padded.terms])
    return np.where(whole, after, none)
