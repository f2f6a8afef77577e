"""``match_half.h`` against numpy's float16 (conversions, all of them) and exact fractions (products and sums)."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from match_host.headers.half import HALF_HEADER, half_header
from numpy.typing import NDArray

Halves = NDArray[np.uint16]
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
ALL = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
#: Zeros, subnormal and normal limits, ones, largest, infinities, no numbers; then the same below zero.
EDGES = np.array([0, 1, 2, 0x3FF, 0x400, 0x401, 0x3BFF, 0x3C00, 0x3C01, 0x7BFE, 0x7BFF, 0x7C00, 0x7C01, 0x7E00])
MAPS = """
#include "match_half.h"
#include <stddef.h>
#define MAP1(name, from, to, call) \\
    void name(const from *a, to *out, size_t count) { for (size_t i = 0; i < count; i++) out[i] = call(a[i]); }
#define MAP2(name, call) void name(const match_half_t *a, const match_half_t *b, match_half_t *out, size_t count) \\
    { for (size_t i = 0; i < count; i++) out[i] = call(a[i], b[i]); }
MAP1(to_float, match_half_t, float, match_half_to_float)
MAP1(from_float, float, match_half_t, match_half_from_float)
MAP1(from_double, double, match_half_t, match_half_from_double)
MAP1(to_nearest, double, double, match_half_nearest)
MAP2(add, match_half_add)
MAP2(mul, match_half_mul)
MAP2(largest, match_half_max)
void fused(const match_half_t *a, const match_half_t *b, const match_half_t *c, match_half_t *out, size_t count)
{ for (size_t i = 0; i < count; i++) out[i] = match_half_fma(a[i], b[i], c[i]); }
"""
Map = Callable[..., NDArray[np.generic]]


@pytest.fixture(scope="module", params=["-O2", "-O1 -fsanitize=undefined -fno-sanitize-recover=all"])
def half(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Map:
    """Calls a function of the header on arrays: ``half("add", type of the result, a, b)``."""
    folder: Path = tmp_path_factory.mktemp("half")
    (folder / HALF_HEADER).write_text(half_header().text)
    (folder / "maps.c").write_text(MAPS)
    flags = [*STRICT, *request.param.split(), "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "maps.c", "-o", "maps.so"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "maps.so"))

    def call(name: str, result: type[np.generic], *arrays: NDArray[np.generic]) -> NDArray[np.generic]:
        given = [np.ascontiguousarray(array) for array in arrays]
        out = np.empty(given[0].shape, result)
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in (*given, out)]
        getattr(library, name)(*addresses, ctypes.c_size_t(out.size))
        return out

    return call


def same(got: NDArray[np.generic], expected: NDArray[np.float16]) -> None:
    """Equal bits, and the one quiet pattern where the expected value is not a number."""
    bits = np.where(np.isnan(expected), np.uint16(0x7E00), expected.view(np.uint16))
    different = np.flatnonzero(got != bits)
    assert not different.size, [(hex(int(got[i])), hex(int(bits[i]))) for i in different[:5]]


def test_every_half_becomes_its_float(half: Map) -> None:
    got = half("to_float", np.float32, ALL)
    expected = ALL.view(np.float16).astype(np.float32)
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(expected))


def neighbours() -> NDArray[np.float32]:
    """Every half, every middle between two halves, and the floats next to both, of both signs."""
    positive = ALL[:0x7C00].view(np.float16).astype(np.float64)
    points = np.concatenate([positive, (positive[1:] + positive[:-1]) / 2, [65520.0]]).astype(np.float32)
    near = np.concatenate([points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-1))])
    special = np.array([np.inf, np.nan, 1e-45, 1e-38, 65504, 65536, 3e38], np.float32)
    both = np.concatenate([near, special])
    return np.concatenate([both, -both])


def test_floats_round_to_even(half: Map) -> None:
    generator = np.random.default_rng(1)
    drawn = generator.integers(0, 1 << 32, 1 << 20, dtype=np.uint64).astype(np.uint32).view(np.float32)
    values = np.concatenate([neighbours(), drawn])
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(np.float16)
    same(half("from_float", np.uint16, values), expected)


def test_doubles_round_once(half: Map) -> None:
    generator = np.random.default_rng(2)
    near = neighbours().astype(np.float64)
    drawn = generator.standard_normal(1 << 18) * np.exp2(generator.integers(-30, 20, 1 << 18))
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), drawn])
        expected = values.astype(np.float16)
    same(half("from_double", np.uint16, values), expected)
    nearest = half("to_nearest", np.float64, values)
    assert np.array_equal(nearest, expected.astype(np.float64), equal_nan=True)
    number = ~np.isnan(values)
    assert np.array_equal(np.signbit(nearest[number]), np.signbit(values[number]))


def triples() -> tuple[Halves, Halves, Halves]:
    """All triples of edges; random bits; products that nearly cancel the addend; addends far from the product."""
    edges = np.concatenate([EDGES, EDGES | 0x8000]).astype(np.uint16)
    a, b, c = (grid.reshape(-1) for grid in np.meshgrid(edges, edges, edges))
    generator = np.random.default_rng(3)
    drawn = generator.integers(0, 1 << 16, (3, 60000)).astype(np.uint16)
    with np.errstate(all="ignore"):
        opposite = -(drawn[0].view(np.float16) * drawn[1].view(np.float16))
        moved = opposite.view(np.uint16) + generator.integers(-1, 2, opposite.size).astype(np.uint16)
    first = np.concatenate([a, drawn[0], drawn[0]])
    return first, np.concatenate([b, drawn[1], drawn[1]]), np.concatenate([c, drawn[2], moved.astype(np.uint16)])


def rounded(value: Fraction) -> float:
    """A fraction that is not 0 to binary16, ties to even."""
    size, exponent = abs(value), -14
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    place = Fraction(2) ** (exponent - 10)
    units = round(size / place)  # ties to even
    nearest = float(units * place)
    return (nearest if nearest <= 65504 else float("inf")) * (1 if value > 0 else -1)


def exact_fma(a: NDArray[np.float16], b: NDArray[np.float16], c: NDArray[np.float16]) -> NDArray[np.float16]:
    """By fractions where all are finite and the result is not 0; IEEE's rules of the rest are those of double."""
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    result = np.empty(a.shape, np.float16)
    for i, value in enumerate(wide.tolist()):
        if value - value == 0 and value != 0:
            value = rounded(Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i])))
        result[i] = value
    return result


@pytest.fixture(scope="module")
def exact_sums() -> np.ndarray:
    """Of the triples, made once: Python's fractions take seconds."""
    a, b, c = (values.view(np.float16) for values in triples())
    return exact_fma(a, b, c)


def test_fused_multiply_add_rounds_the_exact_result(half: Map, exact_sums: np.ndarray) -> None:
    same(half("fused", np.uint16, *triples()), exact_sums)


def test_sums_and_products(half: Map) -> None:
    a, b, _ = triples()
    with np.errstate(all="ignore"):
        same(half("add", np.uint16, a, b), a.view(np.float16) + b.view(np.float16))
        same(half("mul", np.uint16, a, b), a.view(np.float16) * b.view(np.float16))


def test_maximum_prefers_numbers_and_positive_zero(half: Map) -> None:
    a, b, _ = triples()
    first, second = a.view(np.float16), b.view(np.float16)
    expected = np.fmax(first, second)
    zeros = (first == 0) & (second == 0)
    expected[zeros] = np.where(np.signbit(first[zeros]) & np.signbit(second[zeros]), -0.0, 0.0)
    same(half("largest", np.uint16, a, b), expected)
