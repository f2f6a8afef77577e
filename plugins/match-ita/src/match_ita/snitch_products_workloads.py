"""How matches of dense layers, products of activations, attention and softmax become workloads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from match_core import Axis, Dim, Match, Operand, Workload

from match_ita import snitch_products_requant as requant
from match_ita import snitch_products_structures as s
from match_ita.snitch_products_requant import Scale
from match_ita.snitch_products_structures import Side

Numbers = tuple[tuple[str, int], ...]
Scratch = tuple[tuple[tuple[str, ...], int], ...]

#: Cores, each with panels of its own in an attention.
_CORES = 8
#: Columns that values of an attention are filled up to; tiles of turned results are that wide.
_BLOCK = 64
#: Sums in front of a panel of four vectors, and its bytes for each index.
_PANEL_BYTES, _PANEL_TAP_BYTES = 16, 8


def _axis(name: str, size: int) -> Axis:
    return Axis(name, size, ((name.upper(), 1),))


def _panels(vectors: tuple[str, ...], taps: str) -> Scratch:
    """Room for the vectors of the named dimensions in panels of four, the last of each first dimension not full."""
    outer = vectors[:-1]
    return (((*vectors, taps), 2), (vectors, 4), ((*outer, taps), 6), (outer, _PANEL_BYTES))


def _clip(match: Match, found: Scale) -> Numbers:
    return (("shift", found.shift), ("low", s.number(match, "low")), ("high", s.number(match, "high")))


def _scale(found: Scale | str) -> Scale:
    assert isinstance(found, Scale)  # a rule says so
    return found


def _weighted(match: Match, found: Scale) -> tuple[tuple[Operand, ...], Numbers, Numbers]:
    """Constants; what of the kernel's numbers costs depend on, and what they do not."""
    c, outputs = match.shape("weight")
    k = _axis("k", outputs)
    operands = (
        Operand("weight", "constant", (k, Axis("c", c))),
        Operand("multiplier", "constant", (k,), 32),
        Operand("addend", "constant", (k,), 64),
    )
    arithmetic = (*_clip(match, found), ("input_unsigned", int(s.is_unsigned(match, "input"))))
    return operands, (("wide", int(found.wide)),), arithmetic


