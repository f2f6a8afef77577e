"""Kernels of single values and of sums on random tiles, against integer arithmetic in numpy: the same bytes, and the
cycles that the cost model says."""

from __future__ import annotations

import ctypes

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from match_ita.snitch_rows import interfaces
from numpy.typing import NDArray

from tests.examples import examples

from .rows_library import run

Ints = NDArray[np.int64]

CASES = settings(max_examples=examples(40), deadline=None)
SEEDS = st.integers(0, 2**32)
ROWS, COLUMNS = st.integers(1, 9), st.integers(1, 70)
KINDS = st.sampled_from([np.int8, np.uint8])


def values(random: np.random.Generator, kind: type[np.generic], *shape: int) -> NDArray[np.generic]:
    """Random bytes with both ends of the type among them."""
    ends = np.iinfo(kind)  # type: ignore[type-var]
    found = random.integers(ends.min, ends.max + 1, shape).astype(kind)
    found.reshape(-1)[0], found.reshape(-1)[-1] = ends.min, ends.max
    return found


def clipped(sums: Ints, shift: int, low: int = -128, high: int = 127) -> Ints:
    return np.clip(sums >> shift, low, high)


def halves(number: int) -> tuple[int, int]:
    return int(np.uint32(number & 0xFFFFFFFF).astype(np.int32)), number >> 32


def flip_of(kind: type[np.generic]) -> int:
    return 128 if kind == np.int8 else 0


