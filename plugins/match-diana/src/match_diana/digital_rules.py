"""The limits of the digital array as named constraints (sheet 2.2, 4, 5.1)."""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import Constraint, Match

from match_diana import digital_structures as s
from match_diana.digital_limits import COPY_BYTES, KERNEL_SIDES, LANES, SHIFT_MAX, STRIDES
from match_diana.forms import ROWS


def _types(match: Match) -> str | None:
    names = [name for name in ("input", "input_a", "input_b", "weight") if match.has(name)]
    found = {np.dtype(match.tensor(name).dtype).name for name in names} | {np.dtype(match.output.dtype).name}
    return None if found == {"int8"} else f"tensors are {', '.join(sorted(found))}"


TYPES = Constraint("types", "activations and weights are int8", _types)


def _zero_points(match: Match) -> str | None:
    node = match.node("conv" if match.has("conv") else "dense")
    rest = [tensor for tensor in node.inputs[2:] if not tensor.is_empty()]
    known = all(hasattr(tensor, "values") and not np.any(tensor.values) for tensor in rest)
    return None if known else "there are zero points"


ZERO_POINTS = Constraint("zero points", "zero points are 0", _zero_points)


def _image(match: Match) -> str | None:
    shape = match.shape("input" if match.has("input") else "input_a")
    return None if len(shape) == 4 and shape[0] == 1 else f"its shape is {list(shape)}"


IMAGE = Constraint("image", "the input is one image [1, C, H, W]", _image)


def _vector(match: Match) -> str | None:
    shape = match.shape("input")
    return None if len(shape) == 2 and shape[0] == 1 else f"its shape is {list(shape)}"


VECTOR = Constraint("vector", "the input is one vector [1, C]", _vector)


def _size(match: Match) -> str | None:
    size = prod(ROWS.padded_shape(match.shape("input" if match.has("input") else "input_a")))
    return None if size >= COPY_BYTES else f"it has {size} bytes"


SIZE = Constraint("size", f"rows padded to {LANES}, the input has at least the {COPY_BYTES} bytes of a copy", _size)


# ---- convolution -----------------------------------------------------------------------------------------------


def _one_group(match: Match) -> str | None:
    group = s.geometry_of(match).group
    return None if group == 1 else f"there are {group} groups"


ONE_GROUP = Constraint("groups", "all channels are in one group", _one_group)


def _depthwise(match: Match) -> str | None:
    outputs, inputs = match.shape("weight")[:2]
    group = s.geometry_of(match).group
    if inputs == 1 and group == outputs:
        return None
    return f"there are {group} groups of {inputs} input channels for {outputs} output channels"


DEPTHWISE = Constraint("groups", "every channel is a group", _depthwise)


def _kernel(match: Match) -> str | None:
    kernel = s.geometry_of(match).kernel
    return None if set(kernel) <= set(KERNEL_SIDES) else f"it is {kernel[0]}x{kernel[1]}"


KERNEL = Constraint("kernel", f"sides of the kernel are among {', '.join(map(str, KERNEL_SIDES))}", _kernel)


def _stride(match: Match) -> str | None:
    down, right = s.geometry_of(match).strides
    return None if down == right and down in STRIDES else f"it is {down}x{right}"


STRIDE = Constraint("stride", "the stride is 1 or 2, the same in both directions", _stride)


def _dilation(match: Match) -> str | None:
    dilations = s.geometry_of(match).dilations
    return None if set(dilations) == {1} else f"it is {'x'.join(map(str, dilations))}"


DILATION = Constraint("dilation", "the dilation is 1", _dilation)


def _padding(match: Match) -> str | None:
    geometry = s.geometry_of(match)
    top, left, bottom, right = geometry.pads
    fy, fx = geometry.kernel
    if not (min(geometry.pads) >= 0 and max(top, bottom) < fy and max(left, right) < fx):
        return f"it is {top}, {left}, {bottom}, {right}"
    beyond = s.columns_beyond(match)
    return None if beyond <= left else f"{left} columns on the left, {beyond} on the right"


PADDING = Constraint(
    "padding",
    "less than the kernel; as many columns on the right as on the left, or fewer if outputs do not read them",
    _padding,
)


def _whole_lanes(match: Match) -> str | None:
    width = int(match.output.shape[3])
    return None if width % LANES == 0 else f"there are {width}"


WHOLE_LANES = Constraint("columns", f"output columns are a multiple of {LANES}", _whole_lanes)


# ---- arithmetic ------------------------------------------------------------------------------------------------


def _requant(match: Match) -> str | None:
    found = s.requant_of(match)
    return found if isinstance(found, str) else None


REQUANT = Constraint(
    "requantisation",
    f"multiplier and divisor are powers of two, the same for all channels, and make a shift of 0 to {SHIFT_MAX}",
    _requant,
)


def _bounds(match: Match) -> str | None:
    low, high = s.number(match, "low"), s.number(match, "high")
    return None if high == 127 and low in (-128, 0) else f"bounds are {low} and {high}"


BOUNDS = Constraint("bounds", "results are cut to -128..127, or to 0..127 (ReLU)", _bounds)


def _signed(match: Match) -> str | None:
    low, high = s.number(match, "low"), s.number(match, "high")
    return None if (low, high) == (-128, 127) else f"bounds are {low} and {high}"


SIGNED = Constraint("bounds", "results are cut to -128..127: sums have no ReLU", _signed)


def _positive(match: Match) -> str | None:
    low, high = s.number(match, "low"), s.number(match, "high")
    return None if (low, high) == (0, 127) else f"bounds are {low} and {high}"


POSITIVE = Constraint("bounds", "results are cut to 0..127", _positive)


def _accumulator(match: Match) -> str | None:
    found = s.requant_of(match)
    if isinstance(found, str):
        return None  # another rule says so
    conv = match.has("conv")
    reach = s.sum_reach(match, (1, 2, 3) if conv else (0,))
    if found.bias.size not in (1, reach.size):
        return f"there are {found.bias.size} addends for {reach.size} channels"
    largest = int((reach + np.abs(found.bias)).max())
    return None if largest < 1 << 31 else f"a sum reaches {largest}"


ACCUMULATOR = Constraint("accumulator", "sums and biases stay within 32 bits", _accumulator)


# ---- sums ------------------------------------------------------------------------------------------------------


def _same_shapes(match: Match) -> str | None:
    a, b = match.shape("input_a"), match.shape("input_b")
    return None if a == b else f"shapes are {list(a)} and {list(b)}"


SAME_SHAPES = Constraint("shapes", "both inputs have the same shape", _same_shapes)


def _whole_blocks(match: Match) -> str | None:
    channels = match.shape("input_a")[1]
    return None if channels % LANES == 0 else f"there are {channels}"


WHOLE_BLOCKS = Constraint("channels", f"channels are a multiple of {LANES}", _whole_blocks)


def _no_bias(match: Match) -> str | None:
    found = s.requant_of(match)
    if isinstance(found, str) or not np.any(found.bias):
        return None
    return f"{int(found.bias.reshape(-1)[0])} is added"


NO_BIAS = Constraint("bias", "nothing is added to the sum, so it is rounded down", _no_bias)
