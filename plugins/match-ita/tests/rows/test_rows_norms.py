"""Normalisation of rows against the definitions in the core's functions, in Python integers."""

from __future__ import annotations

import ctypes
from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_ita.snitch_rows import interfaces
from match_ita.snitch_rows.kernels import norm_table
from numpy.typing import NDArray

from tests.examples import examples

from .rows_library import run

CASES = settings(max_examples=examples(60), deadline=None)
SEEDS = st.integers(0, 2**32)


def layer_norm_requant(row: list[int], multiplier: list[int], addend: list[int], shift: int, epsilon: int) -> list[int]:
    """LayerNormRequant of one row."""
    n, total = len(row), sum(row)
    t = [n * x - total for x in row]
    v = sum(value * value for value in t) + epsilon
    k = sum(v < 1 << (52 - 2 * number) for number in range(26)) - 1
    inverse = ((1 << 56) - 1) // isqrt(v << (2 * k))
    u = [((value << (k + 5)) * inverse) >> 32 for value in t]
    results = [(((value * m) >> 32) + b) >> shift for value, m, b in zip(u, multiplier, addend, strict=True)]
    return [max(-128, min(127, result)) for result in results]


def rows_of(random: np.random.Generator, kind: Any, r: int, c: int) -> NDArray[np.generic]:
    """Rows of several spreads, a flat one and one with both ends among them."""
    ends = np.iinfo(kind)
    middle = int(random.integers(ends.min, ends.max + 1))
    spread = int(random.choice([0, 1, 3, 20, 255]))
    x = np.clip(middle + random.integers(-spread, spread + 1, (r, c)), ends.min, ends.max).astype(kind)
    x[-1, 0], x[-1, -1] = ends.min, ends.max
    return x


@CASES
@given(
    seed=SEEDS,
    r=st.integers(1, 19),
    c=st.integers(2, 90),
    kind=st.sampled_from([np.int8, np.uint8]),
    epsilon=st.sampled_from([1, 2, 12345, 2**33 + 5, 2**51 - 1]),
)
def test_layer_normalisation(library: ctypes.CDLL, seed: int, r: int, c: int, kind: Any, epsilon: int) -> None:
    random = np.random.default_rng(seed)
    x = rows_of(random, kind, r, c)
    multiplier = random.integers(-(2**30), 2**30, c)
    addend, shift = random.integers(-(2**29), 2**29, c), 22
    arrays = {
        "input": x,
        "parameters": np.stack([multiplier, addend], 1).astype(np.int32),
        "table": norm_table(c, np.iinfo(kind).min),
        "output": np.zeros((r, c), np.int8),
    }
    low = int(np.uint32(epsilon & 0xFFFFFFFF).astype(np.int32))
    numbers = {"r": r, "c": c, "epsilon_low": low, "epsilon_high": epsilon >> 32, "shift": shift}
    numbers |= {"low": -128, "high": 127, "flip": 128 if kind == np.int8 else 0}
    result = run(library, interfaces.LAYERNORM, arrays, numbers)
    expected = [layer_norm_requant(row, multiplier.tolist(), addend.tolist(), shift, epsilon) for row in x.tolist()]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("c", [4093, 4096])
def test_longest_rows(library: ctypes.CDLL, c: int) -> None:
    random = np.random.default_rng(c)
    x = np.where(random.integers(0, 2, (3, c)) == 1, 127, -128).astype(np.int8)
    x[1], x[2] = 127, random.integers(-128, 128, c)
    multiplier, addend = np.full(c, 2**31 - 1), np.full(c, -(2**20))
    arrays = {
        "input": x,
        "parameters": np.stack([multiplier, addend], 1).astype(np.int32),
        "table": norm_table(c, -128),
        "output": np.zeros((3, c), np.int8),
    }
    numbers = {"r": 3, "c": c, "epsilon_low": 77, "shift": 18, "low": -128, "high": 127, "flip": 128}
    result = run(library, interfaces.LAYERNORM, arrays, numbers)
    expected = [layer_norm_requant(row, multiplier.tolist(), addend.tolist(), 18, 77) for row in x.tolist()]
    np.testing.assert_array_equal(result, expected)


def truncated(a: int, b: int) -> int:
    return abs(a) // b if a >= 0 else -(abs(a) // b)


def integer_norm(row: list[int], weight: list[int], bias: list[int], shift: int, centred: bool) -> list[int]:
    """LayerNormI8 of one row; RmsNormI8 where it is not centred."""
    mean = truncated(sum(row), len(row)) if centred else 0
    t = [x - mean for x in row]
    s = isqrt(sum(value * value for value in t) // len(row) + 1)
    results = [(truncated(x * w, s) + b) >> shift for x, w, b in zip(t, weight, bias, strict=True)]
    return [max(-128, min(127, result)) for result in results]


@CASES
@given(
    seed=SEEDS,
    r=st.integers(1, 19),
    c=st.integers(1, 90),
    kind=st.sampled_from([np.int8, np.uint8]),
    centred=st.booleans(),
    bits=st.integers(4, 23),
)
def test_integer_normalisation(
    library: ctypes.CDLL, seed: int, r: int, c: int, kind: Any, centred: bool, bits: int
) -> None:
    random = np.random.default_rng(seed)
    x = rows_of(random, kind, r, c)
    weight = random.integers(-(2**bits) + 1, 2**bits, c)
    bias = random.integers(-(2**20), 2**20, c) if centred else np.zeros(c, np.int64)
    shift = int(random.integers(0, 15))
    arrays = {
        "input": x,
        "parameters": np.stack([weight, bias], 1).astype(np.int32),
        "output": np.zeros((r, c), np.int8),
    }
    numbers = {"r": r, "c": c, "centred": int(centred), "shift": shift, "low": -128, "high": 127}
    result = run(library, interfaces.INTEGER_NORM, arrays, {**numbers, "flip": 128 if kind == np.int8 else 0})
    expected = [integer_norm(row, weight.tolist(), bias.tolist(), shift, centred) for row in x.tolist()]
    np.testing.assert_array_equal(result, expected)