def blank(*shape: int) -> NDArray[np.int8]:
    return np.full(shape, 99, np.int8)


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS, kind_b=KINDS)
def test_sums_in_32_bits(library: ctypes.CDLL, seed: int, r: int, c: int, kind_b: type[np.generic]) -> None:
    random = np.random.default_rng(seed)
    a, b = values(random, np.int8, r, c), values(random, kind_b, r, c)
    first, second = (int(m) for m in random.integers(-(2**20), 2**20, 2))
    addend, shift = int(random.integers(-(2**28), 2**28)), int(random.integers(0, 24))
    numbers = {"multiplier_a": first, "multiplier_b": second, "addend_low": addend, "addend_high": addend >> 32}
    numbers |= {"shift": shift, "low": -100, "high": 90, "wide": 0, "flip_a": 128, "flip_b": flip_of(kind_b)}
    table = (np.arange(-128, 128) * first + addend).astype(np.int32)
    arrays = {"input_a": a, "input_b": b, "table": table, "output": blank(r, c)}
    result = run(library, interfaces.ADD, arrays, {"r": r, "c": c, **numbers})
    sums = a.astype(np.int64) * first + b.astype(np.int64) * second + addend
    np.testing.assert_array_equal(result, clipped(sums, shift, -100, 90))


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS, kind_a=KINDS, kind_b=KINDS)
def test_sums_in_64_bits(
    library: ctypes.CDLL, seed: int, r: int, c: int, kind_a: type[np.generic], kind_b: type[np.generic]
) -> None:
    random = np.random.default_rng(seed)
    a, b = values(random, kind_a, r, c), values(random, kind_b, r, c)
    first, second = (int(m) for m in random.integers(-(2**31), 2**31, 2))
    addend, shift = int(random.integers(-(2**40), 2**40)), int(random.integers(0, 10))
    flips = flip_of(kind_a), flip_of(kind_b)
    low, high = halves(addend - flips[0] * first - flips[1] * second)
    numbers = {"multiplier_a": first, "multiplier_b": second, "addend_low": low, "addend_high": high, "shift": shift}
    numbers |= {"low": -128, "high": 127, "wide": 1, "flip_a": flips[0], "flip_b": flips[1]}
    arrays = {"input_a": a, "input_b": b, "table": np.zeros(1, np.int32), "output": blank(r, c)}
    result = run(library, interfaces.ADD, arrays, {"r": r, "c": c, **numbers})
    sums = a.astype(np.int64) * first + b.astype(np.int64) * second + addend
    np.testing.assert_array_equal(result, clipped(sums, shift + 32))


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS, kind=KINDS, wide=st.booleans())
def test_requantisation_per_channel(
    library: ctypes.CDLL, seed: int, r: int, c: int, kind: type[np.generic], wide: bool
) -> None:
    random = np.random.default_rng(seed)
    x = values(random, kind, r, c)
    bits = 31 if wide else 20
    multiplier = random.integers(-(2**bits), 2**bits, c)
    addend = random.integers(-(2**40), 2**40, c) if wide else random.integers(-(2**29), 2**29, c)
    shift = int(random.integers(0, 8)) if wide else int(random.integers(8, 24))
    low = (addend & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    columns = (multiplier, low, addend >> 32) if wide else (multiplier, addend)
    parameters = np.stack(columns, axis=1).astype(np.int32)
    numbers = {"r": r, "c": c, "shift": shift, "low": -128, "high": 127, "wide": int(wide), "flip": flip_of(kind)}
    arrays = {"input": x, "parameters": parameters, "output": blank(r, c)}
    result = run(library, interfaces.REQUANT, arrays, numbers)
    sums = x.astype(np.int64) * multiplier + addend
    np.testing.assert_array_equal(result, clipped(sums, shift + (32 if wide else 0)))


def parameters_of(random: np.random.Generator, channels: int, steps: int) -> NDArray[np.int32]:
    """Multiplier and addend of each step: results of which some are clipped."""
    multiplier = random.integers(-(2**17), 2**17, (steps, channels))
    addend = random.integers(-(2**22), 2**22, (steps, channels))
    return np.stack([column for pair in zip(multiplier, addend, strict=True) for column in pair], 1).astype(np.int32)


def with_bounds(parameters: NDArray[np.int32], shift: int) -> NDArray[np.int32]:
    """One step's parameters, and bounds that stand for clipping its input to int8."""
    multiplier, addend = parameters.astype(np.int64).T
    ends = [clipped(x * multiplier + addend, shift) for x in (-128, 127)]
    return np.stack([multiplier, addend, np.minimum(*ends), np.maximum(*ends)], 1).astype(np.int32)


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS, with_sum=st.booleans(), twice=st.booleans())
def test_fused_steps(library: ctypes.CDLL, seed: int, r: int, c: int, with_sum: bool, twice: bool) -> None:
    random = np.random.default_rng(seed)
    a, b = values(random, np.int8, r, c), values(random, np.int8, r, c)
    parameters = parameters_of(random, c, 1 + int(twice))
    numbers = {"r": r, "c": c, "shift": 16}
    arrays = {"parameters": parameters, "output": blank(r, c)}
    if with_sum and not twice:
        arrays["parameters"] = with_bounds(parameters, 16)
    else:
        numbers |= {"low": -128, "high": 127}
    expected = a.astype(np.int64)
    if with_sum:
        arrays |= {"input_a": a, "input_b": b, "table": (np.arange(-128, 128) * 147 + 638).astype(np.int32)}
        numbers |= {"multiplier_b": 221, "sum_shift": 8}
        expected = clipped(expected * 147 + b.astype(np.int64) * 221 + 638, 8)
    else:
        arrays["input"] = a
    for step in range(1 + int(twice)):
        expected = clipped(expected * parameters[:, 2 * step] + parameters[:, 2 * step + 1], 16)
    numbers |= {"second_shift": 16} if twice else {}
    interface = {
        (False, True): interfaces.REQUANT_TWICE,
        (True, False): interfaces.ADD_REQUANT,
        (True, True): interfaces.ADD_REQUANT_TWICE,
        (False, False): interfaces.REQUANT,
    }[with_sum, twice]
    numbers |= {"wide": 0, "flip": 128} if interface is interfaces.REQUANT else {}
    np.testing.assert_array_equal(run(library, interface, arrays, numbers), expected)


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS)
def test_addends_of_elements(library: ctypes.CDLL, seed: int, r: int, c: int) -> None:
    random = np.random.default_rng(seed)
    x, addend = values(random, np.int8, r, c), random.integers(-(2**28), 2**28, (r, c)).astype(np.int32)
    numbers = {"r": r, "c": c, "multiplier": -(2**20) - 7, "shift": 21, "low": -128, "high": 127}
    arrays = {"input": x, "addend": addend, "output": blank(r, c)}
    expected = clipped(x.astype(np.int64) * numbers["multiplier"] + addend, 21)
    np.testing.assert_array_equal(run(library, interfaces.OFFSET_EACH, arrays, numbers), expected)


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS)
def test_tables(library: ctypes.CDLL, seed: int, r: int, c: int) -> None:
    random = np.random.default_rng(seed)
    x, table = values(random, np.uint8, r, c), random.permutation(256).astype(np.uint8)
    arrays = {"input": x, "table": table, "output": np.zeros((r, c), np.uint8)}
    np.testing.assert_array_equal(run(library, interfaces.LUT, arrays, {"r": r, "c": c}), table[x])


