"""Requantisation by powers of two, for units that shift sums and multiply none: passes that a package switches on.

``ShiftUnit`` says what the unit has; ``shift_passes`` are its passes (docs/requantisation.md).
"""

from __future__ import annotations

from match_core.contract.passes import Pass

from match_quant.bounds import saturation_bounds
from match_quant.powers.factors import power_of_two
from match_quant.powers.fold_stride import fold_stride
from match_quant.powers.kernels import ShiftUnit
from match_quant.powers.shift import shift
from match_quant.powers.wider_kernels import symmetric_padding

__all__ = ["ShiftUnit", "shift_passes"]


def shift_passes(unit: ShiftUnit) -> tuple[Pass, ...]:
    """The passes that bring layers into the arithmetic and the kernels of a unit, for ``match_transforms``."""
    folding = (fold_stride(unit),) if unit.folds else ()
    bounds = (saturation_bounds(unit.name, unit.requant.bounds),) if unit.requant.bounds else ()
    return (power_of_two(unit), shift(unit), *folding, symmetric_padding(unit), *bounds)
