"""Named sets of figures: the changes of each preset to the table of ``constants``.

``counted`` is the unchanged table. ``as-published`` has MATCH's published cost of copies. The others show the influence
of the speed of kernels, which is not published: the kernels of one unit are 30 % slower or faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from match_core import Constant
from match_core.patterns.formulas import cycles

DEFAULT_PRESET = "counted"

_MATCH = "match:match/cost_model/examples/pulp_cluster.py as used for Carfield (sheet 4)"
_PER_OPERAND = f"{_MATCH}: 370 + 550 per operand"


#: The published model has the PULP cluster's cost on Spatz too; here each command of Spatz's DMA pays it.
_AS_PUBLISHED = (
    cycles("pulp_dma_dense_cycles", 920, _PER_OPERAND),
    cycles("pulp_dma_strided_cycles", 920, _PER_OPERAND),
    cycles("pulp_dma_planes_cycles", 0, _PER_OPERAND),
    cycles("pulp_dma_further_cycles", 0, _PER_OPERAND),
    cycles("pulp_dma_plane_cycles", 10, _MATCH),
    cycles("spatz_dma_issue_cycles", 920, _PER_OPERAND),
)


def _speed(unit: str, percent: int) -> tuple[Constant, ...]:
    """Kernels of ``unit`` at ``percent`` of their speed."""
    scale = round(10_000 / percent)
    return (Constant(f"{unit}_scale_percent", scale, "percent", f"{percent} % of the counted speed", estimate=True),)


PRESETS: Mapping[str, tuple[Constant, ...]] = MappingProxyType(
    {
        DEFAULT_PRESET: (),
        "as-published": _AS_PUBLISHED,
        **{f"{unit}{change:+d}": _speed(unit, 100 + change) for unit in ("pulp", "spatz") for change in (-30, 30)},
    }
)
