"""Turns matches of attention and softmax into workloads of the compute cores."""

from __future__ import annotations

from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.captures import is_type, number, words
from match_core.patterns.workloads import Numbers, Scratch, axis, whole

from match_ita.ita.limits import CORES
from match_ita.snitch_products import requant
from match_ita.snitch_products.requant import Scale
from match_ita.snitch_products.workloads import (
    KERNELS,
    PANEL_BYTES,
    PANEL_TAP_BYTES,
    placed,
    scale_of,
)


def attention(match: Match) -> Workload:
    """Heads of attention: H heads, S rows, T keys, TP columns of the transposed values, P columns of a head."""
    (rows, width), keys, columns = match.shape("q")[-2:], match.shape("k")[-2], match.shape("vt")[-1]
    node = match.node("attention")
    heads = int(node.attrs["heads"])
    each = width // heads
    dims = (
        Dim("H", heads),
        Dim("S", rows),
        whole("T", keys),
        whole("TP", columns),
        whole("P", each),
    )
    h, p = axis("h", heads), Axis("p", each)
    operands = (
        Operand("q", "input", placed((h, axis("s", rows), p), (each, width, 1))),
        Operand("k", "input", placed((h, Axis("t", keys), p), (each, width, 1))),
        Operand("vt", "input", (h, p, Axis("t", columns))),
        Operand("output", "output", placed((h, axis("s", rows), p), (each, width, 1))),
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
    low, high = words(int(found.addend[0]))
    return (
        (f"{step}_multiplier", int(found.multiplier[0])),
        (f"{step}_addend_low", low),
        (f"{step}_addend_high", high),
        (f"{step}_shift", found.shift),
    )


def softmax(match: Match) -> Workload:
    """Rows of softmax by table: R, C."""
    floor = not match.has("zero")
    table = Operand("table", "constant", (Axis("distance", 256),), 32)
    arithmetic = (
        ("input_unsigned", int(is_type(match, "input", "uint8"))),
        ("numerator", number(match, "numerator")),
        ("rounded", int(not floor)),
        ("zero", 0 if floor else number(match, "zero")),
        ("low", 0 if floor else number(match, "low")),
        ("high", 255 if floor else number(match, "high")),
    )
    return KERNELS.rows(match, "snitch_softmax", (table,), arithmetic=arithmetic)


def shift_softmax(match: Match) -> Workload:
    """Rows of softmax in powers of two: R, C."""
    arithmetic = (
        ("input_unsigned", int(is_type(match, "input", "uint8"))),
        ("softmax_shift", 5),  # of the operator's definition
        ("numerator", number(match, "numerator")),
    )
    geometry = (("group", int(match.node("softmax").attrs["group"])),)
    return KERNELS.rows(match, "snitch_shift_softmax", (), geometry, arithmetic)
