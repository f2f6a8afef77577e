"""The patterns of the two arrays."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Pattern

from match_diana.analog.patterns import ANALOG_PATTERNS
from match_diana.digital.patterns import DIGITAL_PATTERNS

PATTERNS: Mapping[str, tuple[Pattern, ...]] = MappingProxyType({"digital": DIGITAL_PATTERNS, "analog": ANALOG_PATTERNS})
