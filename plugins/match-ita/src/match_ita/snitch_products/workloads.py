"""Turns matches of dense layers and products of activations into workloads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from match_core import Axis, Dim, Match, Operand, Workload
from match_core.patterns.captures import is_type, number
from match_core.patterns.workloads import Kernels, Numbers, Scratch, axis, whole

from match_ita.ita.limits import BLOCK
from match_ita.snitch_products import requant
from match_ita.snitch_products import structures as s
from match_ita.snitch_products.requant import Scale
from match_ita.snitch_products.structures import Side

#: Sums in front of a panel of four vectors, and its bytes for each index.
PANEL_BYTES, PANEL_TAP_BYTES = 16, 8

KERNELS = Kernels()


def _panels(vectors: tuple[str, ...], taps: str) -> Scratch:
    """Room for the vectors of the named dimensions in panels of four, the last of each first dimension not full."""
    outer = vectors[:-1]
    return (((*vectors, taps), 2), (vectors, 4), ((*outer, taps), 6), (outer, PANEL_BYTES))


def clip(match: Match, found: Scale) -> Numbers:
    """What the kernels shift by, and the bounds of results."""
    return (("shift", found.shift), ("low", number(match, "low")), ("high", number(match, "high")))


def scale_of(found: Scale | str) -> Scale:
    """The scale, which there is where all rules hold."""
    assert isinstance(found, Scale)  # a rule says so
    return found


def _weighted(match: Match, found: Scale) -> tuple[tuple[Operand, ...], Numbers, Numbers]:
    """Constants; what of the kernel's numbers costs depend on, and what they do not."""
    c, outputs = match.shape("weight")
    k = axis("k", outputs)
    operands = (
        Operand("weight", "constant", (k, Axis("c", c))),
        Operand("multiplier", "constant", (k,), 32),
        Operand("addend", "constant", (k,), 64),
    )
    arithmetic = (*clip(match, found), ("input_unsigned", int(is_type(match, "input", "uint8"))))
    return operands, (("wide", int(found.wide)),), arithmetic


def linear(match: Match) -> Workload:
    """A dense layer: N rows, K outputs, C inputs."""
    _, geometry, arithmetic = _weighted(match, scale_of(requant.weighted(match)))
    c, outputs = match.shape("weight")
    weight = (axis("k", outputs), Axis("c", c))
    return KERNELS.dense(match, "snitch_linear", weight, geometry, _panels(("N",), "C"), arithmetic)


def linear_turned(match: Match) -> Workload:
    """The same, turned and filled up: N1 blocks of N0 columns of the result, K rows of it, C inputs."""
    c, outputs = match.shape("weight")
    constants, geometry, arithmetic = _weighted(match, scale_of(requant.weighted(match)))
    rows, columns = prod(match.shape("input")) // c, int(match.output.shape[-1])
    # Values of an attention are filled up to whole blocks of ITA.
    block = BLOCK if columns % BLOCK == 0 and columns - rows < BLOCK else columns
    dims = (
        Dim("N1", columns // block),
        whole("N0", block),
        Dim("K", outputs),
        whole("C", c),
    )
    operands = (
        Operand("input", "input", (Axis("n", rows, (("N1", block), ("N0", 1))), Axis("c", c))),
        *constants,
        Operand("output", "output", (axis("k", outputs), axis("n1", columns // block), Axis("n0", block))),
    )
    scratch: Scratch = ((("N1", "N0", "C"), 2), (("N1", "N0"), 4), (("C",), 6), ((), PANEL_BYTES))
    macs = rows * outputs * c
    return Workload("snitch_linear_turned", dims, operands, macs, geometry, scratch, arithmetic=arithmetic)


def placed(axes: Sequence[Axis], steps: Sequence[int]) -> tuple[Axis, ...]:
    """Axes with where they lie at home, which goes without saying where they lie in this order."""
    dense = [prod(axis.size for axis in axes[place + 1 :]) for place in range(len(axes))]
    if all(axis.size == 1 or step == whole for axis, step, whole in zip(axes, steps, dense, strict=True)):
        return tuple(axes)
    return tuple(
        Axis(axis.name, axis.size, axis.terms, stride=step or 1) for axis, step in zip(axes, steps, strict=True)
    )


def _side(side: Side, heads: Axis, rows: Axis, columns: Axis) -> tuple[Axis, ...]:
    return placed((heads, rows, columns), (side.heads, side.rows, side.columns))


def b_in_rows(match: Match) -> bool:
    """Whether the second input of a product lies as [N][C]."""
    product = s.product_of(match)
    assert product is not None  # a rule says so
    return product.b.rows <= 1 and product.b.columns != 1


def matmul(match: Match) -> Workload:
    """Products of two activations: H products of M rows, N columns, C in a sum."""
    product, found = s.product_of(match), scale_of(requant.of_product(match))
    assert product is not None  # a rule says so
    h, m, n, c = axis("h", product.h), axis("m", product.m), axis("n", product.n), Axis("c", product.c)
    dims = (Dim("H", h.size), Dim("M", m.size), Dim("N", n.size), whole("C", c.size))
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
        ("a_unsigned", int(is_type(match, "a", "uint8"))),
        ("b_unsigned", int(is_type(match, "b", "uint8"))),
        ("wide", int(found.wide)),
    )
    macs = h.size * m.size * n.size * c.size
    scratch = _panels(("H", "M" if in_rows else "N"), "C")
    return Workload("snitch_matmul", dims, operands, macs, geometry, scratch, arithmetic=clip(match, found))
