"""How matches of attention and softmax become workloads of the compute cores."""

from __future__ import annotations

from math import prod

from match_core import Axis, Dim, Match, Operand, Workload

from match_ita import snitch_products_requant as requant
from match_ita import snitch_products_structures as s
from match_ita.captures import number
from match_ita.ita_limits import CORES
from match_ita.snitch_products_requant import Scale
from match_ita.snitch_products_workloads import (
    PANEL_BYTES,
    PANEL_TAP_BYTES,
    Numbers,
    Scratch,
    one_dim,
    placed,
    scale_of,
)


def attention(match: Match) -> Workload:
    """Heads of attention: H heads, S rows, T keys, TP columns of the turned values, P columns of a head."""
    (rows, width), keys, columns = match.shape("q")[-2:], match.shape("k")[-2], match.shape("vt")[-1]
    node = match.node("attention")
    heads = int(node.attrs["heads"])
    each = width // heads
    dims = (
        Dim("H", heads),
        Dim("S", rows),
        Dim("T", keys, tileable=False),
        Dim("TP", columns, tileable=False),
        Dim("P", each, tileable=False),
    )
    h, p = one_dim("h", heads), Axis("p", each)
    operands = (
        Operand("q", "input", placed((h, one_dim("s", rows), p), (each, width, 1))),
        Operand("k", "input", placed((h, Axis("t", keys), p), (each, width, 1))),
        Operand("vt", "input", (h, p, Axis("t", columns))),
        Operand("output", "output", placed((h, one_dim("s", rows), p), (each, width, 1))),
    )
    found = {step: scale_of(requant.of_attention(match, step)) for step in ("qk", "av")}
    geometry = (
        ("group", int(node.attrs.get("group", 16))),
        *((f"{step}_wide", int(scale.wide)) for step, scale in found.items()),
    )
    arithmetic = (
        ("softmax_shift", int(node.attrs["shift"])),
        ("numerator", number(match, "numerator")),
        *(entry for step, scale in found.items() for entry in _onescale_of(step, scale)),
    )
    own = 2 * PANEL_BYTES
    scratch: Scratch = (
        (("P",), CORES * PANEL_TAP_BYTES),
        (("TP",), CORES * PANEL_TAP_BYTES),
        ((), CORES * own),
    )
    macs = heads * rows * each * (keys + columns)
    return Workload("snitch_attention", dims, operands, macs, geometry, scratch, arithmetic=arithmetic)


def _onescale_of(step: str, found: Scale) -> Numbers:
    addend = int(found.addend[0])
    low = addend & 0xFFFFFFFF
    return (
        (f"{step}_multiplier", int(found.multiplier[0])),
        (f"{step}_addend_low", low - (1 << 32) if low >= 1 << 31 else low),
        (f"{step}_addend_high", addend >> 32),
        (f"{step}_shift", found.shift),
    )


def _rows(match: Match) -> tuple[tuple[Dim, ...], Axis, Axis]:
    shape = match.shape("input")
    r, c = one_dim("r", prod(shape[:-1])), Axis("c", shape[-1])
    return (Dim("R", r.size), Dim("C", c.size, tileable=False)), r, c


def softmax(match: Match) -> Workload:
    """Rows of softmax by table: R, C."""
    dims, r, c = _rows(match)
    floor = not match.has("zero")
    operands = (
        Operand("input", "input", (r, c)),
        Operand("table", "constant", (Axis("distance", 256),), 32),
        Operand("output", "output", (r, c)),
    )
    arithmetic = (
        ("input_unsigned", int(s.is_unsigned(match, "input"))),
        ("numerator", number(match, "numerator")),
        ("rounded", int(not floor)),
        ("zero", 0 if floor else number(match, "zero")),
        ("low", 0 if floor else number(match, "low")),
        ("high", 255 if floor else number(match, "high")),
    )
    return Workload("snitch_softmax", dims, operands, 0, arithmetic=arithmetic)


def shift_softmax(match: Match) -> Workload:
    """Rows of softmax in powers of two: R, C."""
    dims, r, c = _rows(match)
    arithmetic = (
        ("input_unsigned", int(s.is_unsigned(match, "input"))),
        ("softmax_shift", 5),  # of the operator's definition
        ("numerator", number(match, "numerator")),
    )
    geometry = (("group", int(match.node("softmax").attrs["group"])),)
    operands = (Operand("input", "input", (r, c)), Operand("output", "output", (r, c)))
    return Workload("snitch_shift_softmax", dims, operands, 0, geometry, arithmetic=arithmetic)
