"""Requantisation with two roundings, for units that have it: passes that a package switches on, and rules.

Such a unit (``RequantSpec.rounding`` "double") computes ``clip(round(round((sum + B) * M / 2^31) / 2^S) + zero)``, as
gemmlowp and CMSIS-NN define it (docs/requantisation.md).
"""

from __future__ import annotations

from match_quant.double.rewrite import double_rounding
from match_quant.double.rules import Doubled, double_requantised, double_rule, doubled

__all__ = ["Doubled", "double_requantised", "double_rounding", "double_rule", "doubled"]
