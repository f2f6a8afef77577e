"""The limits of ITA's linear layers and products as named constraints (sheets ita-arithmetic 2.1 to 2.6, ita-snitch 4,
5)."""

from __future__ import annotations

import numpy as np
from match_core import Match
from match_core.patterns.captures import number
from match_core.patterns.rule import rule
from match_core.patterns.rules_requant import bounds_are

from match_ita.arithmetic import gelu_polynomial
from match_ita.captures import columns_filled, rows_of, turns_matrix
from match_ita.ita import structures as s
from match_ita.ita.limits import (
    ACCUMULATOR_END,
    ADD_MAX,
    ADD_MIN,
    BLOCK,
    GELU_END,
    MULTIPLIER_MAX,
    SHIFT_MAX,
    SUM_LENGTH_MAX,
)
from match_ita.ita.requantisation import largest_sums, sums_fit


def _odd(sizes: dict[str, int]) -> str | None:
    odd = [f"{size} {what}" for what, size in sizes.items() if size % BLOCK]
    return f"there are {' and '.join(odd)}" if odd else None


@rule("blocks", f"input and output columns are multiples of {BLOCK}")
def linear_blocks(match: Match) -> str | None:
    inputs, outputs = match.shape("weight")[-2:]
    return _odd({"input columns": inputs, "output columns": outputs})


@rule("sums", f"sums have at most {SUM_LENGTH_MAX} products")
def sum_length(match: Match) -> str | None:
    length = match.shape("weight")[-2] if match.has("dense") else match.shape("a")[-1]
    return None if length <= SUM_LENGTH_MAX else f"sums have {length} products"


def _requant(match: Match) -> str | None:
    found = s.requant_of(match)
    return found if isinstance(found, str) else None


_REGISTERS = f"multiplier 0 to {MULTIPLIER_MAX} and shift 0 to {SHIFT_MAX} of the tensor"
linear_requant = rule(
    "requantisation",
    f"one {_REGISTERS}; the addend is multiplier * bias + divisor / 2 + add * divisor with a bias of 24 bits for each "
    f"column and one add of {ADD_MIN} to {ADD_MAX}",
)(_requant)
product_requant = rule(
    "requantisation",
    f"one {_REGISTERS}; the addend is divisor / 2 + add * divisor with an add of {ADD_MIN} to {ADD_MAX}",
)(_requant)


@rule("bounds", "results are cut to -128..127, or to 0..127 (ReLU) without gelu")
def linear_bounds(match: Match) -> str | None:
    low, high = number(match, "low"), number(match, "high")
    relu = low == 0 and not match.has("gelu")
    return None if high == 127 and (low == -128 or relu) else f"bounds are {low} and {high}"


bounds = bounds_are("results are cut to -128..127", (-128, 127))


@rule("accumulator", f"sums and biases stay within 26 bits, {ACCUMULATOR_END - 1}")
def accumulator(match: Match) -> str | None:
    found = s.requant_of(match)
    if isinstance(found, str):
        return None  # another rule says so
    sums = largest_sums(match.const("weight").astype(np.int64))
    return None if sums_fit(sums, found.bias) else f"a sum reaches {(sums + np.abs(found.bias)).max()}"


# ---- parts of a matrix -----------------------------------------------------------------------------------------


@rule("slice", "the input is one matrix of columns that follow each other")
def part(match: Match) -> str | None:
    return None if s.input_rows(match) is not None else "it is not"


# ---- gelu ------------------------------------------------------------------------------------------------------


@rule("GELU", "constants of gelu have 16 bits, its values stay within 26 bits, its requantisation fits the registers")
def gelu(match: Match) -> str | None:
    if not match.has("gelu"):
        return None
    b, c = number(match, "gelu_b"), number(match, "gelu_c")
    if not (-GELU_END <= b <= 0 and -GELU_END <= c < GELU_END):
        return f"constants are {b} and {c}"
    found = s.requant_of(match, "gelu_")
    if isinstance(found, str):
        return f"after it {found}"
    reach = max(int(np.abs(step).max()) for step in gelu_polynomial(np.arange(-128, 128), b, c))
    return None if reach < ACCUMULATOR_END else f"a value reaches {reach}"


# ---- turned ----------------------------------------------------------------------------------------------------


@rule("permutation", "the result, one matrix, is transposed")
def turned(match: Match) -> str | None:
    shape = match.node("requant").outputs[0].shape
    if not turns_matrix(match):
        return f"it is {list(match.node('turn').attrs['perm'])}"
    return None if rows_of(tuple(shape[:-1])) == 1 else f"there are {rows_of(shape[:-1])} matrices"


@rule("columns", f"columns are a multiple of {BLOCK}, or padded with zeros to the next one")
def turned_pad(match: Match) -> str | None:
    columns = int(match.output.shape[-1])
    if not match.has("pad"):
        return None if columns % BLOCK == 0 else f"there are {columns} columns"
    added = columns_filled(match)
    if added is None:
        return "other places or values are filled"
    return f"{columns - added} columns become {columns}" if columns % BLOCK or added >= BLOCK else None


# ---- products of activations -----------------------------------------------------------------------------------


@rule(
    "blocks", f"batches are equal, sums and output columns are multiples of {BLOCK}, and the second input is transposed"
)
def matmul_blocks(match: Match) -> str | None:
    a, b = match.shape("a"), match.shape("b")
    if not turns_matrix(match) or a[:-2] != b[:-2]:
        return f"shapes are {a} and {b}, turned by {list(match.node('turn').attrs['perm'])}"
    return _odd({"columns in a sum": a[-1], "output columns": b[-2]})
