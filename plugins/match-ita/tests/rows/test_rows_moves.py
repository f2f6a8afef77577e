"""Kernels that move bytes, on random tiles."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from match_ita.snitch_rows import interfaces
from numpy.typing import NDArray

from tests.examples import examples

from .rows_library import run

CASES = settings(max_examples=examples(40), deadline=None)
SEEDS = st.integers(0, 2**32)
SMALL, SIZE = st.integers(1, 3), st.integers(1, 40)


def bytes_of(seed: int, *shape: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def blank(*shape: int) -> NDArray[np.uint8]:
    return np.full(shape, 77, np.uint8)


@CASES
@given(seed=SEEDS, outer=st.tuples(SMALL, SMALL, SMALL, SMALL), c=SIZE, flip=st.sampled_from([0, 0x80]))
def test_copies(library: ctypes.CDLL, seed: int, outer: tuple[int, ...], c: int, flip: int) -> None:
    x = bytes_of(seed, *outer, c)
    numbers = dict(zip("opabc", x.shape, strict=True)) | {"flip": flip * 0x01010101 - (2**32 if flip else 0)}
    result = run(library, interfaces.COPY, {"input": x, "output": blank(*x.shape)}, numbers)
    np.testing.assert_array_equal(result, x ^ np.uint8(flip))


@CASES
@given(seed=SEEDS, p=SMALL, a=SMALL, r=SIZE, c=SIZE)
def test_turned_matrices(library: ctypes.CDLL, seed: int, p: int, a: int, r: int, c: int) -> None:
    x = bytes_of(seed, p, a, r, c)
    numbers = {"p": p, "a": a, "r": r, "c": c}
    result = run(library, interfaces.TRANSPOSE, {"input": x, "output": blank(p, a, c, r)}, numbers)
    np.testing.assert_array_equal(result, x.transpose(0, 1, 3, 2))


@CASES
@given(seed=SEEDS, n=SIZE, v=SIZE, c=SIZE)
def test_rows_by_index(library: ctypes.CDLL, seed: int, n: int, v: int, c: int) -> None:
    x, index = bytes_of(seed, v, c), np.random.default_rng(seed).integers(0, v, n).astype(np.int32)
    arrays = {"input": x, "index": index, "output": blank(n, c)}
    np.testing.assert_array_equal(run(library, interfaces.GATHER, arrays, {"n": n, "v": v, "c": c}), x[index])


@CASES
@given(
    seed=SEEDS,
    t=st.integers(1, 20),
    k=st.integers(1, 4),
    c=SIZE,
    stride=st.integers(1, 3),
    dilation=st.integers(1, 2),
    pads=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_windows(
    library: ctypes.CDLL, seed: int, t: int, k: int, c: int, stride: int, dilation: int, pads: Any
) -> None:
    whole = (t - 1) * stride + (k - 1) * dilation + 1
    before, after = min(pads[0], whole - 1), 0
    after = min(pads[1], whole - 1 - before)
    x = bytes_of(seed, whole - before - after, c)
    numbers = {"t": t, "k": k, "c": c, "stride": stride, "dilation": dilation, "pad_value": -5}
    numbers |= {"input_v": len(x), "input_v_pad_before": before, "input_v_pad_after": after}
    result = run(library, interfaces.WINDOWS, {"input": x, "output": blank(t, k, c)}, numbers)
    padded = np.pad(x, ((before, after), (0, 0)), constant_values=251)
    rows = np.arange(t)[:, None] * stride + np.arange(k) * dilation
    np.testing.assert_array_equal(result, padded[rows])


@CASES
@given(seed=SEEDS, o=SIZE, size=SIZE, i=st.integers(1, 9), pads=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_padding(library: ctypes.CDLL, seed: int, o: int, size: int, i: int, pads: Any) -> None:
    x, (before, after) = bytes_of(seed, o, size, i), pads
    numbers = {"o": o, "i": i, "before": before, "size": size, "after": after, "pad_value": -128}
    result = run(library, interfaces.PAD, {"input": x, "output": blank(o, before + size + after, i)}, numbers)
    np.testing.assert_array_equal(result, np.pad(x, ((0, 0), pads, (0, 0)), constant_values=128))


@CASES
@given(seed=SEEDS, o=SIZE, i=st.integers(1, 9), sizes=st.lists(st.integers(1, 40), min_size=2, max_size=3))
def test_joined_tensors(library: ctypes.CDLL, seed: int, o: int, i: int, sizes: list[int]) -> None:
    parts = {f"input_{name}": bytes_of(seed + n, o, n, i) for name, n in zip("abc", sizes, strict=False)}
    numbers = {"o": o, "i": i} | {f"size_{name}": n for name, n in zip("abc", sizes, strict=False)}
    interface = interfaces.CONCAT if len(sizes) == 2 else interfaces.CONCAT_THREE
    result = run(library, interface, {**parts, "output": blank(o, sum(sizes), i)}, numbers)
    np.testing.assert_array_equal(result, np.concatenate(list(parts.values()), 1))
