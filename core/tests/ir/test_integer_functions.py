"""Integer softmax, normalisation, GELU, ...: the ONNX bodies equal the definitions in Python's integers."""

from __future__ import annotations

from math import isqrt

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.contract.model import Model
from match_core.ir.functions import ensure_functions
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

from tests.examples import examples

Ints = NDArray[np.int64]
SIGNED = st.integers(-128, 127)


def run(op: str, x: NDArray[np.generic], parameters: list[object], dtype: object, **attrs: object) -> list[int]:
    """One call of an operator of ``match.arith`` on ``x`` and int64 constants, as a flat list."""
    variable = gs.Variable("x", dtype=x.dtype, shape=list(x.shape))
    constants = [gs.Constant(f"c{i}", np.asarray(value, np.int64)) for i, value in enumerate(parameters)]
    y = gs.Variable("y", dtype=dtype, shape=list(x.shape))
    node = gs.Node(op, "n", attrs, [variable, *constants], [y], domain="match.arith")
    graph = gs.Graph([node], [variable], [y])
    ensure_functions(graph)
    result = ReferenceRunner(Model("m", graph)).run({"x": x})["y"]
    assert result.dtype == dtype
    return [int(value) for value in result.reshape(-1)]


def truncated(a: int, b: int) -> int:
    """Quotient towards zero, b > 0."""
    return a // b if a >= 0 else -(-a // b)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-5000, 5000), min_size=1, max_size=30), st.integers(1, 900))
def test_rounded_quotient(values: list[int], divisor: int) -> None:
    got = run("RoundedQuotient", np.array(values, np.int32), [divisor], np.int64)
    assert got == [(2 * v + divisor) // (2 * divisor) for v in values]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-300, 300), min_size=1, max_size=30), st.integers(-150, -1), st.integers(-9000, 9000))
def test_gelu(values: list[int], b: int, one: int) -> None:
    def gelu(x: int) -> int:
        inner = one - (min(abs(x), -b) + b) ** 2
        return x * ((one + ((x > 0) - (x < 0)) * inner) // 2)

    assert run("IntegerGelu", np.array(values, np.int32), [b, one], np.int64) == [gelu(x) for x in values]


def test_hardswish() -> None:
    x = np.arange(-128, 128).astype(np.int8)
    got = run("IntegerHardswish", x, [3, 40, 80], np.int64)
    assert got == [v * min(max(v + 40, 0), 80) * 3 for v in range(-128, 128)]


@settings(max_examples=20, deadline=None)
@given(st.lists(SIGNED, min_size=1, max_size=40))
def test_softmax_floor(values: list[int]) -> None:
    table = [max(1, 70_000 >> (d // 20)) for d in range(256)]
    got = run("SoftmaxFloorU8", np.array([values], np.int8), [table, 255], np.uint8)
    weights = [table[max(values) - v] for v in values]
    assert got == [255 * w // sum(weights) for w in weights]


def streamed(values: list[int], group: int, numerator: int) -> list[int]:
    """A softmax that sees a row group by group (with a shift by 5): a new maximum halves what was summed before."""

    def halvings(distance: int) -> int:
        return (distance >> 5) + (distance >> 4 & 1)

    top, total = -128, 0
    for start in range(0, len(values), group):
        part = values[start : start + group]
        new = max(top, *part)
        total = (total >> halvings(new - top) if start else 0) + sum(256 >> halvings(new - v) for v in part)
        top = new
    return [numerator // total >> halvings(top - v) for v in values]


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_shift_softmax_is_the_stream(groups: int, width: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(SIGNED, min_size=groups * width, max_size=groups * width))
    for numerator in (255 * 256, 127 * 256):
        got = run("ShiftSoftmaxU8", np.array([[values]], np.int8), [numerator], np.uint8, group=width)
        assert got == streamed(values, width, numerator)


def test_shift_softmax_of_a_slow_rise() -> None:
    """Every group raises the maximum a little: most shifts happen, none is lost in rounding."""
    values = [min(127, -128 + 16 * (i // 4)) for i in range(64)]
    got = run("ShiftSoftmaxU8", np.array([values], np.int8), [255 * 256], np.uint8, group=4)
    assert got == streamed(values, 4, 255 * 256)


@pytest.mark.parametrize("op", ["LayerNormI8", "RmsNormI8"])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), divisor=st.sampled_from([1, 77, 1 << 14]))
def test_normalisation(op: str, data: st.DataObject, divisor: int) -> None:
    size = data.draw(st.integers(1, 20))
    row = st.lists(st.integers(-600, 600), min_size=size, max_size=size)
    values, weight = data.draw(row), data.draw(st.lists(st.integers(0, 300_000), min_size=size, max_size=size))
    bias = data.draw(row) if op == "LayerNormI8" else [0] * size
    mean = truncated(sum(values), size) if op == "LayerNormI8" else 0
    root = isqrt(sum((v - mean) ** 2 for v in values) // size + 1)
    expected = [
        min(max((truncated((v - mean) * w, root) + b) // divisor, -128), 127)
        for v, w, b in zip(values, weight, bias, strict=True)
    ]
    parameters = [weight, bias] if op == "LayerNormI8" else [weight]
    assert run(op, np.array([values], np.int32), [*parameters, divisor, -128, 127], np.int8) == expected


def requantised_norm(row: list[int], m: list[int], b: list[int], divisor: int, epsilon: int) -> list[int]:
    """What a 32-bit core computes: every factor and result of a product fits 32 bits."""
    size, total = len(row), sum(row)
    v = size * (size * sum(x * x for x in row) - total * total) + epsilon
    k = 0
    while v < 1 << 50:
        v, k = 4 * v, k + 1
    inverse = ((1 << 56) - 1) // isqrt(v)
    result = []
    for x, scale, offset in zip(row, m, b, strict=True):
        t = (size * x - total) << (k + 5)
        u = t * inverse >> 32
        moved = (u * scale >> 32) + offset
        assert max(t, -1 - t, u, -1 - u, inverse, moved, -1 - moved) < 1 << 31
        result.append(min(max(moved // divisor, -128), 127))
    return result


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data(), unsigned=st.booleans(), shift=st.integers(0, 20), epsilon=st.integers(1, 1 << 51))
def test_layer_norm_with_requantisation(data: st.DataObject, unsigned: bool, shift: int, epsilon: int) -> None:
    size = data.draw(st.integers(2, 24))
    word = st.lists(st.integers(-(1 << 30), 1 << 30), min_size=size, max_size=size)
    values = data.draw(st.lists(SIGNED, min_size=size, max_size=size))
    m, b, epsilon = data.draw(word), data.draw(word), data.draw(st.sampled_from([1, epsilon]))
    x = np.array([values], np.int8) if not unsigned else (np.array([values]) + 128).astype(np.uint8)
    got = run("LayerNormRequantI8", x, [m, b, 1 << shift, epsilon, -128, 127], np.int8)
    assert got == requantised_norm([int(v) for v in x[0]], m, b, 1 << shift, epsilon)


def test_as_integer() -> None:
    assert run("AsInteger", np.array([-3.0, 0.0, 255.0], np.float32), [], np.int64) == [-3, 0, 255]
