"""The package's passes."""

from __future__ import annotations

from match_core import Pass, Soc


def diana_passes(soc: Soc) -> tuple[Pass, ...]:
    """All passes for a Soc with one of the arrays, in the order in which they are written in the documentation."""
    from match_diana.passes.analog import ANALOG
    from match_diana.passes.analog_scales import ANALOG_SCALES
    from match_diana.passes.fold_stride import FOLD_STRIDE
    from match_diana.passes.power_of_two import POWER_OF_TWO
    from match_diana.passes.shift import SHIFT
    from match_diana.passes.symmetric_padding import SYMMETRIC_PADDING

    return (POWER_OF_TWO, ANALOG_SCALES, SHIFT, FOLD_STRIDE, SYMMETRIC_PADDING, ANALOG)
