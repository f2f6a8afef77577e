"""The limits of the binary16 kernels as named constraints."""

from __future__ import annotations

import numpy as np
from match_core import Constraint, Match

from match_carfield.changes import change_constants, change_nodes, halves, is_constant
from match_carfield.products import factor_bits, product_of
from match_carfield.windows import groups, is_global, kernel, pads, strides
from match_carfield.workloads import epsilon_of, matrix

#: Sizes that the kernels' counters hold.
_SIZE_MAX = 65_535
#: Rows of computing elements in RedMulE (sheet 3.1).
_ARRAY_HEIGHT = 4


def _types(match: Match) -> str | None:
    names = [name for name in ("input", "input_a", "input_b", "left", "right", "weight") if match.has(name)]
    found = {np.dtype(match.tensor(name).dtype).name for name in names} | {np.dtype(match.output.dtype).name}
    return None if found == {"float16"} else f"tensors are {', '.join(sorted(found))}"


HALF = Constraint("elements", "tensors and weights are float16", _types)


def _sizes(match: Match) -> str | None:
    names = [name for name in ("input", "input_a", "left", "right", "weight") if match.has(name)]
    worst = max(size for name in names for size in (*match.shape(name), *match.output.shape))
    return None if worst <= _SIZE_MAX else f"the largest is {worst}"


SIZES = Constraint("sizes", "sizes fit 16 bits", _sizes)


# ---- convolutions ----------------------------------------------------------------------------------------------


def _one_group(match: Match) -> str | None:
    return None if groups(match) == 1 else f"there are {groups(match)} groups"


def _is_depthwise(match: Match) -> bool:
    out_channels, in_per_group = match.shape("weight")[:2]
    return in_per_group == 1 and groups(match) == out_channels


def _depthwise(match: Match) -> str | None:
    return None if _is_depthwise(match) else f"weights are {'x'.join(map(str, match.shape('weight')))}"


def _grouped(match: Match) -> str | None:
    if groups(match) == 1:
        return "there is one group"
    return "each channel is a group" if _is_depthwise(match) else None


ONE_GROUP = Constraint("groups", "there is one group", _one_group)
DEPTHWISE = Constraint("depthwise", "each output channel reads its own input channel", _depthwise)
GROUPED = Constraint("groups", "there are several groups, of more than one channel each way", _grouped)


def _explicit_padding(match: Match) -> str | None:
    node = match.node("conv" if match.has("conv") else "pool")
    mode = node.attrs.get("auto_pad", "NOTSET")
    return None if mode == "NOTSET" else f"auto_pad is {mode}"


EXPLICIT = Constraint("padding", "padding is given in pixels", _explicit_padding)


# ---- changes of channels ---------------------------------------------------------------------------------------


def _bias(match: Match) -> str | None:
    inputs = match.node("conv" if match.has("conv") else "dense").inputs
    if len(inputs) < 3 or inputs[2].is_empty():
        return None
    channels = int(match.output.shape[-1])
    if not is_constant(inputs[2]):
        return "the bias is computed"
    size = int(inputs[2].values.size)
    return None if size in (1, channels) else f"the bias has {size} numbers for {channels} channels"


BIAS = Constraint("bias", "the bias is constant, a number per channel", _bias)


def _per_channel(match: Match) -> str | None:
    channels = int(match.output.shape[-1])
    for values in change_constants(match):
        if values.size != 1 and (values.size != channels or values.shape[-1] != channels):
            return f"one has the shape {values.shape} for {channels} channels"
    return None


PER_CHANNEL = Constraint("changes", "factors and summands behind it are a number per channel", _per_channel)


def _no_reciprocal(match: Match) -> str | None:
    inverted = any(node.op == "Div" and is_constant(node.inputs[0]) for node in change_nodes(match))
    return "a constant is divided by it" if inverted else None


NO_RECIPROCAL = Constraint("division", "results are not divided into a constant", _no_reciprocal)


def _in_range(match: Match) -> str | None:
    channels = int(match.output.shape[-1])
    if _bias(match) or _per_channel(match) or _no_reciprocal(match):
        return None  # another rule says so
    finite = all(np.isfinite(values).all() for values in halves(match, channels))
    return None if finite else "one is not finite"


RANGE = Constraint("range", "factors and summands together are binary16 numbers", _in_range)


# ---- dense layers and products ---------------------------------------------------------------------------------


def _matrix_weights(match: Match) -> str | None:
    rank = len(match.shape("weight"))
    return None if rank == 2 else f"weights have rank {rank}"


MATRIX = Constraint("weights", "weights are a matrix", _matrix_weights)


def _plain_input(match: Match) -> str | None:
    return "the input is transposed" if int(match.node("dense").attrs.get("transA", 0)) else None


PLAIN_INPUT = Constraint("input", "the input is not transposed", _plain_input)


def _readable(match: Match) -> str | None:
    if product_of(match) is not None:
        return None
    shapes = " and ".join(str(tuple(tensor.shape)) for tensor in match.node("matmul").inputs[:2])
    return f"shapes are {shapes}"


