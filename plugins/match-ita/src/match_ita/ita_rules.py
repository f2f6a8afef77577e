"""The limits of ITA as named constraints (sheets ita-arithmetic 2.1 to 2.6, ita-snitch 4, 5)."""

from __future__ import annotations

import numpy as np
from match_core import Constraint, Match
from numpy.typing import NDArray

from match_ita import ita_structures as s
from match_ita.constants import values
from match_ita.presets import PRESETS

_FIGURES = values()
BLOCK = _FIGURES["block"]
COLUMNS_MAX = _FIGURES["sum_length_max"]
TILES_MAX = _FIGURES["tiles_max"]
_ACCUMULATOR = 1 << (_FIGURES["accumulator_bits"] - 1)
#: The bias that keeps a column out of a softmax, the lowest of 24 bits.
MASK = -(1 << (_FIGURES["bias_bits"] - 1))
#: Largest size of an 8-bit activation or weight.
_BYTE = 128
_PROBABILITY = 255


def _int8(match: Match) -> str | None:
    names = [name for name in ("input", "weight", "q", "k", "vt", "a", "b") if match.has(name)]
    found = {np.dtype(match.tensor(name).dtype).name for name in names} | {np.dtype(match.output.dtype).name}
    return None if found == {"int8"} else f"tensors are {', '.join(sorted(found))}"


TYPES = Constraint("types", "activations and weights are int8", _int8)


def _zero_points(match: Match) -> str | None:
    return "there are zero points" if s.has_zero_point(match, "dense" if match.has("dense") else "matmul") else None


ZERO_POINTS = Constraint("zero points", "zero points are 0", _zero_points)


def _matrix(match: Match) -> str | None:
    rank = len(match.shape("weight"))
    return None if rank == 2 else f"weights have rank {rank}"


MATRIX = Constraint("weights", "weights are a matrix", _matrix)


def _odd(sizes: dict[str, int]) -> str | None:
    odd = [f"{size} {what}" for what, size in sizes.items() if size % BLOCK]
    return f"there are {' and '.join(odd)}" if odd else None


def _linear_blocks(match: Match) -> str | None:
    inputs, outputs = match.shape("weight")[-2:]
    return _odd({"input columns": inputs, "output columns": outputs})


LINEAR_BLOCKS = Constraint("blocks", f"input and output columns are multiples of {BLOCK}", _linear_blocks)


def _sum_length(match: Match) -> str | None:
    length = match.shape("weight")[-2] if match.has("dense") else match.shape("a")[-1]
    return None if length <= COLUMNS_MAX else f"sums have {length} products"


SUM_LENGTH = Constraint("sums", f"sums have at most {COLUMNS_MAX} products", _sum_length)


def _requant(match: Match) -> str | None:
    found = s.requant_of(match, biased=match.has("dense"))
    return found if isinstance(found, str) else None


_REGISTERS = f"multiplier 0 to {s.MULTIPLIER_MAX} and shift 0 to {s.SHIFT_MAX} of the tensor"
LINEAR_REQUANT = Constraint(
    "requantisation",
    f"one {_REGISTERS}; the addend is multiplier * bias + divisor / 2 + add * divisor with a bias of 24 bits for each "
    f"column and one add of {s.ADD_MIN} to {s.ADD_MAX}",
    _requant,
)
PRODUCT_REQUANT = Constraint(
    "requantisation",
    f"one {_REGISTERS}; the addend is divisor / 2 + add * divisor with an add of {s.ADD_MIN} to {s.ADD_MAX}",
    _requant,
)


def _bounds(match: Match) -> str | None:
    low, high = s.number(match, "low"), s.number(match, "high")
    relu = low == 0 and match.has("dense") and not (match.has("gelu") or match.has("turn"))
    return None if high == 127 and (low == -128 or relu) else f"bounds are {low} and {high}"


LINEAR_BOUNDS = Constraint("bounds", "results are cut to -128..127, or to 0..127 (ReLU) without GELU", _bounds)
BOUNDS = Constraint("bounds", "results are cut to -128..127", _bounds)


def _sums(match: Match) -> str | None:
    found = s.requant_of(match, biased=True)
    if isinstance(found, str):
        return None  # another rule says so
    reach = _BYTE * np.abs(match.const("weight").astype(np.int64)).sum(axis=0) + np.abs(found.bias)
    return None if reach.max() < _ACCUMULATOR else f"a sum reaches {reach.max()}"


ACCUMULATOR = Constraint("accumulator", f"sums and biases stay within 26 bits, {_ACCUMULATOR - 1}", _sums)


# ---- GELU ------------------------------------------------------------------------------------------------------


def _gelu(match: Match) -> str | None:
    if not match.has("gelu"):
        return None
    b, c = s.number(match, "gelu_b"), s.number(match, "gelu_c")
    if not (-(1 << 15) <= b <= 0 and -(1 << 15) <= c < 1 << 15):
        return f"constants are {b} and {c}"
    found = s.requant_of(match, "gelu_")
    if isinstance(found, str):
        return f"behind it {found}"
    reach = max(int(np.abs(values_).max()) for values_ in gelu_steps(b, c))
    return None if reach < _ACCUMULATOR else f"a value reaches {reach}"


