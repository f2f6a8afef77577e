"""Cost models of the two arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import Soc

from match_diana.analog_cost import analog_cost
from match_diana.digital_cost import digital_cost

if TYPE_CHECKING:
    from match_core import CostModel


def cost_model(unit: str, pattern: str, soc: Soc) -> CostModel | None:
    """The cost model of a pattern on ``digital`` or ``analog``."""
    return digital_cost(pattern) if unit == "digital" else analog_cost(pattern)
