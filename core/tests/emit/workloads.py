"""Random workloads with operands and results, for the kernels of the fake unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from match_core.contract.unit_api import KernelInterface
from match_core.contract.workload import Axis, Dim, Operand, Workload
from numpy.typing import NDArray

from core.tests.emit.interfaces import ADD, CONV2D

_WINDOW = (("input", "y"), ("input", "x"))
#: Sums that several calls add up in the output.
SUM2D = KernelInterface(
    "sum2d",
    (("input", "input"), ("weight", "constant"), ("addend", "constant"), ("output", "output")),
    ("K", "C", "OY", "OX", "FY", "FX"),
    _WINDOW,
    ("stride_y", "stride_x"),
    accumulates=True,
)
#: A tensor of five axes, its axes exchanged.
PERMUTE = KernelInterface("permute", (("input", "input"), ("output", "output")), ("A", "B", "C", "D", "E"))
#: A dense layer with weights of 4 bits in groups.
PACKED = KernelInterface("packed", (("input", "input"), ("weight", "constant"), ("output", "output")), ("N", "K", "C"))
INTERFACES = {interface.kind: interface for interface in (ADD, CONV2D, PACKED, PERMUTE, SUM2D)}


@dataclass(frozen=True)
class Problem:
    """A workload, its operands as they lie in far memory, and the expected output."""

    workload: Workload
    operands: dict[str, NDArray[np.generic]]
    expected: NDArray[np.generic]


@dataclass(frozen=True)
class Window:
    """Geometry of a convolution: input ``size``, ``kernel``, ``stride``, ``before`` and ``after`` (padding)."""

    size: int
    kernel: int
    stride: int
    before: int
    after: int

    @property
    def steps(self) -> int:
        return (self.size + self.before + self.after - self.kernel) // self.stride + 1

    def axis(self, name: str) -> Axis:
        return Axis(name, self.size, ((f"O{name.upper()}", self.stride), (f"F{name.upper()}", 1)), self.before)


def any_window(random: np.random.Generator) -> Window:
    kernel, stride = int(random.integers(1, 4)), int(random.integers(1, 4))
    before, after = int(random.integers(0, kernel)), int(random.integers(0, kernel))
    return Window(int(random.integers(kernel + 2, 14)), kernel, stride, before, after)


def _sums(x: NDArray[np.uint8], w: NDArray[np.int8], wy: Window, wx: Window, pad: int) -> NDArray[np.int64]:
    padded = np.pad(x, ((wy.before, wy.after), (wx.before, wx.after), (0, 0)), constant_values=pad).astype(np.int64)
    result = np.zeros((wy.steps, wx.steps, len(w)), np.int64)
    for y in range(wy.steps):
        for q in range(wx.steps):
            part = padded[y * wy.stride : y * wy.stride + wy.kernel, q * wx.stride : q * wx.stride + wx.kernel]
            result[y, q] = (w.astype(np.int64) * part).sum(axis=(1, 2, 3))
    return result


def conv2d(random: np.random.Generator) -> Problem:
    """A convolution with requantisation, of random sizes."""
    k, c = (int(size) for size in random.integers(1, (9, 6)))
    return conv2d_of(random, k, c, any_window(random), any_window(random))


def conv2d_of(random: np.random.Generator, k: int, c: int, wy: Window, wx: Window) -> Problem:
    """A convolution with requantisation."""
    pad = int(random.integers(0, 256))
    x = random.integers(0, 256, (wy.size, wx.size, c)).astype(np.uint8)
    w = random.integers(-128, 128, (k, wy.kernel, wx.kernel, c)).astype(np.int8)
    m = random.integers(1, 500, k).astype(np.int32)
    a = random.integers(-(2**20), 2**20, k).astype(np.int32)
    expected = np.clip((_sums(x, w, wy, wx, pad) * m + a) >> 16, 0, 255).astype(np.uint8)
    per_k = Axis("k", k, (("K", 1),))
    workload = Workload(
        kind="conv2d",
        dims=(
            Dim("K", k),
            Dim("C", c, tileable=False),
            Dim("OY", wy.steps),
            Dim("OX", wx.steps),
            Dim("FY", wy.kernel, tileable=False),
            Dim("FX", wx.kernel, tileable=False),
        ),
        operands=(
            Operand("input", "input", (wy.axis("y"), wx.axis("x"), Axis("c", c, (("C", 1),)))),
            Operand("weight", "constant", (per_k, Axis("tap", wy.kernel * wx.kernel * c))),
            Operand("multiplier", "constant", (per_k,), 32),
            Operand("addend", "constant", (per_k,), 32),
            _output(wy, wx, per_k, 8),
        ),
        macs=k * c * wy.steps * wx.steps * wy.kernel * wx.kernel,
        geometry=(
            ("stride_y", wy.stride),
            ("stride_x", wx.stride),
            ("shift", 16),
            ("pad_value", pad),
            ("weight_bits", 8),
        ),
    )
    return Problem(workload, {"input": x, "weight": w, "multiplier": m, "addend": a}, expected)


def _output(wy: Window, wx: Window, per_k: Axis, bits: int) -> Operand:
    axes = (Axis("y", wy.steps, (("OY", 1),)), Axis("x", wx.steps, (("OX", 1),)), per_k)
    return Operand("output", "output", axes, bits)


def sum2d(random: np.random.Generator) -> Problem:
    """A convolution whose sums may be cut in every dimension, of random sizes."""
    k, c = (int(size) for size in random.integers(1, (7, 9)))
    return sum2d_of(random, k, c, any_window(random), any_window(random))


def sum2d_of(random: np.random.Generator, k: int, c: int, wy: Window, wx: Window) -> Problem:
    """A convolution whose sums may be cut in every dimension."""
    x = random.integers(0, 256, (wy.size, wx.size, c)).astype(np.uint8)
    w = random.integers(-128, 128, (k, wy.kernel, wx.kernel, c)).astype(np.int8)
    a = random.integers(-(2**20), 2**20, k).astype(np.int32)
    expected = (_sums(x, w, wy, wx, 0) + a).astype(np.int32) ^ np.int32(0x5A5A5A5A)
    per_k = Axis("k", k, (("K", 1),))
    taps = (Axis("fy", wy.kernel, (("FY", 1),)), Axis("fx", wx.kernel, (("FX", 1),)), Axis("c", c, (("C", 1),)))
    sizes = (k, c, wy.steps, wx.steps, wy.kernel, wx.kernel)
    workload = Workload(
        kind="sum2d",
        dims=tuple(Dim(name, size) for name, size in zip(SUM2D.dims, sizes, strict=True)),
        operands=(
            Operand("input", "input", (wy.axis("y"), wx.axis("x"), Axis("c", c, (("C", 1),)))),
            Operand("weight", "constant", (per_k, *taps)),
            Operand("addend", "constant", (per_k,), 32),
            _output(wy, wx, per_k, 32),
        ),
        macs=int(np.prod(sizes)),
        geometry=(("stride_y", wy.stride), ("stride_x", wx.stride)),
        accumulates=True,
    )
    return Problem(workload, {"input": x, "weight": w, "addend": a}, expected)


def add(random: np.random.Generator) -> Problem:
    """An element-wise sum."""
    shape = tuple(int(size) for size in random.integers(1, 12, 3))
    a, b = (random.integers(0, 256, shape).astype(np.uint8) for _ in range(2))
    expected = np.clip((a.astype(np.int64) * 300 + b.astype(np.int64) * 700 - 9000) >> 10, 0, 255).astype(np.uint8)
    axes = tuple(Axis(name.lower(), size, ((name, 1),)) for name, size in zip("YXC", shape, strict=True))
    workload = Workload(
        kind="add",
        dims=tuple(Dim(name, size) for name, size in zip("YXC", shape, strict=True)),
        operands=(
            Operand("input_a", "input", axes),
            Operand("input_b", "input", axes),
            Operand("output", "output", axes),
        ),
        macs=0,
        geometry=(("multiplier_a", 300), ("multiplier_b", 700), ("addend", -9000), ("shift", 10)),
    )
    return Problem(workload, {"input_a": a, "input_b": b}, expected)


def permute(random: np.random.Generator) -> Problem:
    """A tensor of five axes, of random sizes."""
    return permute_of(random, tuple(int(size) for size in random.integers(1, 6, 5)))


def permute_of(random: np.random.Generator, shape: tuple[int, ...]) -> Problem:
    """A tensor of five axes, so that copies have up to five levels."""
    x = random.integers(0, 256, shape).astype(np.uint8)
    axes = {name: Axis(name.lower(), size, ((name, 1),)) for name, size in zip("ABCDE", shape, strict=True)}
    workload = Workload(
        kind="permute",
        dims=tuple(Dim(name, size) for name, size in zip("ABCDE", shape, strict=True)),
        operands=(
            Operand("input", "input", tuple(axes[name] for name in "ABCDE")),
            Operand("output", "output", tuple(axes[name] for name in "BACED")),
        ),
        macs=0,
    )
    return Problem(workload, {"input": x}, x.transpose(1, 0, 2, 4, 3) ^ np.uint8(0x3C))


def permute_home(random: np.random.Generator) -> Problem:
    """The same, with tensors whose axes lie in another order at home than in buffers, but for the innermost."""
    problem = permute(random)
    source, result = problem.workload.operands
    source, x = _lies_otherwise(random, source, problem.operands["input"])
    result, expected = _lies_otherwise(random, result, problem.expected)
    return Problem(replace(problem.workload, operands=(source, result)), {"input": x}, expected)


def _lies_otherwise(
    random: np.random.Generator, operand: Operand, values: NDArray[np.generic]
) -> tuple[Operand, NDArray[np.generic]]:
    order = [*(int(number) for number in random.permutation(len(operand.axes) - 1)), len(operand.axes) - 1]
    strides, stride = [0] * len(order), 1
    for number in reversed(order):
        strides[number], stride = stride, stride * operand.axes[number].size
    axes = tuple(replace(axis, stride=step) for axis, step in zip(operand.axes, strides, strict=True))
    return replace(operand, axes=axes), np.ascontiguousarray(values.transpose(order))


def packed(random: np.random.Generator) -> Problem:
    """A dense layer with weights of 4 bits: rows in groups of 8 inputs, outputs in groups of 4."""
    n, k, c = int(random.integers(1, 6)), int(random.integers(1, 19)), int(random.integers(1, 20))
    x = random.integers(0, 256, (n, c)).astype(np.uint8)
    w = np.zeros((-(-k // 4) * 4, -(-c // 8) * 8), np.uint8)
    w[:k, :c] = random.integers(0, 16, (k, c))
    expected = (x.astype(np.int64) @ w[:k, :c].T.astype(np.int64)).astype(np.uint8)
    workload = Workload(
        kind="packed",
        dims=(Dim("N", n), Dim("K", k, granularity=4), Dim("C", c, tileable=False)),
        operands=(
            Operand("input", "input", (Axis("n", n, (("N", 1),)), Axis("c", c, (("C", 1),)))),
            Operand(
                "weight",
                "constant",
                (Axis("k", k, (("K", 1),), round_up=4), Axis("c", c, (("C", 1),), round_up=8)),
                4,
            ),
            Operand("output", "output", (Axis("n", n, (("N", 1),)), Axis("k", k, (("K", 1),)))),
        ),
        macs=n * k * c,
    )
    return Problem(workload, {"input": x, "weight": (w[:, ::2] | (w[:, 1::2] << 4)).astype(np.uint8)}, expected)


MAKERS: dict[str, Callable[[np.random.Generator], Problem]] = {
    make.__name__: make for make in (add, conv2d, packed, permute, permute_home, sum2d)
}
