"""The 8-bit kernels in C on random tiles, against integer arithmetic in numpy: the same bytes."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_carfield.int8 import interfaces
from match_carfield.int8.workloads import row_bytes
from match_core import KernelInterface
from numpy.typing import NDArray

from tests.c_objects import link_cached
from tests.examples import examples

from .half_library import PACKAGE, RUNTIME, STRICT, context, write_headers

Bytes = NDArray[np.uint8]
SOURCES = tuple(RUNTIME / f"match_carfield_int8_{name}.c" for name in ("conv", "window", "elements"))
#: Cores one after the other, the last one first.
PROBE = """#include "match_carfield_pulp.h"
uint32_t test_core = 0u;
void match_carfield_pulp_team(void (*entry)(void *), const void *tile)
{
    for (test_core = 8u; test_core-- > 0u;) { entry((void *)(uintptr_t)tile); }
    test_core = 0u;
}
"""
CASES = settings(max_examples=examples(40), deadline=None)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("int8")
    write_headers(folder)
    (folder / "probe.c").write_text(PROBE)
    checks = ("-fsanitize=undefined", "-fno-sanitize-recover=undefined")
    output = folder / "kernels.so"
    places = (folder, PACKAGE / "twin/include", RUNTIME)
    link_cached(output, (*STRICT, *checks, "-O1", "-fPIC", "-shared"), (*SOURCES, folder / "probe.c"), places)
    return ctypes.CDLL(str(output))


def run(library: ctypes.CDLL, interface: KernelInterface, fields: dict[str, Any]) -> None:
    getattr(library, f"match_carfield_pulp_{interface.kind}")(ctypes.byref(context(interface, fields)))


def requantised(sums: NDArray[np.int64], multiplier: object, addend: object, geometry: dict[str, int]) -> Bytes:
    value = (sums * np.asarray(multiplier, np.int64) + np.asarray(addend, np.int64)) >> geometry["shift"]
    return np.clip(value, geometry["low"], geometry["high"]).astype(np.uint8)


class Layer:
    """Random parameters of one layer."""

    def __init__(self, seed: int, channels: int, signed: bool = False) -> None:
        self.kind = np.int8 if signed else np.uint8
        self.random = np.random.default_rng(seed)
        self.multiplier = self.random.integers(-(2**31), 2**31, channels).astype(np.int32)
        self.addend = self.random.integers(-(2**46), 2**46, channels)
        limits = np.iinfo(self.kind)
        low = int(self.random.integers(limits.min, limits.min + 100))
        self.bounds = {
            "shift": int(self.random.integers(30, 45)),
            "low": low,
            "high": int(self.random.integers(low, limits.max + 1)),
        }

    @property
    def sign(self) -> dict[str, int]:
        return {"input_signed": int(self.kind is np.int8)}

    def values(self, stored: Bytes) -> NDArray[np.int64]:
        return stored.view(self.kind).astype(np.int64)

    def bytes(self, *shape: int) -> Bytes:
        return self.random.integers(0, 256, shape).astype(np.uint8)

    def weights(self, *shape: int) -> NDArray[np.int8]:
        return self.random.integers(-128, 128, shape).astype(np.int8)


def windows(
    image: Bytes, pads: tuple[int, int], out: tuple[int, int], kernel: tuple[int, int], steps: Any, value: int
) -> Bytes:
    """[oy][ox][fy][fx][c] of an image, padding filled in."""
    (stride, dilation), (height, width, channels) = steps, image.shape
    result = np.full((*out, *kernel, channels), value, np.uint8)
    for index in np.ndindex(*out, *kernel):
        y, x = (index[i] * stride[i] + index[2 + i] * dilation[i] - pads[i] for i in (0, 1))
        if 0 <= y < height and 0 <= x < width:
            result[index] = image[y, x]
    return result


@CASES
@given(
    seed=st.integers(0, 2**32),
    sizes=st.tuples(*[st.integers(1, 5)] * 2, *[st.integers(1, 3)] * 2),
    channels=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    steps=st.tuples(st.tuples(*[st.integers(1, 2)] * 2), st.tuples(*[st.integers(1, 2)] * 2)),
    pads=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    kind=st.sampled_from(["depthwise", "uint8", "int8"]),
)
def test_convolutions(
    library: ctypes.CDLL, seed: int, sizes: Any, channels: Any, steps: Any, pads: Any, kind: str
) -> None:
    depthwise = kind == "depthwise"
    (oy, ox, fy, fx), (k, c) = sizes, channels
    c = k if depthwise else c
    layer = Layer(seed, k, kind == "int8")
    reach = [(o - 1) * s + (f - 1) * d + 1 for o, f, s, d in zip((oy, ox), (fy, fx), *steps, strict=True)]
    image = layer.bytes(max(1, reach[0] - pads[0]), max(1, reach[1] - pads[1]), c)
    pad_value = int(layer.random.integers(0, 256))
    seen = layer.values(windows(image, pads, (oy, ox), (fy, fx), steps, pad_value))
    if depthwise:
        weight = layer.weights(k, fy, fx)
        sums, packed = np.einsum("yxabk,kab->yxk", seen, weight.astype(np.int64)), weight
    else:
        weight = layer.weights(k, fy, fx, c)
        sums = np.einsum("yxabc,kabc->yxk", seen, weight.astype(np.int64))
        flat = weight.reshape(k, -1)
        packed = np.pad(flat, ((0, 0), (0, row_bytes(flat.shape[1]) - flat.shape[1])))
    output = np.zeros((oy, ox, k), np.uint8)
    scratch = np.full(16 * row_bytes(fy * fx * c), 0xAA, np.uint8)
    fields = {
        "input": image, "weight": packed, "multiplier": layer.multiplier, "addend": layer.addend, "output": output,
        "oy": oy, "ox": ox, "k": k, "fy": fy, "fx": fx, "input_y": image.shape[0], "input_y_pad_before": pads[0],
        "input_x": image.shape[1], "input_x_pad_before": pads[1], "stride_y": steps[0][0], "stride_x": steps[0][1],
        "dilation_y": steps[1][0], "dilation_x": steps[1][1], "pad_value": pad_value, **layer.bounds,
    }  # fmt: skip
    if depthwise:
        run(library, interfaces.INT8_DEPTHWISE2D, fields)
    else:
        run(library, interfaces.INT8_CONV2D, {**fields, "c": c, "scratch": scratch, **layer.sign})
    np.testing.assert_array_equal(output, requantised(sums, layer.multiplier, layer.addend, layer.bounds))


@CASES
@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 9), k=st.integers(1, 13), c=st.integers(1, 40), signed=st.booleans()
)
def test_dense_layers_read_inputs_where_they_are(
    library: ctypes.CDLL, seed: int, n: int, k: int, c: int, signed: bool
) -> None:
    layer = Layer(seed, k, signed)
    source, weight = layer.bytes(n, c), layer.weights(k, c)
    output, scratch = np.zeros((n, k), np.uint8), np.full(16 * row_bytes(c), 0xAA, np.uint8)
    packed = np.pad(weight, ((0, 0), (0, row_bytes(c) - c)))
    fields = {"input": source, "weight": packed, "multiplier": layer.multiplier, "addend": layer.addend}
    fields |= {"output": output, **({"scratch": scratch} if c % 4 else {})}
    run(library, interfaces.INT8_LINEAR, {**fields, "n": n, "k": k, "c": c, **layer.bounds, **layer.sign})
    sums = layer.values(source) @ weight.T.astype(np.int64)
    np.testing.assert_array_equal(output, requantised(sums, layer.multiplier, layer.addend, layer.bounds))


@CASES
@given(seed=st.integers(0, 2**32), shape=st.tuples(*[st.integers(1, 7)] * 3), signed=st.booleans())
def test_sums(library: ctypes.CDLL, seed: int, shape: tuple[int, int, int], signed: bool) -> None:
    layer = Layer(seed, 2, signed)
    a, b, output = layer.bytes(*shape), layer.bytes(*shape), np.zeros(shape, np.uint8)
    first, second = (int(m) for m in layer.multiplier)
    addend = int(layer.addend[0])
    geometry = {
        "multiplier_a": first,
        "multiplier_b": second,
        "addend_low": int(np.uint32(addend & 0xFFFFFFFF).astype(np.int32)),
        "addend_high": addend >> 32,
    }
    sizes = dict(zip("yxc", shape, strict=True))
    run(
        library,
        interfaces.INT8_ADD,
        {"input_a": a, "input_b": b, "output": output, **sizes, **geometry, **layer.bounds, **layer.sign},
    )
    expected = requantised(layer.values(b), second, addend + layer.values(a) * first, layer.bounds)
    np.testing.assert_array_equal(output, expected)


@CASES
@given(seed=st.integers(0, 2**32), average=st.booleans(), c=st.integers(1, 9), size=st.sampled_from([1, 2, 4]))
def test_pooling(library: ctypes.CDLL, seed: int, average: bool, c: int, size: int) -> None:
    layer = Layer(seed, 1)
    image, output = layer.bytes(2 * size, 3 * size, c), np.zeros((2, 3, c), np.uint8)
    fields = {
        "input": image, "output": output, "oy": 2, "ox": 3, "c": c, "fy": size, "fx": size, "input_y": 2 * size,
        "input_x": 3 * size, "stride_y": size, "stride_x": size, "average": int(average),
        "shift": (size * size).bit_length() - 1,
    }  # fmt: skip
    run(library, interfaces.INT8_POOL2D, fields)
    parts = image.reshape(2, size, 3, size, c)
    expected = np.rint(parts.mean((1, 3))) if average else parts.max((1, 3))
    np.testing.assert_array_equal(output, expected)


@CASES
@given(seed=st.integers(0, 2**32), r=st.integers(1, 20), c=st.integers(1, 20), flip=st.sampled_from([0, 0x80]))
def test_turned_matrices(library: ctypes.CDLL, seed: int, r: int, c: int, flip: int) -> None:
    layer = Layer(seed, 1)
    source, output = layer.bytes(r, c), np.zeros((c, r), np.uint8)
    run(library, interfaces.INT8_TRANSPOSE, {"input": source, "output": output, "r": r, "c": c, "flip": flip})
    np.testing.assert_array_equal(output, source.T ^ np.uint8(flip))
