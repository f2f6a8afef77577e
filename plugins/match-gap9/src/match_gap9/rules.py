"""The limits of GAP9's kernels as named constraints."""

from __future__ import annotations

import numpy as np
from match_core import Constraint, Match
from numpy.typing import NDArray

from match_gap9.structures import is_depthwise, is_pooling, pad_value, pads, shift, strides

_INT32 = 2**31


def _element_types(match: Match) -> str | None:
    names = [name for name in ("input", "input_a", "input_b") if match.has(name)]
    found = [np.dtype(match.tensor(name).dtype).name for name in names]
    return None if set(found) == {"uint8"} else f"input is {', '.join(found)}"


ACTIVATIONS = Constraint("activations", "activations are uint8", _element_types)

WEIGHTS = Constraint(
    "weights",
    "weights are int8",
    lambda m: None if m.const("weight").dtype == np.int8 else f"weights are {m.const('weight').dtype.name}",
)


def _saturation(match: Match) -> str | None:
    low, high = (int(match.const(name).reshape(-1)[0]) for name in ("low", "high"))
    return None if (low, high) == (0, 255) else f"it saturates at {low} and {high}"


SATURATION = Constraint("saturation", "the result saturates at 0 and 255", _saturation)


def _shift_range(match: Match) -> str | None:
    divisor = int(match.const("divisor").reshape(-1)[0])
    amount = shift(match)
    return None if divisor == 1 << amount and amount <= 31 else f"the divisor is {divisor}"


SHIFT = Constraint("shift", "the requantisation divides by 2**S with S of 0 to 31", _shift_range)