@CASES
@given(seed=SEEDS, o=st.integers(1, 3), n=st.integers(1, 7), s=st.integers(1, 5), c=COLUMNS)
def test_sums_along_an_axis(library: ctypes.CDLL, seed: int, o: int, n: int, s: int, c: int) -> None:
    random = np.random.default_rng(seed)
    x = values(random, np.int8, o, n, s, c)
    multiplier, addend = int(random.integers(-(2**15), 2**15)), int(random.integers(-(2**25), 2**25))
    numbers = {"o": o, "n": n, "s": s, "c": c, "multiplier": multiplier, "addend": addend, "shift": 17}
    numbers |= {"low": -128, "high": 127}
    result = run(library, interfaces.SUM, {"input": x, "output": blank(o, s, c)}, numbers)
    np.testing.assert_array_equal(result, clipped(x.astype(np.int64).sum(1) * multiplier + addend, 17))


@CASES
@given(seed=SEEDS, r=ROWS, c=COLUMNS)
def test_sums_of_three(library: ctypes.CDLL, seed: int, r: int, c: int) -> None:
    random = np.random.default_rng(seed)
    parts = {f"input_{name}": values(random, np.int8, r, c) for name in "abc"}
    numbers = {"r": r, "c": c, "multiplier": 9001, "addend": -(2**14) + 5, "shift": 14, "low": -128, "high": 127}
    result = run(library, interfaces.SUM_THREE, {**parts, "output": blank(r, c)}, numbers)
    total = sum(part.astype(np.int64) for part in parts.values())
    np.testing.assert_array_equal(result, clipped(np.asarray(total * 9001 - 2**14 + 5), 14))


@CASES
@given(seed=SEEDS, n=st.integers(1, 7), s=st.integers(1, 5), c=COLUMNS)
def test_sums_along_an_axis_and_another_tensor(library: ctypes.CDLL, seed: int, n: int, s: int, c: int) -> None:
    random = np.random.default_rng(seed)
    x, b = values(random, np.int8, n, s, c), values(random, np.int8, s, c)
    numbers = {"n": n, "s": s, "c": c, "multiplier": 9000, "addend": -(2**14), "shift": 15, "low": -128, "high": 127}
    second = {"multiplier_a": 200, "multiplier_b": -55, "add_addend": 128, "add_shift": 8}
    arrays = {"input": x, "input_b": b, "output": blank(s, c)}
    result = run(library, interfaces.SUM_ADD, arrays, {**numbers, **second})
    total = clipped(x.astype(np.int64).sum(0) * 9000 - 2**14, 15)
    np.testing.assert_array_equal(result, clipped(total * 200 + b.astype(np.int64) * -55 + 128, 8))
