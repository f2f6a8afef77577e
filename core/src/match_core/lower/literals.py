"""Many numbers as C literals at once.

Models have millions of constants, so text is made as a table of bytes: a row for each number, a column for each
character position of its literal, zero in unused positions. The text consists of the rows without their zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Values = NDArray[np.generic]

#: Numbers per table; a row has some 30 bytes.
_AT_ONCE = 1 << 16
_INDENT = b"    "
#: Values of one byte; their literals are made once and copied.
_BYTES = 256
_DIGITS = {1: 3, 2: 5, 4: 10, 8: 20}
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


@dataclass(frozen=True, slots=True)
class _Binary:
    """A format of IEEE 754: the unsigned integer type of its bits, bits of fraction and exponent, hexadecimal digits of
    a fraction, the exponent of 1, and the suffix of a C literal."""

    holder: type[np.unsignedinteger[Any]]
    fraction_bits: int
    exponent_bits: int
    digits: int
    bias: int
    suffix: bytes


_FORMATS = {4: _Binary(np.uint32, 23, 8, 6, 127, b"f"), 8: _Binary(np.uint64, 52, 11, 13, 1023, b"")}


def initialiser(values: Values, per_line: int) -> str:
    """The lines between the braces of an array's definition: ``per_line`` literals each, indented, with commas.
    ``values``: bool, integers, float32 or float64 in one dimension. Floats are hexadecimal, so that they are exact."""
    step = _AT_ONCE // per_line * per_line
    return "".join(_text(values[start : start + step], per_line) for start in range(0, len(values), step))


def _text(values: Values, per_line: int) -> str:
    cells = _cells(values)
    missing = np.zeros((-len(cells) % per_line, cells.shape[1]), np.uint8)
    cells[per_line - 1 :: per_line, -1] = cells[-1, -1] = ord("\n")
    lines = np.concatenate([cells, missing]).reshape(-1, per_line * cells.shape[1])
    indents = np.broadcast_to(np.frombuffer(_INDENT, np.uint8), (len(lines), len(_INDENT)))
    return np.concatenate([indents, lines], axis=1).tobytes().translate(None, b"\0").decode("ascii")


def _cells(values: Values) -> Bytes:
    """The rows of the numbers, with commas."""
    if values.dtype.itemsize == 1 and len(values) > _BYTES:
        return _cells(np.arange(_BYTES, dtype=np.uint8).view(values.dtype))[values.view(np.uint8)]
    commas = np.broadcast_to(np.frombuffer(b", ", np.uint8), (len(values), 2))
    return np.concatenate([*_columns(values), commas], axis=1)


def _columns(values: Values) -> Iterator[Bytes]:
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f":
        yield from _hexadecimal(values, _FORMATS[size])
    elif kind in "bu":
        yield from _decimal(values, {1: b"", 2: b"", 4: b"u", 8: b"ull"}[size])
    else:
        yield from _decimal(values, b"ll" if size == 8 else b"")


def _decimal(values: Values, suffix: bytes) -> Iterator[Bytes]:
    """The smallest value of a signed type has no literal of its own; its name in stdint.h is used."""
    size = values.dtype.itemsize
    count = _DIGITS[size]
    negative = np.less(values, 0)
    magnitude = values.astype(np.uint64)  # of negative values modulo 2^64
    magnitude = np.where(negative, np.uint64(0) - magnitude, magnitude)
    powers = np.array([10**place for place in reversed(range(count))], np.uint64)
    digits = (magnitude[:, None] // powers % np.uint64(10)).astype(np.uint8)
    shown = np.logical_or.accumulate(digits != 0, axis=1)
    shown[:, -1] = True
    plain = np.ones((len(values), 1), bool)
    if values.dtype.kind == "i" and size >= 4:
        name = f"INT{8 * size}_MIN".encode()
        plain[:, 0] = values != -(2 ** (8 * size - 1))
        yield _where(~plain, name)
    yield _where(negative[:, None] & plain, b"-")
    yield np.where(shown & plain, digits + np.uint8(ord("0")), np.uint8(0))
    yield _where(plain, suffix)


def _hexadecimal(values: Values, form: _Binary) -> Iterator[Bytes]:
    """``-0x1.8p+1``: sign, binary fraction without trailing zeros, power of two."""
    bits = values.view(form.holder)
    exponent = (bits >> form.holder(form.fraction_bits)).astype(np.int64) & (1 << form.exponent_bits) - 1
    fraction = bits & form.holder((1 << form.fraction_bits) - 1)
    if np.any(exponent == (1 << form.exponent_bits) - 1):
        yield from _with_names(values, form)
        return
    digits = np.empty((len(values), form.digits), np.uint8)
    spare = 4 * form.digits - form.fraction_bits  # bits that make the last digit whole
    for place in range(form.digits):
        shift = 4 * (form.digits - 1 - place)
        moved = fraction >> form.holder(shift - spare) if shift >= spare else fraction << form.holder(spare - shift)
        digits[:, place] = moved & form.holder(15)
    shown = np.logical_or.accumulate((digits != 0)[:, ::-1], axis=1)[:, ::-1]
    whole = (exponent != 0)[:, None]
    yield _where(np.signbit(values)[:, None], b"-")
    yield np.where(whole, *(np.frombuffer(text, np.uint8) for text in (b"0x1", b"0x0")))
    yield _where(shown[:, :1], b".")
    yield np.where(shown, _HEX[digits], np.uint8(0))
    power = np.where(exponent != 0, exponent - form.bias, np.where(fraction != 0, 1 - form.bias, 0))
    yield _powers(form)[power + form.bias]
    yield _where(np.ones_like(whole), form.suffix)


def _powers(form: _Binary) -> Bytes:
    """Rows of ``p+1`` for the powers of two from -bias on."""
    powers = np.arange(-form.bias, form.bias + 1)
    signs = np.where((powers < 0)[:, None], *(np.frombuffer(text, np.uint8) for text in (b"p-", b"p+")))
    return np.concatenate([signs, *_decimal(np.abs(powers).astype(np.uint16), b"")], axis=1)


def _with_names(values: Values, form: _Binary) -> Iterator[Bytes]:
    """The same if some values are infinite or NaN, for which math.h has names."""
    numbers = np.where(np.isfinite(values), values, values.dtype.type(0))
    finite, nan = np.isfinite(values)[:, None], np.isnan(values)[:, None]
    yield from (np.where(finite, part, np.uint8(0)) for part in _hexadecimal(numbers, form))
    yield _where(~finite & ~nan & np.signbit(values)[:, None], b"-")
    yield _where(~finite & ~nan, b"INFINITY")
    yield _where(nan, b"NAN")


def _where(rows: NDArray[np.bool_], text: bytes) -> Bytes:
    """The text in the rows whose flag is set, nothing in the others."""
    return np.where(rows, np.frombuffer(text, np.uint8), np.uint8(0))