def linear(match: Match) -> Workload:
    """A dense layer: N rows, K outputs, C inputs."""
    c, outputs = match.shape("weight")
    constants, geometry, arithmetic = _weighted(match, _scale(requant.weighted(match)))
    n, k = _axis("n", prod(match.shape("input")) // c), _axis("k", outputs)
    dims = (Dim("N", n.size), Dim("K", outputs), Dim("C", c, tileable=False))
    operands = (
        Operand("input", "input", (n, Axis("c", c))),
        *constants,
        Operand("output", "output", (n, k)),
    )
    macs = n.size * outputs * c
    return Workload("snitch_linear", dims, operands, macs, geometry, _panels(("N",), "C"), arithmetic=arithmetic)


def linear_turned(match: Match) -> Workload:
    """The same, turned and filled up: N1 blocks of N0 columns of the result, K rows of it, C inputs."""
    c, outputs = match.shape("weight")
    constants, geometry, arithmetic = _weighted(match, _scale(requant.weighted(match)))
    rows, columns = prod(match.shape("input")) // c, int(match.output.shape[-1])
    block = _BLOCK if columns % _BLOCK == 0 and columns - rows < _BLOCK else columns
    dims = (
        Dim("N1", columns // block),
        Dim("N0", block, tileable=False),
        Dim("K", outputs),
        Dim("C", c, tileable=False),
    )
    operands = (
        Operand("input", "input", (Axis("n", rows, (("N1", block), ("N0", 1))), Axis("c", c))),
        *constants,
        Operand("output", "output", (_axis("k", outputs), _axis("n1", columns // block), Axis("n0", block))),
    )
    scratch: Scratch = ((("N1", "N0", "C"), 2), (("N1", "N0"), 4), (("C",), 6), ((), _PANEL_BYTES))
    macs = rows * outputs * c
    return Workload("snitch_linear_turned", dims, operands, macs, geometry, scratch, arithmetic=arithmetic)


def _placed(axes: Sequence[Axis], steps: Sequence[int]) -> tuple[Axis, ...]:
    """Axes with where they lie at home, which goes without saying where they lie in this order."""
    dense = [prod(axis.size for axis in axes[place + 1 :]) for place in range(len(axes))]
    if all(axis.size == 1 or step == whole for axis, step, whole in zip(axes, steps, dense, strict=True)):
        return tuple(axes)
    return tuple(
        Axis(axis.name, axis.size, axis.terms, stride=step or 1) for axis, step in zip(axes, steps, strict=True)
    )


def _side(side: Side, heads: Axis, rows: Axis, columns: Axis) -> tuple[Axis, ...]:
    return _placed((heads, rows, columns), (side.heads, side.rows, side.columns))


def b_in_rows(match: Match) -> bool:
    """Whether the second input of a product lies as [N][C]."""
    product = s.product_of(match)
    assert product is not None  # a rule says so
    return product.b.rows <= 1 and product.b.columns != 1


def matmul(match: Match) -> Workload:
    """Products of two activations: H products of M rows, N columns, C in a sum."""
    product, found = s.product_of(match), _scale(requant.of_product(match))
    assert product is not None  # a rule says so
    h, m, n, c = _axis("h", product.h), _axis("m", product.m), _axis("n", product.n), Axis("c", product.c)
    dims = (Dim("H", h.size), Dim("M", m.size), Dim("N", n.size), Dim("C", c.size, tileable=False))
    in_rows = b_in_rows(match)
    turned = Side(product.b.heads, product.b.columns, product.b.rows)
    operands = (
        Operand("a", "input", _side(product.a, h, m, c)),
        Operand("b", "input", _side(turned, h, n, c) if in_rows else _side(product.b, h, c, n)),
        Operand("multiplier", "constant", (h,), 32),
        Operand("addend", "constant", (h,), 64),
        Operand("output", "output", _side(product.output, h, m, n)),
    )
    geometry = (
        ("b_rows", int(in_rows)),
        ("a_zero", s.zero_point(match, 2) or 0),
        ("b_zero", s.zero_point(match, 3) or 0),
        ("a_unsigned", int(s.is_unsigned(match, "a"))),
        ("b_unsigned", int(s.is_unsigned(match, "b"))),
        ("wide", int(found.wide)),
    )
    macs = h.size * m.size * n.size * c.size
    scratch = _panels(("H", "M" if in_rows else "N"), "C")
    return Workload("snitch_matmul", dims, operands, macs, geometry, scratch, arithmetic=_clip(match, found))


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
    h, p = _axis("h", heads), Axis("p", each)
    operands = (
        Operand("q", "input", _placed((h, _axis("s", rows), p), (each, width, 1))),
        Operand("k", "input", _placed((h, Axis("t", keys), p), (each, width, 1))),
        Operand("vt", "input", (h, p, Axis("t", columns))),
        Operand("output", "output", _placed((h, _axis("s", rows), p), (each, width, 1))),
    )
    found = {step: _scale(requant.of_attention(match, step)) for step in ("qk", "av")}
    geometry = (
        ("group", int(node.attrs.get("group", 16))),
        *((f"{step}_wide", int(scale.wide)) for step, scale in found.items()),
    )
    arithmetic = (
        ("softmax_shift", int(node.attrs["shift"])),
        ("numerator", s.number(match, "numerator")),
        *(entry for step, scale in found.items() for entry in _one_scale(step, scale)),
    )
    own = 2 * _PANEL_BYTES
    scratch: Scratch = (
        (("P",), _CORES * _PANEL_TAP_BYTES),
        (("TP",), _CORES * _PANEL_TAP_BYTES),
        ((), _CORES * own),
    )
    macs = heads * rows * each * (keys + columns)
    return Workload("snitch_attention", dims, operands, macs, geometry, scratch, arithmetic=arithmetic)


def _one_scale(step: str, found: Scale) -> Numbers:
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
    r, c = _axis("r", prod(shape[:-1])), Axis("c", shape[-1])
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
        ("numerator", s.number(match, "numerator")),
        ("rounded", int(not floor)),
        ("zero", 0 if floor else s.number(match, "zero")),
        ("low", 0 if floor else s.number(match, "low")),
        ("high", 255 if floor else s.number(match, "high")),
    )
    return Workload("snitch_softmax", dims, operands, 0, arithmetic=arithmetic)


def shift_softmax(match: Match) -> Workload:
    """Rows of softmax in powers of two: R, C."""
    dims, r, c = _rows(match)
    arithmetic = (
        ("input_unsigned", int(s.is_unsigned(match, "input"))),
        ("softmax_shift", 5),  # of the operator's definition
        ("numerator", s.number(match, "numerator")),
    )
    geometry = (("group", int(match.node("softmax").attrs["group"])),)
    operands = (Operand("input", "input", (r, c)), Operand("output", "output", (r, c)))
    return Workload("snitch_shift_softmax", dims, operands, 0, geometry, arithmetic=arithmetic)
