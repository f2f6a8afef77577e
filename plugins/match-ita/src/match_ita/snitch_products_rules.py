"""The limits of the product kernels as named constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from match_core import Constraint, Match

from match_ita import snitch_products_requant as requant
from match_ita import snitch_products_structures as s
from match_ita.captures import columns_filled, number
from match_ita.snitch_products_requant import Scale

_INT32 = 2**31
#: The reciprocals of softmax hold quotients of this many bits.
_LEVELS_MAX = 2**15


def _bytes(*captures: str) -> Constraint:
    def check(match: Match) -> str | None:
        kinds = {name: np.dtype(match.tensor(name).dtype) for name in captures}
        wrong = [f"{name} is {kind.name}" for name, kind in kinds.items() if kind not in (np.int8, np.uint8)]
        return " and ".join(wrong) or None

    return Constraint("activations", "activations are int8 or uint8", check)


INPUT = _bytes("input")
INPUTS = _bytes("a", "b")


def _int8(*captures: str) -> Callable[[Match], str | None]:
    def check(match: Match) -> str | None:
        kinds = {name: np.dtype(match.tensor(name).dtype).name for name in captures}
        return " and ".join(f"{name} is {kind}" for name, kind in kinds.items() if kind != "int8") or None

    return check


WEIGHTS = Constraint("weights", "weights are int8", _int8("weight"))
ATTENTION_TYPES = Constraint("activations", "q, k and v are int8", _int8("q", "k", "vt"))


def _matrix(match: Match) -> str | None:
    return None if len(match.shape("weight")) == 2 else f"weights have rank {len(match.shape('weight'))}"


MATRIX = Constraint("matrix", "weights are a matrix", _matrix)


def _no_zero_points(match: Match) -> str | None:
    zeros = (s.zero_point(match, 2), s.zero_point(match, 3))
    return None if zeros == (0, 0) else f"they are {zeros[0]} and {zeros[1]}"


ZERO_POINTS = Constraint("zero points", "zero points are folded into the addends", _no_zero_points)


def _known_zero_points(match: Match) -> str | None:
    known = all(s.zero_point(match, index) is not None for index in (2, 3))
    return None if known else "one is computed or differs by row"


MATMUL_ZERO_POINTS = Constraint("zero points", "zero points are constants of the tensor", _known_zero_points)


def _power_of_two(match: Match) -> str | None:
    return requant.divisor_of(match)


DIVISOR = Constraint("divisor", "the requantisation divides by 2**S with S of 0 to 62", _power_of_two)


def _scaled(of: Callable[[Match], Scale | str]) -> Constraint:
    def check(match: Match) -> str | None:
        found = of(match)
        return found if isinstance(found, str) else None

    return Constraint(
        "product",
        "sums and M fit int32, sum * M and sum * M + B stay below 2**62 for every input, and where they exceed 32 bits "
        "M * 2**(32 - S) fits int32 too; M and B are of the tensor or of the channels (of heads in a product)",
        check,
    )


WEIGHTED = _scaled(requant.weighted)
PRODUCT = _scaled(requant.of_product)


def _turned_pad(match: Match) -> str | None:
    if not match.has("pad"):
        return None
    return "other places or values are filled" if columns_filled(match) is None else None


TURNED_PAD = Constraint("columns", "columns are filled up with zeros at the end only", _turned_pad)


def _layout(match: Match) -> str | None:
    product = s.product_of(match)
    if product is None:
        shapes = " and ".join(str(list(tensor.shape)) for tensor in match.node("matmul").inputs[:2])
        return f"shapes are {shapes}"
    if product.a.columns > 1:
        return "a row of the first input is not contiguous"
    if product.b.columns > 1 and product.b.rows > 1:
        return "neither rows nor columns of the second input are contiguous"
    return None if product.output.columns <= 1 else "a row of the result is not contiguous"


LAYOUT = Constraint(
    "layout",
    "batches are equal and lie as one axis; rows of the first input and of the result, and rows or columns of the "
    "second input are contiguous",
    _layout,
)


# ---- attention and softmax -------------------------------------------------------------------------------------


def _heads(match: Match) -> str | None:
    (_, width), (keys, k_width), (v_width, columns) = (match.shape(name)[-2:] for name in ("q", "k", "vt"))
    heads = int(match.node("attention").attrs["heads"])
    if len({width, k_width, v_width}) > 1 or width % heads:
        return f"widths are {width}, {k_width} and {v_width} for {heads} heads"
    return None if columns >= keys else f"there are {keys} keys and {columns} columns of values"


HEADS = Constraint(
    "heads", "q, k and v have the same columns for each head, values are as many as keys or more", _heads
)


def _group(match: Match) -> str | None:
    node = match.node("attention" if match.has("attention") else "softmax")
    columns = (match.shape("vt") if match.has("attention") else match.shape("input"))[-1]
    group = int(node.attrs.get("group", 16))
    return None if group > 0 and columns % group == 0 else f"{columns} columns are taken {group} at once"


GROUP = Constraint("groups", "columns are a multiple of those taken at once", _group)


def _numerator(match: Match) -> str | None:
    value = number(match, "numerator")
    return None if 0 < value < 1 << 16 else f"it is {value}"


NUMERATOR = Constraint("numerator", "the numerator is 1 to 65535: probabilities have 8 bits", _numerator)


def _attention_product(match: Match) -> str | None:
    for step in ("qk", "av"):
        wrong = requant.divisor_of(match, f"{step}_divisor")
        found = wrong if wrong else requant.of_attention(match, step)
        if isinstance(found, str):
            return f"{step}: {found}"
    return None


ATTENTION_PRODUCT = Constraint("product", f"of logits and results: {PRODUCT.description}", _attention_product)


def _last_axis(match: Match) -> str | None:
    axis = int(match.node("softmax").attrs.get("axis", -1))
    rank = len(match.shape("input"))
    return None if axis in (-1, rank - 1) else f"it is {axis} of {rank}"


LAST_AXIS = Constraint("axis", "softmax is along the last axis", _last_axis)


def _table(match: Match) -> str | None:
    table, levels = match.const("table").reshape(-1), number(match, "numerator")
    if table.size < 256 or int(table.min()) < 0 or int(table.max()) >= _INT32 or int(table[0]) < 1:
        return f"{table.size} values from {table.min()} to {table.max()}"
    return None if 0 < levels < _LEVELS_MAX else f"there are {levels} levels"


TABLE = Constraint(
    "table", f"exponentials are 256 numbers of 31 bits, the first is not 0; levels are fewer than {_LEVELS_MAX}", _table
)
