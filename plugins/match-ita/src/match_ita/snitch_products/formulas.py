"""Work of the product kernels by counted instructions; the twin charges each loop where it runs.

Panels of four vectors by two columns are dealt out in equal contiguous parts; rows of softmax, outputs of pooling
likewise. Each formula returns the work between barriers (``snitch_shared``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile, Timing, touched, up

from match_ita import snitch_shared

_PANEL, _COLUMNS, _UNROLLED = 4, 2, 4

Work = tuple[Cycles, ...]


def parts(timing: Timing, workload: Workload, tile: Tile) -> Work:
    """The work of one call between barriers, besides that of the call itself; tile sizes are arrays."""
    sizes = {name: np.asarray(size, dtype=np.int64) for name, size in tile.items()}
    return _FORMULAS[workload.kind](timing, workload.parameters, sizes)


def kernel_cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """Cycles of one kernel call on all cores, the hand-over to them not included. KeyError for a kernel of others."""
    return snitch_shared.kernel_cycles(timing, "products_call", lambda figures: parts(figures, workload, tile))


def _columns(timing: Timing, taps: Cycles, *, pairs: bool, wide: int) -> Cycles:
    way = "pairs" if pairs else "plain"
    sums = taps // _UNROLLED * timing[f"{way}_step_cycles"] + taps % _UNROLLED * timing[f"{way}_tap_cycles"]
    return timing["columns_wide_cycles" if wide else "columns_narrow_cycles"] + sums


def _product(timing: Timing, vectors: Cycles, columns: Cycles, taps: Cycles, *, pairs: bool, wide: int) -> Cycles:
    panels, size = up(vectors, _PANEL), up(columns, _COLUMNS)
    items = up(panels * size, timing["cores"])
    return (
        items * _columns(timing, taps, pairs=pairs, wide=wide) + touched(panels, size, items) * timing["panel_cycles"]
    )


def _pack(timing: Timing, vectors: Cycles, taps: Cycles) -> Cycles:
    panel = timing["pack_panel_cycles"] + taps * timing["pack_tap_cycles"]
    return up(up(vectors, _PANEL), timing["cores"]) * panel


def _linear(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    n = tile["N"] if "N" in tile else tile["N1"] * tile["N0"]
    product = _product(timing, n, tile["K"], tile["C"], pairs=True, wide=parameters["wide"])
    return _pack(timing, n, tile["C"]), product


def matmul_pairs(parameters: Mapping[str, int]) -> bool:
    """Whether values of both sides are int8 once zeros are taken off the panels' side (match_snitch_matmul_pairs)."""
    panels, stream = ("a", "b") if parameters["b_rows"] else ("b", "a")
    zero = 128 if parameters[f"{panels}_unsigned"] else 0
    return not parameters[f"{stream}_unsigned"] and parameters[f"{panels}_zero"] == zero


def _matmul(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    vectors, columns = (tile["M"], tile["N"]) if parameters["b_rows"] else (tile["N"], tile["M"])
    pairs, wide = matmul_pairs(parameters), parameters["wide"]
    product = _product(timing, vectors, columns, tile["C"], pairs=pairs, wide=wide)
    head = timing["matmul_head_cycles"] + product
    return tile["H"] * _pack(timing, vectors, tile["C"]), tile["H"] * head


def _attention(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    p, tp = tile["P"], tile["TP"]
    items = up(tile["H"] * up(tile["S"], _PANEL), timing["cores"])
    rows = (
        timing["attention_rows_cycles"]
        + timing["pack_panel_cycles"]
        + p * timing["pack_tap_cycles"]
        + 2 * timing["panel_cycles"]
        + up(tile["T"], _COLUMNS) * _columns(timing, p, pairs=True, wide=parameters["qk_wide"])
        + up(p, _COLUMNS) * _columns(timing, tp, pairs=False, wide=parameters["av_wide"])
        + tp // parameters["group"] * timing["attention_group_cycles"]
        + tp * timing["attention_column_cycles"]
        + (tp - tile["T"]) * timing["attention_fill_cycles"]
    )
    return (items * rows,)


def _softmax(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    row = timing["softmax_row_cycles"] + tile["C"] * timing["softmax_element_cycles"]
    return (up(tile["R"], timing["cores"]) * row,)


def _shift_softmax(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    groups = tile["C"] // parameters["group"] * timing["shift_softmax_group_cycles"]
    row = timing["shift_softmax_row_cycles"] + groups + tile["C"] * timing["shift_softmax_element_cycles"]
    return (up(tile["R"], timing["cores"]) * row,)


def _conv2d(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    pixels, rows = tile["OY"] * tile["OX"], tile["C"] * tile["FY"]
    taps = rows * tile["FX"]
    window = timing["window_cycles"] + rows * timing["window_row_cycles"] + taps * timing["window_tap_cycles"]
    windows = _PANEL * up(up(pixels, _PANEL), timing["cores"])
    product = _product(timing, pixels, tile["K"], taps, pairs=True, wide=parameters["wide"])
    return windows * window, product


def _maxpool2d(timing: Timing, parameters: Mapping[str, int], tile: Tile) -> Work:
    outputs = up(tile["OY"] * tile["OX"] * tile["C"], timing["cores"])
    row = timing["maxpool_row_cycles"] + tile["FX"] * timing["maxpool_tap_cycles"]
    return (outputs * (timing["maxpool_output_cycles"] + tile["FY"] * row),)


_FORMULAS = {
    "snitch_linear": _linear,
    "snitch_linear_turned": _linear,
    "snitch_matmul": _matmul,
    "snitch_attention": _attention,
    "snitch_softmax": _softmax,
    "snitch_shift_softmax": _shift_softmax,
    "snitch_conv2d": _conv2d,
    "snitch_maxpool2d": _maxpool2d,
}
