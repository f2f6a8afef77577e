"""Cycles of the binary16 kernels as functions of tile sizes; figures and their sources in ``kernel_constants``.

Windows of several columns are taken to reach a pixel beyond the image left and right, where pixels of a block go on
alone. What kernels leave out there, taps above and below included, is not taken off. The twin computes the same in C
(``twin/src/carfield_cost_half.c``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from match_core.patterns.formulas import Cycles, Tile, Timing, up

from match_carfield.half.redmule_formulas import redmule_jobs

#: Pixels of a block, lanes of a vector of two pairs (runtime/match_carfield_half_taps.h, _vector_pulp.h).
PIXELS = 4
PAIRS_LANES = 4


def kernel_cycles(timing: Timing, kernel: str, parameters: Mapping[str, int], tile: Tile) -> Cycles:
    """Cycles of one call of ``kernel`` (``pulp_conv2d``, ``redmule_linear``, ...) on a tile, one hand-over to the cores
    not included; those after the first are. KeyError for another kernel."""
    unit = "spatz" if kernel.startswith("spatz_") else "pulp"
    hand_over = 2 * timing[f"{unit}_barrier_cycles"]
    return work_cycles(timing, kernel, parameters, tile) + hand_overs(kernel, parameters) * hand_over


def hand_overs(kernel: str, parameters: Mapping[str, int]) -> int:
    """How often a call hands work to the cores, less one."""
    turns = int(kernel.endswith("_matmul") and parameters["b_transposed"] != 0)
    return turns + int(kernel.startswith("redmule_"))


def work_cycles(timing: Timing, kernel: str, parameters: Mapping[str, int], tile: Tile) -> Cycles:
    """Cycles between hand-overs, scaled."""
    unit, _, name = kernel.partition("_")
    cores = "pulp" if unit == "redmule" else unit
    plain = (
        _redmule(timing, name, parameters, tile) if unit == "redmule" else _cores(timing, unit, name, parameters, tile)
    )
    cycles: Cycles = up(plain * timing[f"{cores}_scale_percent"], 100)
    return cycles


def _cores(timing: Timing, unit: str, name: str, parameters: Mapping[str, int], tile: Tile) -> Cycles:
    t, one = tile, np.ones_like(next(iter(tile.values())))
    call = timing[f"{unit}_call_cycles"]
    match name:
        case "conv2d":
            rows, columns = _pixels(parameters, t)
            return call + _mixing(timing, unit, rows, columns, t["K"], t["C"], t["FY"], t["FX"])
        case "group2d":
            rows, columns = _pixels(parameters, t)
            return t["G"] * (call + _mixing(timing, unit, rows, columns, t["KG"], t["CG"], t["FY"], t["FX"]))
        case "linear":
            return call + _mixing(timing, unit, one, t["N"], t["K"], t["C"], one, one)
        case "matmul":
            product = t["B"] * (call + _mixing(timing, unit, one, t["M"], t["K"], t["C"], one, one))
            return product + parameters["b_transposed"] * _gather(timing, unit, t["B"] * t["C"], t["K"])
        case "depthwise2d":
            return call + _channels(timing, unit, "depthwise", t["OY"], t["OX"], t["K"], t["FY"], t["FX"])
        case "pool2d":
            return call + _channels(timing, unit, "pool", t["OY"], t["OX"], t["C"], t["FY"], t["FX"])
        case "add":
            return call + _sum(timing, unit, t["Y"] * t["X"] * t["C"])
        case "transpose":
            return call + _gather(timing, unit, t["C"], t["R"])
        case "softmax" | "layernorm":
            row = timing[f"{unit}_{name}_row_cycles"] + t["C"] * timing[f"{unit}_{name}_cycles"]
            return call + up(t["R"], timing[f"{unit}_cores"]) * row
        case "gelu":
            elements = up(t["Y"] * t["X"] * t["C"], timing[f"{unit}_cores"])
            return call + elements * timing[f"{unit}_gelu_cycles"]
    raise KeyError(name)


def _pixels(parameters: Mapping[str, int], t: Tile) -> tuple[Cycles, Cycles]:
    """Rows and columns of output pixels; kernels of one tap and stride 1 see one long row."""
    flat = (t["FY"] * t["FX"] == 1) & (parameters["stride_y"] * parameters["stride_x"] == 1)
    return np.where(flat, 1, t["OY"]), np.where(flat, t["OY"] * t["OX"], t["OX"])


def _vectors(timing: Timing, unit: str, channels: Cycles, blocks: Cycles) -> tuple[Cycles, Cycles, Cycles]:
    """How many vectors the channels are cut into, lanes of each but the last, lanes of the last."""
    if unit == "pulp":
        parts = up(channels, PAIRS_LANES)
        return parts, np.full_like(parts, PAIRS_LANES), channels - (parts - 1) * PAIRS_LANES
    least, most = up(channels, timing["spatz_lanes"]), up(channels, timing["spatz_fpu_elements"])
    wanted = np.where(blocks < timing["spatz_cores"], timing["spatz_cores"], 1)
    lanes = up(up(channels, np.maximum(least, np.minimum(wanted, most))), 4) * 4
    parts = up(channels, lanes)
    return parts, lanes, channels - (parts - 1) * lanes


def _shared(timing: Timing, unit: str, total: Cycles, items: Cycles) -> Cycles:
    """The busiest core's part of ``total`` cycles that ``items`` pieces take together."""
    cycles: Cycles = up(total * up(items, timing[f"{unit}_cores"]), items)
    return cycles


