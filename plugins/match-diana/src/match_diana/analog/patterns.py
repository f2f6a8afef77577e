"""The analog array's patterns."""

from __future__ import annotations

from match_core import Pattern

from match_diana.analog.rules import ANALOG_RULES
from match_diana.analog.structures import ANALOG_CONV
from match_diana.analog.workloads import conv

ANALOG_PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "analog_conv",
        "convolution with ternary weights in the arithmetic of the analog array",
        ANALOG_CONV,
        ANALOG_RULES,
        conv,
    ),
)
