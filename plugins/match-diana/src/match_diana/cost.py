"""Cost models of the two arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import Soc

from match_diana.analog.cost import AnalogCost
from match_diana.digital.cost import DigitalCost

if TYPE_CHECKING:
    from match_core import CostModel


def cost_model(unit: str, pattern: str, soc: Soc) -> CostModel:
    """The cost model of a pattern on ``digital`` or ``analog``."""
    return DigitalCost(pattern) if unit == "digital" else AnalogCost(pattern)