def _mixing(
    timing: Timing,
    unit: str,
    rows: Cycles,
    columns: Cycles,
    k: Cycles,
    c: Cycles,
    fy: Cycles,
    fx: Cycles,
) -> Cycles:
    """Blocks of up to four pixels by a vector of output channels, all input channels of all taps."""
    whole, rest = columns // PIXELS, columns % PIXELS
    blocks = rows * up(columns, PIXELS)
    parts, lanes, last = _vectors(timing, unit, k, blocks)

    def both(n: Cycles) -> Cycles:
        """All blocks of a row for one vector of n lanes."""
        step4, step1 = _steps(timing, unit, n, k)
        tap = timing[f"{unit}_tap_cycles"] + (timing["spatz_load_cycles"] if unit == "spatz" else 0)
        frame = timing[f"{unit}_block_cycles"] + fy * (timing[f"{unit}_row_cycles"] + fx * tap)
        edges = 2 * (fx > 1) * fy * (fx * timing[f"{unit}_edge_cycles"] + c * np.maximum(3 * step1 - step4, 0))
        cycles: Cycles = whole * (frame + fy * fx * c * step4) + (rest > 0) * frame + rest * fy * fx * c * step1 + edges
        return cycles

    total = rows * ((parts - 1) * both(lanes) + both(last))
    return _shared(timing, unit, total, blocks * parts)


def _steps(timing: Timing, unit: str, n: Cycles, k: Cycles) -> tuple[Cycles, Cycles]:
    """A step of c for four pixels and for one, n lanes, k channels in memory."""
    if unit == "pulp":
        full = n == PAIRS_LANES
        return (
            np.where(full, timing["pulp_step4_cycles"], timing["pulp_step4_rest_cycles"]),
            np.where(full, timing["pulp_step1_cycles"], timing["pulp_step1_rest_cycles"]),
        )
    fpu, load = up(n, timing["spatz_fpu_elements"]), _load(timing, n, k)
    # Four pixels take turns with two vectors of weights. One pixel waits for each of its only one: multiply-adds follow
    # a load element by element, so that they wait for its start, and for what the ports are slower.
    four = np.maximum(up(PIXELS * fpu * 100, timing["spatz_fpu_percent"]), load)
    one = np.maximum(fpu, load) + timing["spatz_load_cycles"]
    return np.maximum(timing["spatz_step4_cycles"], four), np.maximum(timing["spatz_step1_cycles"], one)


def _load(timing: Timing, n: Cycles, k: Cycles) -> Cycles:
    """Cycles of Spatz's ports for n elements of rows of k."""
    loads: Cycles = np.where(k % 4 == 0, up(n, timing["spatz_load_elements"]), up(n, timing["spatz_single_elements"]))
    return loads


