"""Requantisation of sums in 32 or 64 bits: the cores' multipliers, addends and shifts.

The result is clip(floor((sum * M + B) / 2^S)). If no value reaches 2^31, 32-bit products suffice. Else both constants
are shifted to the left until the result is the upper word of the product, shifted right by the rest of S beyond 32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core import Match
from match_core.patterns.captures import is_type, largest, number, shift, sum_bounds, weight_rows
from numpy.typing import NDArray

from match_ita.snitch_products.structures import product_of, zero_point

Objects = NDArray[np.object_]

_INT32 = 2**31
#: One bit of int64 to spare, so that no sum of two terms overflows.
_LIMIT = 2**62
_SHIFT_MAX = 62
_WORD_BITS = 32
_BYTE = 128
_PROBABILITY = 255


@dataclass(frozen=True, slots=True)
class Scale:
    """The kernels' integers; ``wide``: the product has 64 bits and loses 32 + shift of them."""

    multiplier: NDArray[np.int32]
    addend: NDArray[np.int64]
    shift: int
    wide: bool


def scale(low: Objects, high: Objects, multiplier: Objects, addend: Objects, places: int) -> Scale | str:
    """For sums between ``low`` and ``high``, one number for each channel or for all; or what does not fit."""
    low, high, multiplier, addend = np.broadcast_arrays(low, high, multiplier, addend)
    reach, widest = largest(low, high), largest(multiplier)
    if reach >= _INT32:
        return f"a sum reaches {reach}"
    if widest >= _INT32:
        return f"a multiplier is {widest}"
    products = [bound * multiplier for bound in (low, high)]
    worst = largest(*products, *(product + addend for product in products), addend)
    if worst < _INT32 and places < _WORD_BITS:
        return Scale(multiplier.astype(np.int32), addend.astype(np.int64), places, wide=False)
    more = max(0, _WORD_BITS - places)
    if widest << more >= _INT32:
        return f"multiplier {widest} is too large for a shift by {places} only"
    if worst << more >= _LIMIT:
        return f"a product reaches {worst}"
    return Scale(
        (multiplier << more).astype(np.int32), (addend << more).astype(np.int64), places + more - _WORD_BITS, wide=True
    )


def divisor_of(match: Match, capture: str = "divisor") -> str | None:
    """The fault of a captured divisor; None if it is legal."""
    places = shift(match, capture)
    return None if number(match, capture) == 1 << places and places <= _SHIFT_MAX else f"it is {number(match, capture)}"


def weighted(match: Match) -> Scale | str:
    """Of a dense layer or a convolution: of unsigned inputs the kernels take 128 off, which the addends make good."""
    rows = weight_rows(match)
    multiplier, addend = (_channels(match, name, len(rows)) for name in ("multiplier", "addend"))
    if multiplier is None or addend is None:
        return "multipliers or addends are neither of the tensor nor of the channels"
    low, high = (bound.astype(object) for bound in sum_bounds(rows, -_BYTE, _BYTE - 1))
    if is_type(match, "input", "uint8"):
        addend = addend + multiplier * (_BYTE * rows.sum(1, dtype=np.int64)).astype(object)
    return scale(low, high, multiplier, addend, shift(match))


def _channels(match: Match, capture: str, channels: int) -> Objects | None:
    """A number for each channel of a captured constant, which has one for all, or one along the axis of channels."""
    values = match.const(capture)
    if values.size not in (1, channels) or (values.size > 1 and not _along_channels(match, values.shape)):
        return None
    spread: Objects = np.broadcast_to(values.astype(object).reshape(-1), (channels,))
    return spread


def _along_channels(match: Match, shape: tuple[int, ...]) -> bool:
    rank = len(match.node("requant").outputs[0].shape)
    axis = rank - 1 if match.has("dense") else 1
    place = axis - (rank - len(shape))
    return place >= 0 and all(size == 1 for other, size in enumerate(shape) if other != place)


def of_product(match: Match) -> Scale | str:
    """Of a product of two activations, one number for each head."""
    product, zero_a, zero_b = product_of(match), zero_point(match, 2), zero_point(match, 3)
    if product is None or zero_a is None or zero_b is None:
        return "its shape is not known"  # other rules say so
    multiplier, addend = (_heads(match, name, product.h) for name in ("multiplier", "addend"))
    if multiplier is None or addend is None:
        return "multipliers or addends are neither of the tensor nor of the heads"
    reach = np.array([product.c * _reach(match, "a", zero_a) * _reach(match, "b", zero_b)], dtype=object)
    return scale(-reach, reach, multiplier, addend, shift(match))


def _reach(match: Match, capture: str, zero: int) -> int:
    """The largest magnitude of a value, with or without its zero point taken off."""
    low, high = (0, 255) if is_type(match, capture, "uint8") else (-_BYTE, _BYTE - 1)
    return max(abs(end - off) for end in (low, high) for off in (zero, 0))


def _heads(match: Match, capture: str, heads: int) -> Objects | None:
    values = match.const(capture)
    by_head = values.ndim >= 3 and values.size == values.shape[-3]
    if values.size not in (1, heads) or (values.size > 1 and not by_head):
        return None
    spread: Objects = np.broadcast_to(values.astype(object).reshape(-1), (heads,))
    return spread


def of_attention(match: Match, step: str) -> Scale | str:
    """Of the logits ("qk") or the results ("av") of an attention."""
    multiplier, addend = (match.const(f"{step}_{name}").astype(object).reshape(-1) for name in ("multiplier", "addend"))
    if multiplier.size != 1 or addend.size != 1:
        return f"{step} has {multiplier.size} multipliers"
    heads = int(match.node("attention").attrs["heads"])
    width, columns = match.shape("q")[-1] // heads, match.shape("vt")[-1]
    largest = width * _BYTE * _BYTE if step == "qk" else columns * _PROBABILITY * _BYTE
    reach = np.array([largest], dtype=object)
    return scale(-reach, reach, multiplier, addend, shift(match, f"{step}_divisor"))
