"""The compute cores' kernels for rows and elements: what the package takes of them."""

from __future__ import annotations

from match_ita.snitch_rows_constants import CONSTANTS
from match_ita.snitch_rows_formulas import kernel_cycles
from match_ita.snitch_rows_interfaces import INTERFACES
from match_ita.snitch_rows_kernels import KERNELS
from match_ita.snitch_rows_patterns import PATTERNS

__all__ = ["CONSTANTS", "INTERFACES", "KERNELS", "PATTERNS", "kernel_cycles"]
