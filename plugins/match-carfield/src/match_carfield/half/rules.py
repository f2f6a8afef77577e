"""The limits of the binary16 kernels as named constraints."""

from __future__ import annotations

import numpy as np
from match_core import Match
from match_core.ir.topology import is_constant
from match_core.patterns.captures import ACTIVATIONS
from match_core.patterns.rule import rule
from match_core.patterns.rules_tensors import types_are
from match_core.patterns.windows import is_depthwise, window_of

from match_carfield.half.changes import change_constants, change_nodes, halves
from match_carfield.half.products import factor_bits, product_of
from match_carfield.half.workloads import epsilon_of

#: Rows of computing elements in RedMulE (sheet 3.1).
_ARRAY_HEIGHT = 4

half = types_are(
    "tensors and weights are float16", "float16", of=(*ACTIVATIONS, "weight"), result=True, name="elements"
)


# ---- convolutions ----------------------------------------------------------------------------------------------


@rule("groups", "there are several groups, each with more than one input and output channel")
def grouped(match: Match) -> str | None:
    if window_of(match).group == 1:
        return "there is one group"
    return "each channel is a group" if is_depthwise(match) else None


# ---- changes of channels ---------------------------------------------------------------------------------------


@rule("bias", "the bias is constant, with one number per channel")
def bias(match: Match) -> str | None:
    inputs = match.node("conv" if match.has("conv") else "dense").inputs
    if len(inputs) < 3 or inputs[2].is_empty():
        return None
    channels = int(match.output.shape[-1])
    if not is_constant(inputs[2]):
        return "the bias is computed"
    size = int(inputs[2].values.size)
    return None if size in (1, channels) else f"the bias has {size} numbers for {channels} channels"


@rule("changes", "factors and addends after it have one number per channel")
def per_channel(match: Match) -> str | None:
    channels = int(match.output.shape[-1])
    for values in change_constants(match):
        if values.size != 1 and (values.size != channels or values.shape[-1] != channels):
            return f"one has the shape {values.shape} for {channels} channels"
    return None


@rule("division", "no constant is divided by its result")
def no_reciprocal(match: Match) -> str | None:
    inverted = any(node.op == "Div" and is_constant(node.inputs[0]) for node in change_nodes(match))
    return "a constant is divided by its result" if inverted else None


@rule("range", "combined factors and addends are binary16 numbers")
def in_range(match: Match) -> str | None:
    channels = int(match.output.shape[-1])
    if bias.check(match) or per_channel.check(match) or no_reciprocal.check(match):
        return None  # another rule says so
    finite = all(np.isfinite(values).all() for values in halves(match, channels))
    return None if finite else "one is not finite"


# ---- dense layers and products ---------------------------------------------------------------------------------


@rule("input", "the input is not transposed")
def plain_input(match: Match) -> str | None:
    return "the input is transposed" if int(match.node("dense").attrs.get("transA", 0)) else None


@rule("axes", "batches are equal and lie outside the rows or between rows and columns")
def readable(match: Match) -> str | None:
    if product_of(match) is not None:
        return None
    shapes = " and ".join(str(tuple(tensor.shape)) for tensor in match.node("matmul").inputs[:2])
    return f"shapes are {shapes}"


@rule("factor", "results have one factor, a binary16 number")
def factor(match: Match) -> str | None:
    if not match.has("scale"):
        return None
    if match.const("factor").size != 1:
        return f"there are {match.const('factor').size} factors"
    if match.node("scale").op == "Div" and is_constant(match.node("scale").inputs[0]):
        return "a constant is divided by its result"
    finite = np.isfinite(np.uint16(factor_bits(match)).view(np.float16))
    return None if finite else "the factor is not finite"


# ---- RedMulE ---------------------------------------------------------------------------------------------------


def _summed(match: Match) -> int:
    """Length of the sums: input channels, input features, columns of the left side."""
    if match.has("matmul"):
        return int(match.node("matmul").inputs[0].shape[-1])
    return int(match.shape("weight")[1]) if match.has("conv") else int(match.shape("input")[-1])


#: RedMulE would add zeros for those that are missing, which may make +0 of -0.
@rule("columns", f"the length of sums is a multiple of the array's height, {_ARRAY_HEIGHT}")
def whole_columns(match: Match) -> str | None:
    return None if _summed(match) % _ARRAY_HEIGHT == 0 else f"there are {_summed(match)}"


#: Its registers know no distance between rows of the left side.
@rule("stride", "stride is 1 in x")
def unit_columns(match: Match) -> str | None:
    stride = window_of(match).strides[1]
    return None if stride == 1 else f"stride is {stride} in x"


@rule("rows", "rows of a product are contiguous")
def dense_rows(match: Match) -> str | None:
    product = product_of(match)
    if product is None or product.b == 1:
        return None
    spread = [order for order in (product.a_order, product.b_order, product.output_order) if not order.startswith("B")]
    return f"the batch lies between them ({', '.join(spread)})" if spread else None


#: What MATCHA's firmware gives to RedMulE (match examples/targets/carfield, cluster_kernel_wrappers.c; sheet 3.1).
_FIRMWARE_FEATURES, _FIRMWARE_OUTPUTS = 64, 10


@rule("firmware", f"there is one row of {_FIRMWARE_FEATURES} features, with {_FIRMWARE_OUTPUTS} outputs")
def firmware_sizes(match: Match) -> str | None:
    features, outputs = int(match.shape("input")[-1]), int(match.output.shape[-1])
    rows = int(np.prod(match.output.shape[:-1]))
    if (rows, features, outputs) == (1, _FIRMWARE_FEATURES, _FIRMWARE_OUTPUTS):
        return None
    return f"rows: {rows}, features: {features}, outputs: {outputs}"


# ---- element by element, pooling, rows -------------------------------------------------------------------------


@rule("count", "every window of a mean counts the same number of pixels")
def same_count(match: Match) -> str | None:
    node = match.node("pool")
    if node.op == "MaxPool" or not any(window_of(match).pads):
        return None
    return None if int(node.attrs.get("count_include_pad", 0)) else "padding is not counted"


@rule("parameters", "the scale is constant, with one number per column")
def row_parameters(match: Match) -> str | None:
    columns = match.shape("input")[-1]
    size = match.const("scale").size
    if size != columns:
        return f"scale has {size} numbers for {columns} columns"
    return None if epsilon_of(match) >= 0 else "epsilon is negative"


@rule("bias", "the bias, if any, is constant")
def constant_bias(match: Match) -> str | None:
    inputs = match.node("norm").inputs
    computed = len(inputs) > 2 and not inputs[2].is_empty() and not is_constant(inputs[2])
    return "the bias is computed" if computed else None


# ---- GELU ------------------------------------------------------------------------------------------------------


@rule("function", "it is x * (1 + erf(x / sqrt(2))) / 2")
def exact_gelu(match: Match) -> str | None:
    mode = match.node("gelu").attrs.get("approximate", "none")
    return None if mode == "none" else f"approximate is {mode}"
