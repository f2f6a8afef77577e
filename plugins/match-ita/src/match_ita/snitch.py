"""All patterns and kernels of the compute cores: products, and rows and elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Kernel, KernelInterface, Pattern, Workload
from match_core.patterns.formulas import Cycles, Tile

from match_ita.snitch_products import formulas as products_formulas
from match_ita.snitch_products import interfaces as products_interfaces
from match_ita.snitch_products import kernels as products_kernels
from match_ita.snitch_products import patterns as products_patterns
from match_ita.snitch_rows import formulas as rows_formulas
from match_ita.snitch_rows import interfaces as rows_interfaces
from match_ita.snitch_rows import kernels as rows_kernels
from match_ita.snitch_rows import patterns as rows_patterns

PATTERNS: tuple[Pattern, ...] = (*products_patterns.PATTERNS, *rows_patterns.PATTERNS)
INTERFACES: tuple[KernelInterface, ...] = (*products_interfaces.INTERFACES, *rows_interfaces.INTERFACES)
KERNELS: Mapping[str, Kernel] = MappingProxyType({**products_kernels.KERNELS, **rows_kernels.KERNELS})
#: Headers that emitted programs include.
HEADERS = ("match_ita_team.h", "match_snitch_products_kernels.h", "match_snitch_rows_kernels.h")


def kernel_cycles(timing: Mapping[str, int], pattern: str, workload: Workload, tile: Tile) -> Cycles:
    """Cycles of a kernel call on all cores, the hand-over to them not included."""
    owner = products_formulas if pattern in products_kernels.KERNELS else rows_formulas
    cycles: Cycles = owner.kernel_cycles(timing, workload, tile)
    return cycles
