"""Random NE16 layers: operands, expected outputs from numpy, and the driver command that runs them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from match_gap9.ne16.formulas import Ne16Quant
from match_gap9.ne16.weights import encode_weights, weight_offset

EXACT_PADDING, NO_RESOLVE = 1, 2


def wrap(value, bits=32):
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


@dataclass
class Layer:
    """A random layer: operands, geometry, formats."""

    kernel: int = 3
    depthwise: bool = False
    stride: int = 1
    in_y: int = 6
    in_x: int = 6
    k_in: int = 16
    k_out: int = 32
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    pad_value: int = 0
    masks: tuple[int, int, int, int] = (0, 0, 0, 0)
    weight_bits: int = 8
    out_bits: int = 8
    scale_bits: int = 32
    bias: bool = True
    channel_shift: bool = False
    shift: int = 12
    relu: bool = True
    flags: int = 0
    seed: int = 0
    offsets: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        self.x = rng.integers(0, 256, (self.in_y, self.in_x, self.k_in), dtype=np.uint8)
        low = weight_offset(self.weight_bits)
        shape = (self.k_out, 1 if self.depthwise else self.k_in, self.kernel, self.kernel)
        self.w = rng.integers(low, -low, shape).astype(np.int8)
        top = {0: 2, 8: 256, 16: 65536, 32: 4096}[self.scale_bits]
        scale_type = {0: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32}[self.scale_bits]
        self.scale = rng.integers(1, top, self.k_out).astype(scale_type)
        self.shifts = rng.integers(0, 32, self.k_out).astype(np.uint8)
        self.biases = rng.integers(-(1 << 24), 1 << 24, self.k_out).astype(np.int32)

    @property
    def out_shape(self):
        top, bottom, left, right = self.pads
        rows = (self.in_y + top + bottom - self.kernel) // self.stride + 1
        return rows, (self.in_x + left + right - self.kernel) // self.stride + 1, self.k_out

    def accumulators(self, below_value=None):
        """Sums; ``below_value``: what padding below and to the right counts as (the padding value by default)."""
        top, bottom, left, right = self.pads
        below = self.pad_value if below_value is None else below_value
        x = self.x.astype(np.int64)
        x = np.pad(x, ((0, bottom), (0, right), (0, 0)), constant_values=below)
        x = np.pad(x, ((top, 0), (left, 0), (0, 0)), constant_values=self.pad_value)
        # the bottom-left and top-right corners belong to both borders; below and right win where they are implicit
        x[top + self.in_y :, :left], x[:top, left + self.in_x :] = below, below
        w = self.w.astype(np.int64).copy()
        if self.kernel == 3:
            mask_top, mask_bottom, mask_left, mask_right = self.masks
            w[:, :, :mask_top] = 0
            w[:, :, 3 - mask_bottom :] = 0
            w[:, :, :, :mask_left] = 0
            w[:, :, :, 3 - mask_right :] = 0
        windows = np.lib.stride_tricks.sliding_window_view(x, (self.kernel, self.kernel), axis=(0, 1))
        windows = windows[:: self.stride, :: self.stride]
        if self.depthwise:
            return np.einsum("yxcij,cij->yxc", windows, w[:, 0])
        return np.einsum("yxcij,kcij->yxk", windows, w)

    def expected(self, below_value=None):
        acc = wrap(self.accumulators(below_value))
        if self.scale_bits == 0:
            return acc.astype(np.int32)
        shift = (self.shifts & 63) if self.channel_shift else self.shift
        if self.bias:
            value = wrap(wrap(acc * self.scale.astype(np.int64)) + self.biases) >> shift
        else:
            value = wrap(acc * self.scale.astype(np.int64), 48) >> shift
        if self.out_bits == 8:
            low, high = (0, 255) if self.relu else (-128, 127)
            return np.clip(value, low, high).astype(np.uint8 if self.relu else np.int8)
        if self.relu:
            return wrap(np.maximum(value, 0) & 0xFFFFFFFF).astype(np.int32)
        return np.clip(value, -(1 << 31), (1 << 31) - 1).astype(np.int32)

    def quant(self):
        return Ne16Quant(
            self.weight_bits, self.scale_bits, self.bias and self.scale_bits > 0,
            self.channel_shift and self.scale_bits > 0, self.out_bits,
        )  # fmt: skip

    def place(self, script):
        encoded = encode_weights(self.w, self.weight_bits, depthwise=self.depthwise)
        rows, columns, channels = self.out_shape
        size = rows * columns * channels * self.out_bits // 8
        self.offsets = {
            "x": script.place(self.x, 1), "w": script.place(encoded, 1), "out": script.reserve(size),
            "scale": script.place(self.scale), "shift": script.place(self.shifts), "bias": script.place(self.biases),
        }  # fmt: skip
        self.out_bytes = size

    def command(self):
        rows, columns, _ = self.out_shape
        o = self.offsets
        top, bottom, left, right = self.pads
        numbers = [
            self.kernel, int(self.depthwise), self.stride, self.weight_bits, self.out_bits, self.scale_bits,
            int(self.bias), int(self.channel_shift), self.shift, int(self.relu), weight_offset(self.weight_bits),
            o["x"], o["w"], o["out"], o["scale"], o["shift"], o["bias"],
            self.in_y, self.in_x, self.k_in, rows, columns, self.k_out,
            top, bottom, left, right, self.pad_value, *self.masks, self.flags,
        ]  # fmt: skip
        return "ne16 layer " + " ".join(map(str, numbers))


def run(driver, dumped, script, layers, prefix=()):
    """Runs the layers one by one and returns their outputs."""
    script.lines += [*prefix, "ne16 init"]
    for layer in layers:
        script.top = 0
        layer.place(script)
        script.add(layer.command())
        script.dump(layer.offsets["out"], layer.out_bytes)
    script.add("ne16 term")
    results = []
    for line, layer in zip(driver.run(script.text()), layers, strict=True):
        dtype = np.int32 if layer.out_bits == 32 else np.uint8 if layer.relu else np.int8
        results.append(dumped(line, dtype).reshape(layer.out_shape))
    return results


def random_layer(rng, **fixed):
    kernel = fixed.get("kernel", int(rng.choice([1, 3])))
    depthwise = fixed.get("depthwise", kernel == 3 and bool(rng.integers(0, 2)))
    k_out = int(rng.integers(1, 70))
    scale_bits = fixed.get("scale_bits", int(rng.choice([8, 16, 32])))
    pads = tuple(int(v) for v in rng.integers(0, 3, 4)) if kernel == 3 else (0, 0, 0, 0)
    sizes = {
        "kernel": kernel, "depthwise": depthwise, "k_out": k_out,
        "k_in": k_out if depthwise else int(rng.integers(1, 50)),
        "in_y": int(rng.integers(3, 11)), "in_x": int(rng.integers(3, 11)), "pads": pads, "scale_bits": scale_bits,
        "bias": bool(rng.integers(0, 2)), "channel_shift": bool(rng.integers(0, 2)), "relu": bool(rng.integers(0, 2)),
        "shift": int(rng.integers(0, 32)), "weight_bits": int(rng.integers(2, 9)),
        "seed": int(rng.integers(0, 1 << 30)),
    }  # fmt: skip
    layer = Layer(**{**sizes, **fixed})
    rows, columns, _ = layer.out_shape
    if layer.stride == 1 and layer.kernel == 3:
        # bottom and right padding of 2 must not reach the last but one subtile
        top, bottom, left, right = layer.pads
        bottom = min(bottom, 1) if rows > 3 else bottom
        right = min(right, 1) if columns > 3 else right
        layer.pads = (top, bottom, left, right)
    return layer


def stride2_layers(rng, count, **fixed):
    layers = []
    while len(layers) < count:
        layer = random_layer(rng, stride=2, **fixed)
        layer.pads = tuple(min(p, 1) for p in layer.pads)
        rows, columns, channels = layer.out_shape
        top = layer.pads[0]
        # the driver needs even output strides, and pads small inputs wrongly (see ne16_setters.c)
        small = layer.kernel == 3 and layer.in_y + top == 3 and layer.pads[1] == 1
        if channels * layer.out_bits // 8 % 2 == 0 and not small and rows > 0 and columns > 0:
            layers.append(layer)
    return layers
