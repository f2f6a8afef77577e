"""Cycles of the kernels of single bytes: the busiest core's work (``runtime/bytes/match_gap9_elements.c``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile, Timing, touched, up

_WORD = 4


def share(timing: Timing, items: Cycles, block: int) -> Cycles:
    """Of items that workers share in whole blocks, how many the busiest core has."""
    chunk: Cycles = up(items, timing["core_count"] * block) * block
    return np.minimum(chunk, items)


def _rows(timing: Timing, count: Cycles, length: Cycles, element: int) -> Cycles:
    """Elements in rows that a core begins anew."""
    mine = share(timing, count * length, _WORD)
    started = touched(count, length, mine) * timing["sdk_rows_row_cycles"]
    return timing["sdk_rows_call_cycles"] + started + mine * element


def _lut(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    quads = up(share(timing, tile["N"], _WORD), _WORD)
    return timing["sdk_elements_call_cycles"] + quads * timing["sdk_lut_quad_cycles"]


def _product(figure: str) -> Callable[[Timing, Workload, Tile], Cycles]:
    def cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
        b, r, c = tile["B"], tile["R"], tile["C"]
        single = c == 1
        return _rows(timing, np.where(single, b, b * r), np.where(single, r, c), timing[figure])

    return cycles


def _requant(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    return _rows(timing, tile["R"], tile["C"], timing["sdk_requant_element_cycles"])


def _dequantize(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    mine = share(timing, tile["N"], _WORD)
    return timing["sdk_elements_call_cycles"] + mine * timing["sdk_dequantize_element_cycles"]


ELEMENT_CYCLES: Mapping[str, Callable[[Timing, Workload, Tile], Cycles]] = MappingProxyType(
    {
        "lut": _lut,
        "product": _product("sdk_product_element_cycles"),
        "product_wide": _product("sdk_product_wide_element_cycles"),
        "requant": _requant,
        "dequantize": _dequantize,
    }
)
