"""Cost models of GAP9's units with the constants of one preset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from match_core.patterns.formulas import by_name

from match_gap9.cluster.cost import ClusterCost
from match_gap9.constants import DEFAULT_PRESET, UNITS, preset_of, table_of, values
from match_gap9.ne16.cost import Ne16Cost
from match_gap9.wide.patterns import JOINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core import CostModel, Soc


def cost_of(soc: Soc, unit: str, pattern: str) -> CostModel:
    """The cost model of a pattern with the figures of a Soc."""
    shares_dma = soc.mode == "concurrent" and set(UNITS) <= set(soc.units) and not pattern.startswith(JOINT)
    return cost_model(unit, pattern, preset_of(soc), soc.mode, by_name(table_of(soc)), shares_dma)


def cost_model(
    unit: str,
    pattern: str,
    preset: str = DEFAULT_PRESET,
    mode: Literal["sequential", "concurrent"] = "sequential",
    timing: Mapping[str, int] | None = None,
    shares_dma: bool = False,
) -> CostModel:
    """The cost model of a pattern on ``cluster`` or ``ne16`` with the figures of a preset (KeyError if unknown), or
    those in ``timing``, in a program of that kind. ``shares_dma``: the other unit copies meanwhile."""
    model = ClusterCost if unit == "cluster" and not pattern.startswith(JOINT) else Ne16Cost
    figures = values(preset) if timing is None else timing
    return model(pattern, preset, timing=figures, beside=mode == "concurrent", shares_dma=shares_dma)
