"""All that the compute cores can do: products, and rows and elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface, Pattern, Workload

from match_ita import snitch_products, snitch_rows
from match_ita.ita_formulas import Cycles, Tile

PATTERNS: tuple[Pattern, ...] = (*snitch_products.PATTERNS, *snitch_rows.PATTERNS)
INTERFACES: tuple[KernelInterface, ...] = (*snitch_products.INTERFACES, *snitch_rows.INTERFACES)
KERNELS: Mapping[str, Kernel] = MappingProxyType({**snitch_products.KERNELS, **snitch_rows.KERNELS})
#: What emitted programs include.
HEADERS = ("match_ita_team.h", "match_snitch_products_kernels.h", "match_snitch_rows_kernels.h")


def kernel_cycles(timing: Mapping[str, int], pattern: str, workload: Workload, tile: Tile) -> Cycles:
    """Cycles of a kernel call on all cores, the hand-over to them not included."""
    owner = snitch_products if pattern in snitch_products.KERNELS else snitch_rows
    cycles: Cycles = owner.kernel_cycles(timing, pattern, workload, tile)
    return cycles
