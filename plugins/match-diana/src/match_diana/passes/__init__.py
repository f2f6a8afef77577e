"""The package's passes."""

from __future__ import annotations

from match_core import Pass, Soc


def diana_passes(soc: Soc) -> tuple[Pass, ...]:
    """All passes for a Soc with one of the arrays, in the order in which they are written in the documentation."""
    from match_quant.powers import shift_passes

    from match_diana.digital.limits import SHIFT_UNIT
    from match_diana.passes.analog import ANALOG
    from match_diana.passes.analog_scales import ANALOG_SCALES

    factors, *others = shift_passes(SHIFT_UNIT)
    return (factors, ANALOG_SCALES, *others, ANALOG)
