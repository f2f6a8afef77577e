"""Dense layers, products of activations, attention, softmax, convolutions and pooling on random tensors against
integer arithmetic in numpy: the same bytes, and the cycles that the cost model says."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_ita import arithmetic
from numpy.typing import NDArray

from tests import ita_arithmetic

from .products_library import run_layer

Ints = NDArray[np.int64]
Bytes = NDArray[np.generic]

CASES = settings(max_examples=30, deadline=None)
SEEDS = st.integers(0, 2**32)
KINDS = st.sampled_from([np.int8, np.uint8])


@dataclass
class Layer:
    """A small graph, built node by node; the last node is its output."""

    nodes: list[gs.Node] = field(default_factory=list)
    inputs: list[gs.Variable] = field(default_factory=list)
    count: int = 0

    def input(self, values: Bytes) -> gs.Variable:
        self.inputs.append(gs.Variable(f"input{len(self.inputs)}", values.dtype, list(values.shape)))
        return self.inputs[-1]

    def constant(self, values: object, dtype: type[np.generic] = np.int64) -> gs.Constant:
        self.count += 1
        return gs.Constant(f"constant{self.count}", np.asarray(values, dtype))

    def node(self, op: str, inputs: list[gs.Tensor], shape: list[int], kind: type, **attributes: object) -> gs.Variable:
        domain, _, plain = op.rpartition("::")
        made = gs.Variable(f"value{len(self.nodes)}", kind, list(shape))
        node = gs.Node(plain, f"node{len(self.nodes)}", dict(attributes), inputs, [made], domain=domain or None)
        self.nodes.append(node)
        return made

    def requant(self, sums: gs.Variable, scale: Scale) -> gs.Variable:
        op = "match.arith::RequantU8" if scale.kind == np.uint8 else "match.arith::RequantI8"
        numbers = (scale.multiplier, scale.addend, 1 << scale.shift, scale.low, scale.high)
        return self.node(op, [sums, *map(self.constant, numbers)], sums.shape, scale.kind)

    @property
    def graph(self) -> gs.Graph:
        return gs.Graph(self.nodes, inputs=self.inputs, outputs=[self.nodes[-1].outputs[0]])


@dataclass
class Scale:
    """A requantisation: (sum * multiplier + addend) >> shift."""

    multiplier: Ints
    addend: Ints
    shift: int
    low: int = -128
    high: int = 127
    kind: type = np.int8

    def of(self, sums: Ints) -> Bytes:
        scaled = (sums * self.multiplier + self.addend) >> self.shift
        return np.clip(scaled, self.low, self.high).astype(self.kind)


def values(random: np.random.Generator, kind: type, *shape: int) -> Bytes:
    """Random bytes, with runs of both ends of the type among them."""
    ends = np.iinfo(kind)
    found = random.integers(ends.min, ends.max + 1, shape).astype(kind)
    extreme = random.random(shape) < random.choice([0.0, 0.5, 1.0])
    return np.where(extreme, random.choice([ends.min, ends.max]), found).astype(kind)


def scale(random: np.random.Generator, sums: Ints, shape: tuple[int, ...], wide: bool) -> Scale:
    """One whose results use all of the range: multipliers of up to 24 bits (wide) or few."""
    reach = max(1, int(np.abs(sums).max()))
    multiplier = random.integers(1 << 20, 1 << 24, shape) if wide else random.integers(1, 4, shape)
    shift = max(25 if wide else 0, int(np.log2(reach * float(multiplier.max()) / 128)))
    addend = random.integers(-(1 << shift) * 20, (1 << shift) * 20 + 1, shape)
    low, high, kind = ((-128, 127, np.int8), (0, 127, np.int8), (0, 255, np.uint8))[random.integers(3)]
    return Scale(np.asarray(multiplier, np.int64), np.asarray(addend, np.int64), shift, low, high, kind)


def exact(a: Bytes, b: Bytes) -> Ints:
    return np.matmul(a.astype(np.int64), b.astype(np.int64))


@CASES
@given(seed=SEEDS, n=st.integers(1, 70), k=st.integers(1, 40), c=st.integers(1, 150), kind=KINDS, wide=st.booleans())
def test_linear(library: ctypes.CDLL, seed: int, n: int, k: int, c: int, kind: type, wide: bool) -> None:
    random = np.random.default_rng(seed)
    x, w = values(random, kind, n, c), values(random, np.int8, c, k)
    sums = exact(x, w)
    by = scale(random, sums, (k,) if random.random() < 0.7 else (), wide)
    layer = Layer()
    product = layer.node("MatMulInteger", [layer.input(x), layer.constant(w, np.int8)], [n, k], np.int32)
    layer.requant(product, by)
    np.testing.assert_array_equal(run_layer(library, layer.graph, "linear", {"input": x}), by.of(sums))


@CASES
@given(seed=SEEDS, t=st.integers(1, 130), k=st.integers(1, 20), c=st.integers(1, 70), pad=st.booleans(), kind=KINDS)
def test_linear_turned(library: ctypes.CDLL, seed: int, t: int, k: int, c: int, pad: bool, kind: type) -> None:
    random = np.random.default_rng(seed)
    x, w = values(random, kind, 1, t, c), values(random, np.int8, c, k)
    sums = exact(x, w)
    by = scale(random, sums, (k,), wide=True)
    layer = Layer()
    product = layer.node("MatMulInteger", [layer.input(x), layer.constant(w, np.int8)], [1, t, k], np.int32)
    turned = layer.node("Transpose", [layer.requant(product, by)], [1, k, t], by.kind, perm=[0, 2, 1])
    columns = -(-t // 64) * 64 if pad else t
    if columns > t:
        layer.node("Pad", [turned, layer.constant([0, 0, 0, 0, 0, columns - t])], [1, k, columns], by.kind)
    expected = np.pad(by.of(sums).transpose(0, 2, 1), ((0, 0), (0, 0), (0, columns - t)))
    np.testing.assert_array_equal(run_layer(library, layer.graph, "linear_turned", {"input": x}), expected)


@CASES
@given(data=st.data(), seed=SEEDS, h=st.integers(1, 3), m=st.integers(1, 20), n=st.integers(1, 20))
def test_matmul(library: ctypes.CDLL, data: st.DataObject, seed: int, h: int, m: int, n: int) -> None:
    random = np.random.default_rng(seed)
    c, kind_a, kind_b = data.draw(st.integers(1, 80)), data.draw(KINDS), data.draw(KINDS)
    a, b = values(random, kind_a, 1, h, m, c), values(random, kind_b, 1, h, c, n)
    zeros = [int(random.choice([0, 128 if kind == np.uint8 else 0, 77])) for kind in (kind_a, kind_b)]
    sums = exact(a.astype(np.int64) - zeros[0], b.astype(np.int64) - zeros[1])
    by = scale(random, sums, data.draw(st.sampled_from([(), (1, h, 1, 1)])), data.draw(st.booleans()))
    perms = [data.draw(st.sampled_from(orders)) for orders in _ORDERS]
    layer = Layer()
    # At home the inputs lie as the permutations in front of the product need them.
    homes = [np.transpose(side, np.argsort(perm)).copy() for side, perm in zip((a, b), perms[:2], strict=True)]
    sides = [
        layer.node("Transpose", [layer.input(home)], list(side.shape), side.dtype, perm=list(perm))
        if perm != (0, 1, 2, 3)
        else layer.input(home)
        for home, side, perm in zip(homes, (a, b), perms[:2], strict=True)
    ]
    points = [layer.constant(zero, kind) for zero, kind in zip(zeros, (kind_a, kind_b), strict=True)]
    result = layer.requant(layer.node("MatMulInteger", [*sides, *points], [1, h, m, n], np.int32), by)
    expected = by.of(sums)
    if perms[2] != (0, 1, 2, 3):
        expected = expected.transpose(perms[2])
        layer.node("Transpose", [result], list(expected.shape), by.kind, perm=list(perms[2]))
    np.testing.assert_array_equal(
        run_layer(library, layer.graph, "matmul", dict(zip("ab", homes, strict=True))), expected
    )


_AS_IT_IS, _HEADS_INSIDE, _TURNED, _TURNED_HEADS = (0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2), (0, 2, 3, 1)
_ORDERS = (
    (_AS_IT_IS, _HEADS_INSIDE),
    (_AS_IT_IS, _HEADS_INSIDE, _TURNED, _TURNED_HEADS),
    (_AS_IT_IS, _HEADS_INSIDE),
)


@settings(max_examples=20, deadline=None)
@given(
    seed=SEEDS,
    heads=st.integers(1, 3),
    s=st.integers(1, 40),
    t=st.integers(1, 130),
    p=st.sampled_from([3, 16, 64]),
    shift=st.sampled_from([0, 5]),
)
def test_attention(library: ctypes.CDLL, seed: int, heads: int, s: int, t: int, p: int, shift: int) -> None:
    _check_attention(library, np.random.default_rng(seed), heads, s, t, p, shift)


def test_attention_of_241_rows(library: ctypes.CDLL) -> None:
    _check_attention(library, np.random.default_rng(3), 2, 241, 241, 64, 5)


@pytest.mark.parametrize("shift", [0, 5])
def test_attention_of_equal_logits(library: ctypes.CDLL, shift: int) -> None:
    """The sum of a flat row of 256 columns exceeds the numerator: all weights are 0."""
    zeros = np.zeros((4, 64), np.int8)
    _check_attention(library, np.random.default_rng(3), 1, 4, 256, 64, shift, q=zeros)


def _check_attention(
    library: ctypes.CDLL,
    random: np.random.Generator,
    heads: int,
    s: int,
    t: int,
    p: int,
    shift: int,
    q: Bytes | None = None,
) -> None:
    columns = -(-t // 64) * 64
    q = values(random, np.int8, s, heads * p) if q is None else q
    k, vt = values(random, np.int8, t, heads * p), values(random, np.int8, heads * p, columns)
    qk = arithmetic.RequantStep(int(random.integers(1, 256)), int(random.integers(8, 20)), int(random.integers(-5, 5)))
    av = arithmetic.RequantStep(int(random.integers(1, 256)), int(random.integers(8, 16)), int(random.integers(-5, 5)))
    numerator = int(random.choice([65280, 127 * 256]))
    layer = Layer()
    tensors = [layer.input(x) for x in (q, k, vt)]
    numbers = [
        *(layer.constant(v) for v in (qk.multiplier, _addend(qk), 1 << qk.shift, numerator)),
        *(layer.constant(v) for v in (av.multiplier, _addend(av), 1 << av.shift)),
    ]
    attributes = {"heads": heads, "shift": shift, "group": 16}
    layer.node("match.ita::Attention", [*tensors, *numbers], list(q.shape), np.int8, **attributes)
    expected = ita_arithmetic.attention(q, k, vt, qk, av, heads, shift, numerator)  # type: ignore[arg-type]
    found = run_layer(library, layer.graph, "attention", {"q": q, "k": k, "vt": vt})
    np.testing.assert_array_equal(found, expected)


def _addend(step: arithmetic.RequantStep) -> int:
    return ((1 << step.shift) >> 1) + (step.add << step.shift)


@CASES
@given(seed=SEEDS, r=st.integers(1, 20), c=st.integers(1, 300), kind=KINDS, floor=st.booleans())
def test_softmax(library: ctypes.CDLL, seed: int, r: int, c: int, kind: type, floor: bool) -> None:
    random = np.random.default_rng(seed)
    x = values(random, kind, r, c)
    table = np.rint(np.exp(-np.arange(256) * random.choice([0.001, 0.03, 0.2])) * 2.0**24).astype(np.int64)
    levels = int(random.choice([255, 256, 511]))
    wide = x.astype(np.int64)
    terms = table[wide.max(axis=1, keepdims=True) - wide]
    whole = terms.sum(axis=1, keepdims=True)
    layer = Layer()
    if floor:
        numbers, levels = [table, 255], 255
        expected = (terms * levels // whole).astype(np.uint8)
        layer.node("match.arith::SoftmaxFloorU8", [layer.input(x), *map(layer.constant, numbers)], [r, c], np.uint8)
    else:
        expected = np.clip((2 * terms * levels + whole) // (2 * whole) - 128, -128, 127).astype(np.int8)
        constants = list(map(layer.constant, (table, levels, -128, -128, 127)))
        layer.node("match.arith::SoftmaxI8", [layer.input(x), *constants], [r, c], np.int8, axis=1)
    found = run_layer(library, layer.graph, "softmax_floor" if floor else "softmax", {"input": x})
    np.testing.assert_array_equal(found, expected)


@CASES
@given(seed=SEEDS, r=st.integers(1, 20), groups=st.integers(1, 20), group=st.sampled_from([4, 16]))
def test_shift_softmax(library: ctypes.CDLL, seed: int, r: int, groups: int, group: int) -> None:
    random = np.random.default_rng(seed)
    x = values(random, np.int8, r, group * groups)
    layer = Layer()
    inputs = [layer.input(x), layer.constant(127 * 256)]
    layer.node("match.arith::ShiftSoftmaxU8", inputs, list(x.shape), np.uint8, group=group)
    expected = ita_arithmetic.itamax(x, 5, 127 * 256, group)  # type: ignore[arg-type]
    np.testing.assert_array_equal(run_layer(library, layer.graph, "shift_softmax", {"input": x}), expected)


@dataclass(frozen=True)
class Window:
    """Kernel, strides, dilations, padding before and behind, of y and x."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int, int, int]

    @property
    def attributes(self) -> dict[str, list[int]]:
        return {
            "kernel_shape": list(self.kernel),
            "strides": list(self.strides),
            "dilations": list(self.dilations),
            "pads": list(self.pads),
        }

    def patches(self, x: Ints, fill: int) -> Ints:
        """[C, FY, FX, OY, OX] of an image [C, H, W]."""
        top, left, bottom, right = self.pads
        padded = np.pad(x, ((0, 0), (top, bottom), (left, right)), constant_values=fill)
        spans = [d * (f - 1) + 1 for d, f in zip(self.dilations, self.kernel, strict=True)]
        sizes = [(n - span) // s + 1 for n, span, s in zip(padded.shape[1:], spans, self.strides, strict=True)]

        def under(tap: int, axis: int) -> slice:
            first = tap * self.dilations[axis]
            return slice(first, first + self.strides[axis] * (sizes[axis] - 1) + 1, self.strides[axis])

        taps = [[padded[:, under(fy, 0), under(fx, 1)] for fx in range(self.kernel[1])] for fy in range(self.kernel[0])]
        return np.moveaxis(np.array(taps), 2, 0)


_SMALL = st.integers(1, 2)
_PADS = st.integers(0, 1)
WINDOWS = st.builds(
    Window,
    st.tuples(st.integers(2, 3), st.integers(2, 3)),
    st.tuples(_SMALL, _SMALL),
    st.tuples(_SMALL, _SMALL),
    st.tuples(_PADS, _PADS, _PADS, _PADS),
)


@CASES
@given(seed=SEEDS, c=st.integers(1, 5), k=st.integers(1, 9), kind=KINDS, window=WINDOWS, apart=st.booleans())
def test_conv2d(library: ctypes.CDLL, seed: int, c: int, k: int, kind: type, window: Window, apart: bool) -> None:
    random = np.random.default_rng(seed)
    x = values(random, kind, 1, c, int(random.integers(6, 10)), int(random.integers(6, 10)))
    w = values(random, np.int8, k, c, *window.kernel)
    fill = 5 if apart else 0
    patches = window.patches(x[0].astype(np.int64), fill)
    sums = np.tensordot(w.astype(np.int64), patches, 3)[None]
    by = scale(random, sums, (1, k, 1, 1), wide=bool(random.integers(2)))
    layer = Layer()
    source, attributes = layer.input(x), window.attributes
    if apart:
        top, left, bottom, right = window.pads
        shape = [1, c, x.shape[2] + top + bottom, x.shape[3] + left + right]
        amounts = layer.constant([0, 0, top, left, 0, 0, bottom, right])
        source = layer.node("Pad", [source, amounts, layer.constant(fill, kind)], shape, kind)
        attributes = {**attributes, "pads": [0, 0, 0, 0]}
    constants = [layer.constant(w, np.int8)]
    product = layer.node("ConvInteger", [source, *constants], list(sums.shape), np.int32, group=1, **attributes)
    layer.requant(product, by)
    np.testing.assert_array_equal(run_layer(library, layer.graph, "conv2d", {"input": x}), by.of(sums))


@CASES
@given(seed=SEEDS, c=st.integers(1, 9), kind=KINDS, window=WINDOWS)
def test_maxpool2d(library: ctypes.CDLL, seed: int, c: int, kind: type, window: Window) -> None:
    random = np.random.default_rng(seed)
    x = values(random, kind, 1, c, int(random.integers(6, 10)), int(random.integers(6, 10)))
    patches = window.patches(x[0].astype(np.int64), np.iinfo(kind).min)
    expected = patches.max(axis=(1, 2)).astype(kind)[None]
    layer = Layer()
    layer.node("MaxPool", [layer.input(x)], list(expected.shape), kind, **window.attributes)
    np.testing.assert_array_equal(run_layer(library, layer.graph, "maxpool2d", {"input": x}), expected)