READABLE = Constraint(
    "axes",
    "batches are equal and lie outside of the rows or between rows and columns",
    _readable,
)


def _one_factor(match: Match) -> str | None:
    if not match.has("scale"):
        return None
    if match.const("factor").size != 1:
        return f"there are {match.const('factor').size} factors"
    if match.node("scale").op == "Div" and is_constant(match.node("scale").inputs[0]):
        return "a constant is divided by it"
    finite = np.isfinite(np.uint16(factor_bits(match)).view(np.float16))
    return None if finite else "the factor is not finite"


FACTOR = Constraint("factor", "results have one factor, a binary16 number", _one_factor)


# ---- RedMulE ---------------------------------------------------------------------------------------------------


def _summed(match: Match) -> int:
    """Length of the sums: input channels, input features, columns of the left side."""
    if match.has("matmul"):
        return int(match.node("matmul").inputs[0].shape[-1])
    return int(match.shape("weight")[1]) if match.has("conv") else int(match.shape("input")[-1])


def _whole_columns(match: Match) -> str | None:
    return None if _summed(match) % _ARRAY_HEIGHT == 0 else f"there are {_summed(match)}"


#: RedMulE would add zeros for those that are missing, which may make +0 of -0.
WHOLE_COLUMNS = Constraint(
    "columns",
    f"numbers that are summed are a multiple of the array's height, {_ARRAY_HEIGHT}",
    _whole_columns,
)


def _unit_columns(match: Match) -> str | None:
    stride = strides(match)[1]
    return None if stride == 1 else f"stride is {stride} in x"


#: Its registers know no distance between rows of the left side.
UNIT_COLUMNS = Constraint("stride", "stride is 1 in x", _unit_columns)


def _dense_rows(match: Match) -> str | None:
    product = product_of(match)
    if product is None or product.b == 1:
        return None
    spread = [order for order in (product.a_order, product.b_order, product.output_order) if not order.startswith("B")]
    return f"the batch lies between them ({', '.join(spread)})" if spread else None


DENSE_ROWS = Constraint("rows", "rows of a product lie one behind the other", _dense_rows)


# ---- element by element, pooling, rows -------------------------------------------------------------------------


def _same_shapes(match: Match) -> str | None:
    a, b = match.shape("input_a"), match.shape("input_b")
    return None if a == b else f"shapes are {a} and {b}"


SAME_SHAPES = Constraint("shapes", "both inputs have the same shape", _same_shapes)


def _pool_window(match: Match) -> str | None:
    node = match.node("pool")
    if int(node.attrs.get("ceil_mode", 0)):
        return "ceil_mode is set"
    if any(int(value) != 1 for value in node.attrs.get("dilations", ())):
        return "there is dilation"
    worst = max(pads(match))
    return None if worst < min(kernel(match)) else f"padding {worst} covers a whole window"


POOL_WINDOW = Constraint("window", "every window holds a pixel of the input", _pool_window)


def _same_count(match: Match) -> str | None:
    node = match.node("pool")
    if node.op == "MaxPool" or is_global(match) or not any(pads(match)):
        return None
    return None if int(node.attrs.get("count_include_pad", 0)) else "padding is not counted"


SAME_COUNT = Constraint("count", "every window of a mean counts the same number of pixels", _same_count)


def _last_axis(match: Match) -> str | None:
    node = match.node("softmax" if match.has("softmax") else "norm")
    rank = len(match.shape("input"))
    axis = int(node.attrs.get("axis", -1)) % rank
    return None if axis == rank - 1 else f"it runs over axis {axis} of {rank}"


LAST_AXIS = Constraint("axis", "it runs over the last axis", _last_axis)


def _row_parameters(match: Match) -> str | None:
    columns = match.shape("input")[-1]
    size = match.const("scale").size
    if size != columns:
        return f"scale has {size} numbers for {columns} columns"
    return None if epsilon_of(match) >= 0 else "epsilon is negative"


ROW_PARAMETERS = Constraint("parameters", "scale is constant, a number per column", _row_parameters)


def _constant_bias(match: Match) -> str | None:
    inputs = match.node("norm").inputs
    computed = len(inputs) > 2 and not inputs[2].is_empty() and not is_constant(inputs[2])
    return "the bias is computed" if computed else None


CONSTANT_BIAS = Constraint("bias", "the bias, if any, is constant", _constant_bias)


def _moves_block(match: Match) -> str | None:
    return None if matrix(match) else f"it is {list(match.node('transpose').attrs['perm'])}"


MOVES_BLOCK = Constraint("permutation", "the permutation moves the leading axes behind the others", _moves_block)


# ---- GELU ------------------------------------------------------------------------------------------------------


def _exact_gelu(match: Match) -> str | None:
    mode = match.node("gelu").attrs.get("approximate", "none")
    return None if mode == "none" else f"approximate is {mode}"


EXACT_GELU = Constraint("function", "it is x * (1 + erf(x / sqrt(2))) / 2", _exact_gelu)