def _channels(
    timing: Timing, unit: str, name: str, rows: Cycles, columns: Cycles, k: Cycles, fy: Cycles, fx: Cycles
) -> Cycles:
    """Blocks of up to four pixels by a vector of channels that do not mix."""
    whole, rest = columns // PIXELS, columns % PIXELS
    blocks = rows * up(columns, PIXELS)
    parts, lanes, last = _vectors(timing, unit, k, blocks)
    frame = timing[f"{unit}_{name}_block_cycles"] + (fy - 1) * timing[f"{unit}_{name}_row_cycles"]
    weights, taps = int(name == "depthwise"), fy * fx
    edges = 2 * (fx > 1) * taps * timing[f"{unit}_{name}_edge_cycles"]

    def both(n: Cycles) -> Cycles:
        four, one = timing[f"{unit}_{name}4_cycles"] + 0 * n, timing[f"{unit}_{name}1_cycles"] + 0 * n
        if unit == "spatz":
            pixel = up(n, timing["spatz_fpu_elements"]) + timing["spatz_load_cycles"] + _load(timing, n, k)
            four = np.maximum(four, PIXELS * pixel + weights * _load(timing, n, k))
            one = np.maximum(one, pixel + weights * _load(timing, n, k))
        cycles: Cycles = whole * (frame + taps * four) + (rest > 0) * frame + rest * taps * one + edges
        return cycles

    total = rows * ((parts - 1) * both(lanes) + both(last))
    return _shared(timing, unit, total, blocks * parts)


def _sum(timing: Timing, unit: str, elements: Cycles) -> Cycles:
    """Sums of two tensors."""
    each = up(elements, timing[f"{unit}_cores"])
    if unit == "pulp":
        return up(each, PAIRS_LANES) * timing["pulp_sum_cycles"]
    vectors = up(each, timing["spatz_lanes"])
    ports = 3 * up(each, timing["spatz_load_elements"]) + vectors * timing["spatz_load_cycles"]
    cycles: Cycles = np.maximum(vectors * timing["spatz_sum_cycles"], ports)
    return cycles


def _gather(timing: Timing, unit: str, rows: Cycles, size: Cycles) -> Cycles:
    """Rows of ``size`` elements that lie apart."""
    lanes = PAIRS_LANES if unit == "pulp" else timing["spatz_lanes"]
    vectors = up(size, lanes) * timing[f"{unit}_gather_cycles"]
    if unit == "spatz":
        ports = up(size, timing["spatz_strided_elements"]) + up(size, timing["spatz_load_elements"])
        vectors = np.maximum(vectors, ports)
    cycles: Cycles = up(rows, timing[f"{unit}_cores"]) * (timing[f"{unit}_gather_row_cycles"] + vectors)
    return cycles


def _redmule(timing: Timing, name: str, parameters: Mapping[str, int], tile: Tile) -> Cycles:
    """The cores clear the sums, RedMulE adds the products, the cores turn sums into results."""
    t, one = tile, np.ones_like(next(iter(tile.values())))
    match name:
        case "conv2d":
            rows, columns = _pixels(parameters, t)
            outputs, jobs = rows * columns, rows * t["FY"] * t["FX"]
            products = redmule_jobs(timing, jobs, columns, t["C"], t["K"])
        case "linear":
            outputs, products = t["N"], redmule_jobs(timing, one, t["N"], t["C"], t["K"])
        case "matmul":
            outputs, products = t["B"] * t["M"], redmule_jobs(timing, t["B"], t["M"], t["C"], t["K"])
            products = products + parameters["b_transposed"] * _gather(timing, "pulp", t["B"] * t["C"], t["K"])
        case _:
            raise KeyError(name)
    vectors = outputs * up(t["K"], PAIRS_LANES)
    each = up(vectors, timing["pulp_cores"]) * (timing["pulp_clear_cycles"] + timing["pulp_finish_cycles"])
    cycles: Cycles = timing["pulp_call_cycles"] + each + products
    return cycles