def gelu_steps(b: int, c: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The polynomial and the product of ITA's GELU for all inputs of 8 bits (sheet 2.4)."""
    x = np.arange(-_BYTE, _BYTE, dtype=np.int64)
    distance = np.minimum(np.abs(x), -b) + b
    polynomial = distance * distance + c
    return polynomial, x * (np.where(x < 0, -polynomial, polynomial) + c)


GELU = Constraint(
    "GELU",
    "constants of GELU have 16 bits, its values stay within 26 bits, its requantisation fits the registers",
    _gelu,
)


# ---- turned ----------------------------------------------------------------------------------------------------


def _turned(match: Match) -> str | None:
    shape = match.node("requant").outputs[0].shape
    if not s.turns_matrix(match):
        return f"it is {list(match.node('turn').attrs['perm'])}"
    return None if s.rows_of(tuple(shape[:-1])) == 1 else f"there are {shape[0]} matrices"


TURNED = Constraint("permutation", "the result, one matrix, is turned", _turned)


def _turned_pad(match: Match) -> str | None:
    columns = int(match.output.shape[-1])
    if not match.has("pad"):
        return None if columns % BLOCK == 0 else f"there are {columns} columns"
    before, behind, value = s.padding(match)
    if before == (-1,) or any(before) or any(behind[:-1]) or value:
        return "other places or values are filled"
    if columns % BLOCK or not 0 <= behind[-1] < BLOCK:
        return f"{columns - behind[-1]} columns become {columns}"
    return None


TURNED_PAD = Constraint(
    "columns", f"columns are a multiple of {BLOCK}, if need be filled up with zeros to the next one", _turned_pad
)


# ---- attention -------------------------------------------------------------------------------------------------


def heads_of(match: Match) -> int:
    """Heads of an attention."""
    return int(match.node("attention").attrs["heads"])


def _attention_shapes(match: Match) -> str | None:
    (rows, width), (keys, k_width), (v_width, columns) = (match.shape(name)[-2:] for name in ("q", "k", "vt"))
    heads = heads_of(match)
    if len({width, k_width, v_width}) > 1:
        return f"widths are {width}, {k_width} and {v_width}"
    if width % heads or (width // heads) % BLOCK:
        return f"{heads} heads have {width} columns"
    if columns != -(-keys // BLOCK) * BLOCK:
        return f"there are {keys} keys and {columns} columns of values"
    return None if rows else "there are no rows"


HEADS = Constraint(
    "heads",
    f"each head of q, k and v has a multiple of {BLOCK} columns, and values are filled up to whole blocks of keys",
    _attention_shapes,
)


def _tiles(match: Match) -> str | None:
    tiles = match.shape("vt")[-1] // BLOCK
    width = match.shape("q")[-1] // heads_of(match) // BLOCK
    worst = max(tiles, width)
    return None if worst <= TILES_MAX else f"there are {worst * BLOCK}"


TILES = Constraint("tiles", f"keys and columns of a head are at most {TILES_MAX * BLOCK}", _tiles)


def softmax_of(match: Match) -> tuple[int, int]:
    """Shift and numerator of an attention's softmax."""
    return int(match.node("attention").attrs["shift"]), s.number(match, "numerator")


def _softmax(match: Match) -> str | None:
    group = int(match.node("attention").attrs.get("group", _FIGURES["softmax_group"]))
    if group != _FIGURES["softmax_group"]:
        return f"it takes {group} columns at once"
    known = {(figures["softmax_shift"], figures["softmax_numerator"]) for figures in map(values, PRESETS)}
    shift, numerator = softmax_of(match)
    return None if (shift, numerator) in known else f"shift is {shift}, numerator {numerator}"


SOFTMAX = Constraint(
    "softmax", "shift, numerator and groups of 16 columns of the softmax are those of a preset", _softmax
)


def _attention_requant(match: Match) -> str | None:
    for step in ("qk", "av"):
        found = s.requant_of(match, f"{step}_")
        if isinstance(found, str):
            return f"{step}: {found}"
    return None


ATTENTION_REQUANT = Constraint(
    "requantisation", f"of logits and results: {PRODUCT_REQUANT.description}", _attention_requant
)


def is_masked(match: Match) -> bool:
    """Whether the last block of keys is short."""
    return match.shape("k")[-2] % BLOCK != 0


def _mask(match: Match) -> str | None:
    found = s.requant_of(match, "qk_")
    if not is_masked(match) or isinstance(found, str):
        return None
    largest = (match.shape("q")[-1] // heads_of(match)) * _BYTE * _BYTE + MASK
    half = (1 << found.shift) >> 1
    logit = ((found.multiplier * largest + half) >> found.shift) + found.add
    return None if logit <= -_BYTE else f"a logit can be {min(logit, _BYTE - 1)}"


#: What lies behind the last key is unknown: the lowest bias must outweigh it, and make the logit -128 as in the graph.
MASKED = Constraint("mask", "with the lowest bias, the logit of a column beyond the keys is -128 for any key", _mask)


def _attention_sums(match: Match) -> str | None:
    logits = match.shape("q")[-1] // heads_of(match) * _BYTE * _BYTE + (-MASK if is_masked(match) else 0)
    results = match.shape("vt")[-1] * _PROBABILITY * _BYTE
    reach = max(logits, results)
    return None if reach < _ACCUMULATOR else f"a sum can reach {reach}"


ATTENTION_ACCUMULATOR = Constraint("accumulator", ACCUMULATOR.description, _attention_sums)


# ---- products of activations -----------------------------------------------------------------------------------


def _matmul_shapes(match: Match) -> str | None:
    a, b = match.shape("a"), match.shape("b")
    if not s.turns_matrix(match) or a[:-2] != b[:-2]:
        return f"shapes are {a} and {b}, turned by {list(match.node('turn').attrs['perm'])}"
    return _odd({"columns in a sum": a[-1], "output columns": b[-2]})


MATMUL_BLOCKS = Constraint(
    "blocks",
    f"batches are equal, sums and output columns are multiples of {BLOCK}, and the second input is turned",
    _matmul_shapes,
)
