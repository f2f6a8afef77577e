"""Cost models of the two arrays, and the host's with the power of this chip."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core import Soc
from match_core.patterns.formulas import figures_version
from match_host.cost import HostCostModel, host_cost

from match_diana.analog.cost import AnalogCost
from match_diana.array_cost import FORMULAS, DianaEnergy, timing
from match_diana.digital.cost import DigitalCost

if TYPE_CHECKING:
    from match_core import CostModel


def cost_model(unit: str, pattern: str, soc: Soc) -> CostModel:
    """The cost model of a pattern on ``digital`` or ``analog``."""
    return DigitalCost(pattern) if unit == "digital" else AnalogCost(pattern)


def host_with_energy(soc: Soc) -> HostCostModel:
    """The host's cost model with the power of this chip."""
    plain = host_cost(soc)
    version = f"{plain.version}-{figures_version(FORMULAS, timing())}"
    return replace(plain, version=version, energy=DianaEnergy(plain, "host"))
