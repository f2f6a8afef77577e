"""What the analog array can run."""

from __future__ import annotations

from match_core import Pattern

from match_diana.analog_rules import ANALOG_RULES
from match_diana.analog_structures import ANALOG_CONV
from match_diana.analog_workloads import conv

ANALOG_PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "analog_conv",
        "convolution with ternary weights in the arithmetic of the analog array",
        ANALOG_CONV,
        ANALOG_RULES,
        conv,
    ),
)