def _accumulator_bounds(match: Match) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest sum per output channel for uint8 inputs."""
    weight = match.const("weight").astype(np.int64)
    if match.has("dense"):
        weight = weight.T
    flat = weight.reshape(weight.shape[0], -1)
    return 255 * np.minimum(flat, 0).sum(1), 255 * np.maximum(flat, 0).sum(1)


def _int32_product(match: Match) -> str | None:
    low, high = _accumulator_bounds(match)
    multiplier = match.const("multiplier").astype(object).reshape(-1)
    addend = match.const("addend").astype(object).reshape(-1)
    worst = 0
    for bound in (low, high):
        product = bound.astype(object) * multiplier
        worst = max(worst, *(abs(int(v)) for v in product), *(abs(int(v)) for v in product + addend))
    return None if worst < _INT32 else f"it reaches {worst}"


PRODUCT = Constraint("product", "sum * M and sum * M + B stay within int32 for every input", _int32_product)


def _negative(values: NDArray[np.generic]) -> str | None:
    smallest = min(int(value) for value in values.reshape(-1))
    return None if smallest >= 0 else f"the smallest is {smallest}"


UNSIGNED_MULTIPLIER = Constraint(
    "multiplier",
    "multipliers are not negative",
    lambda m: _negative(m.const("multiplier")),
)


def _groups(match: Match) -> str | None:
    group = int(match.node("conv").attrs["group"])
    return None if group == 1 else f"there are {group} groups"


ONE_GROUP = Constraint("groups", "there is one group", _groups)
DEPTHWISE = Constraint(
    "depthwise",
    "each output channel reads its own input channel",
    lambda m: None if is_depthwise(m) else f"weights are {'x'.join(map(str, m.shape('weight')))}",
)
POOLING = Constraint(
    "pooling",
    "it is a sum over a window with one multiplier: all weights are 1",
    lambda m: None if is_pooling(m) else "weights differ from 1 or multipliers differ by channel",
)


def _dilation(match: Match) -> str | None:
    node = match.node("conv" if match.has("conv") else "pool")
    values = [int(d) for d in node.attrs.get("dilations", [1, 1])]
    return None if values == [1, 1] else f"dilation is {values[0]}x{values[1]}"


DILATION = Constraint("dilation", "there is no dilation", _dilation)


def kernel_is(size: int) -> Constraint:
    """The kernel is size x size."""

    def check(match: Match) -> str | None:
        fy, fx = match.shape("weight")[2:]
        return None if (fy, fx) == (size, size) else f"kernel is {fy}x{fx}"

    return Constraint("kernel", f"the kernel is {size}x{size}", check)


def _depthwise_window(match: Match) -> str | None:
    fy, fx = match.shape("weight")[2:]
    if fy * fx > 1023:
        return f"there are {fy * fx} taps"
    return "the kernel is one column wide" if fx == 1 and fy >= 4 else None


#: pulp_nn_depthwise_generic: words of taps are counted in 8 bits; with one column a core overruns its buffer.
DEPTHWISE_WINDOW = Constraint(
    "window", "the kernel has at most 1023 taps and is not a single column of 4 or more", _depthwise_window
)


def _plain_pad(match: Match) -> str | None:
    if not match.has("pad"):
        return None
    node = match.node("pad")
    if node.attrs.get("mode", "constant") not in ("constant", b"constant"):
        return f"mode is {node.attrs['mode']}"
    if len(node.inputs) > 3:
        return "it names axes"
    amounts = [int(a) for a in node.inputs[1].values]
    if len(amounts) != 8 or any(amounts[i] for i in (0, 3, 4, 7)) or min(amounts) < 0:
        return f"amounts are {amounts}"
    inner = [int(p) for p in match.node("conv").attrs["pads"]]
    return None if not any(inner) or pad_value(match) == 0 else f"the convolution pads by {inner} itself"


PLAIN_PAD = Constraint("padding", "padding is constant, in y and x only", _plain_pad)


def pads_up_to(limit: int) -> Constraint:
    """At most ``limit`` padding pixels on each side. NE16 pads the last subtile of 3x3 outputs only; with two pixels,
    padding could reach into the subtile before it."""

    def check(match: Match) -> str | None:
        worst = max(pads(match))
        return None if worst <= limit else f"padding is {worst}"

    return Constraint("padding size", f"padding is at most {limit} on each side", check)


def _ne16_stride(match: Match) -> str | None:
    y, x = strides(match)
    if (y, x) not in ((1, 1), (2, 2)):
        return f"stride is {y}x{x}"
    if (y, x) == (2, 2):
        channels = match.shape("weight")[0]
        if channels % 2:
            return f"stride 2 with {channels} output channels"
    return None


NE16_STRIDE = Constraint(
    "stride",
    "stride is 1x1, or 2x2 with an even number of output channels",
    _ne16_stride,
)
UNIT_STRIDE = Constraint(
    "stride",
    "stride is 1x1",
    lambda m: None if strides(m) == (1, 1) else "stride is {}x{}".format(*strides(m)),
)
NO_PADDING = Constraint(
    "padding", "there is no padding", lambda m: None if not any(pads(m)) else f"padding is {list(pads(m))}"
)


def _window_in_input(match: Match) -> str | None:
    node = match.node("pool")
    if int(node.attrs.get("ceil_mode", 0)):
        return "ceil_mode is set"
    kernel = [int(k) for k in node.attrs["kernel_shape"]]
    worst = max(pads(match))
    return None if worst < min(kernel) else f"padding {worst} covers a whole window of {kernel}"


POOL_WINDOW = Constraint("window", "every window holds a pixel of the input", _window_in_input)


def _sum_range(match: Match) -> str | None:
    multiplier = int(match.const("multiplier").reshape(-1)[0])
    addend = int(match.const("addend").reshape(-1)[0])
    fy, fx = match.shape("weight")[2:]
    worst = 255 * fy * fx * abs(multiplier) + abs(addend)
    return None if worst < _INT32 else f"it reaches {worst}"


POOL_PRODUCT = Constraint("product", "sum * M + B stays within int32 for every input", _sum_range)


def _pool_area(match: Match) -> str | None:
    fy, fx = match.shape("weight")[2:]
    area, zero = match.const("area"), match.node("quantize").inputs[2:]
    if area.size != 1 or float(area.reshape(-1)[0]) != fy * fx or (fy * fx) & (fy * fx - 1) or not 2 <= fy * fx <= 256:
        return f"it divides by {area.reshape(-1)[0]} for {fy * fx} pixels"
    result = np.dtype(match.output.dtype)
    offset = int(zero[0].values) if zero and zero[0].name else 0
    return None if result == np.uint8 and offset == 0 else f"the result is {result.name} with zero point {offset}"


POOL_AREA = Constraint(
    "area", "it divides by the window's area, a power of two up to 256, and the result is uint8", _pool_area
)


def _add_range(match: Match) -> str | None:
    low = high = worst = 0
    for name, reach in (("multiplier_a", 255), ("multiplier_b", 255), ("addend", 1)):
        value = int(match.const(name).reshape(-1)[0]) * reach
        # The addend is always added; an input adds anything from nothing to its largest value.
        low, high = (low + value, high + value) if name == "addend" else (low + min(value, 0), high + max(value, 0))
        worst = max(worst, -low, high)
    return None if worst < _INT32 else f"it reaches {worst}"


ADD_PRODUCT = Constraint("product", "a * Ma + b * Mb + B stays within int32 for every input", _add_range)


def _same_shapes(match: Match) -> str | None:
    a, b = match.shape("input_a"), match.shape("input_b")
    return None if a == b else f"shapes are {a} and {b}"


SAME_SHAPES = Constraint("shapes", "both inputs have the same shape", _same_shapes)
ADD_SCALARS = Constraint(
    "multipliers",
    "multipliers and addend are per tensor",
    lambda m: (
        None
        if all(m.const(n).size == 1 for n in ("multiplier_a", "multiplier_b", "addend"))
        else "they differ by channel"
    ),
)


def _sizes(match: Match) -> str | None:
    names = [name for name in ("input", "input_a", "weight") if match.has(name)]
    worst = max(size for name in names for size in match.shape(name))
    return None if worst <= 65535 else f"the largest is {worst}"


SIZES = Constraint("sizes", "sizes fit 16 bits", _sizes)
