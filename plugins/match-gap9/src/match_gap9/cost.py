"""Cost models of GAP9's units with the constants of one preset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from match_gap9.constants import DEFAULT_PRESET, values
from match_gap9.cost_cluster import ClusterCost
from match_gap9.cost_ne16 import Ne16Cost

if TYPE_CHECKING:
    from match_core import CostModel


def cost_model(
    unit: str, pattern: str, preset: str = DEFAULT_PRESET, mode: Literal["sequential", "concurrent"] = "sequential"
) -> CostModel:
    """The cost model of a pattern on ``cluster`` or ``ne16`` with the figures of a preset (KeyError if unknown), in a
    program of that kind."""
    model = ClusterCost if unit == "cluster" else Ne16Cost
    return model(pattern, preset, timing=values(preset), beside=mode == "concurrent")
