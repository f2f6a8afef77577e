"""The compute cores' kernels for products: what the package takes of them."""

from __future__ import annotations

from match_ita.snitch_products_constants import CONSTANTS
from match_ita.snitch_products_formulas import kernel_cycles
from match_ita.snitch_products_interfaces import INTERFACES
from match_ita.snitch_products_kernels import KERNELS
from match_ita.snitch_products_patterns import PATTERNS

__all__ = ["CONSTANTS", "INTERFACES", "KERNELS", "PATTERNS", "kernel_cycles"]
