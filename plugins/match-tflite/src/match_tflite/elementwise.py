"""Element-wise functions of one or two tensors, and functions of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from match_tflite.call import Call
from match_tflite.graph import TO_PLANES

#: Functions of one tensor that have another name in ONNX.
UNARY = {
    "RELU": "Relu",
    "LOGISTIC": "Sigmoid",
    "TANH": "Tanh",
    "HARD_SWISH": "HardSwish",
    "ELU": "Elu",
    "ABS": "Abs",
    "NEG": "Neg",
    "EXP": "Exp",
    "LOG": "Log",
    "SQRT": "Sqrt",
    "SIN": "Sin",
    "COS": "Cos",
    "FLOOR": "Floor",
    "CEIL": "Ceil",
    "ROUND": "Round",
    "SIGN": "Sign",
    "LOGICAL_NOT": "Not",
    # The quantisation of the result or the input defines these operators completely.
    "QUANTIZE": "",
}
#: Functions of two tensors.
BINARY = {
    "ADD": "Add",
    "SUB": "Sub",
    "MUL": "Mul",
    "DIV": "Div",
    "POW": "Pow",
    "MINIMUM": "Min",
    "MAXIMUM": "Max",
    "PRELU": "PRelu",
    "EQUAL": "Equal",
    "GREATER": "Greater",
    "GREATER_EQUAL": "GreaterOrEqual",
    "LESS": "Less",
    "LESS_EQUAL": "LessOrEqual",
    "LOGICAL_AND": "And",
    "LOGICAL_OR": "Or",
}
#: Functions that may include an activation function.
_ACTIVATED = frozenset(("ADD", "SUB", "MUL", "DIV"))


def unary(call: Call) -> None:
    """A function that is one ONNX operator."""
    _apply(call, lambda x: call.node(op, [x]) if (op := UNARY[call.operator.kind]) else x)


def composed(call: Call) -> None:
    """A function that becomes several operators, or one with attributes."""
    _apply(call, lambda x: COMPOSED[call.operator.kind](call, x))


def _apply(call: Call, function: Callable[[str], str]) -> None:
    planes = call.is_planes(0)
    call.give_real(function(call.real(0, planes)), planes)


#: Functions of one tensor in terms of ONNX's.
COMPOSED: dict[str, Callable[[Call, str], str]] = {
    "RELU6": lambda call, x: call.clipped(x, 0.0, 6.0),
    "RELU_N1_TO_1": lambda call, x: call.clipped(x, -1.0, 1.0),
    "RELU_0_TO_1": lambda call, x: call.clipped(x, 0.0, 1.0),
    "LEAKY_RELU": lambda call, x: call.node("LeakyRelu", [x], alpha=call.number("Alpha")),
    "RSQRT": lambda call, x: call.node("Reciprocal", [call.node("Sqrt", [x])]),
    "SQUARE": lambda call, x: call.node("Mul", [x, x]),
    "GELU": lambda call, x: call.node("Gelu", [x], approximate="tanh" if call.option("Approximate", 0) else "none"),
}


def dequantize(call: Call) -> None:
    """DEQUANTIZE; float16 constants become float32 as well."""
    values, quantisation = call.graph.known(call.index(0)), call.input(0).quantisation
    if call.input(0).dtype == np.float16:
        if values is None:
            planes = call.is_planes(0)
            call.give(call.node("Cast", [call.stored(0, planes)], to=_onnx_type(np.dtype(np.float32))), planes)
        else:
            call.fold(values.astype(np.float32))
    elif values is not None and quantisation is not None and quantisation.per_tensor:
        steps = (values.astype(np.int64) - quantisation.zero_points).astype(np.float32)
        call.fold(steps * quantisation.scales)
    else:
        planes = call.is_planes(0)
        call.give(call.real(0, planes), planes)


def cast(call: Call) -> None:
    """CAST between element types; scales have no effect."""
    planes = call.is_planes(0)
    call.give(call.node("Cast", [call.stored(0, planes)], to=_onnx_type(call.output().dtype)), planes)


def _onnx_type(dtype: np.dtype[np.generic]) -> int:
    import onnx

    return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))


def binary(call: Call) -> None:
    """A function of two tensors that broadcast."""
    planes = fit_planes(call, range(2))
    kind = call.operator.kind
    result = call.node(BINARY[kind], [operand(call, position, planes) for position in range(2)])
    call.give_real(call.activated(result) if kind in _ACTIVATED else result, planes)


def squared_difference(call: Call) -> None:
    """SQUARED_DIFFERENCE."""
    planes = fit_planes(call, range(2))
    difference = call.node("Sub", [operand(call, position, planes) for position in range(2)])
    call.give_real(call.node("Mul", [difference, difference]), planes)


def not_equal(call: Call) -> None:
    """NOT_EQUAL."""
    planes = fit_planes(call, range(2))
    equal = call.node("Equal", [operand(call, position, planes) for position in range(2)])
    call.give(call.node("Not", [equal]), planes)


def add_n(call: Call) -> None:
    """ADD_N."""
    positions = range(call.input_count)
    planes = fit_planes(call, positions)
    call.give_real(call.node("Sum", [operand(call, position, planes) for position in positions]), planes)


def select(call: Call) -> None:
    """SELECT_V2, and SELECT if the condition has as many axes as the operands."""
    if call.operator.kind == "SELECT" and call.input(0).rank != call.input(1).rank:
        raise call.refuse("its condition selects rows, not elements", "convert with SELECT_V2")
    planes = fit_planes(call, range(3))
    call.give_real(call.node("Where", [operand(call, position, planes) for position in range(3)]), planes)


def fit_planes(call: Call, positions: range) -> bool:
    """Whether operands that broadcast can be read as planes, and one of them is stored as planes."""
    held = [position for position in positions if call.is_planes(position)]
    return bool(held) and call.output().rank == 4 and all(_fits(call, position) for position in positions)


def _fits(call: Call, position: int) -> bool:
    tensor = call.input(position)
    if tensor.rank == 4 or tensor.size == 1:
        return tensor.rank <= 4
    per_tensor = tensor.quantisation is None or tensor.quantisation.per_tensor
    return tensor.rank < 4 and per_tensor and call.graph.known(tensor.index) is not None


def operand(call: Call, position: int, planes: bool) -> str:
    """An operand as real numbers that broadcasts against planes or plain tensors."""
    tensor = call.input(position)
    if not planes or tensor.rank == 4 or tensor.size == 1:
        return call.real(position, planes and tensor.rank == 4)
    values = call.constant_of(position, "operands")
    image = values.reshape((1,) * (4 - tensor.rank) + tensor.shape).transpose(TO_PLANES)
    return call.dequantised(call.graph.constant(f"{tensor.name}_nchw", image), tensor)


def softmax(call: Call) -> None:
    """SOFTMAX along the last axis."""
    beta, x = call.number("Beta"), call.real(0)
    if beta != 1.0:
        x = call.node("Mul", [x, call.float_constant("beta", beta)])
    call.give_real(call.node("Softmax", [x], axis=-1))


def log_softmax(call: Call) -> None:
    """LOG_SOFTMAX along the last axis."""
    call.give_real(call.node("LogSoftmax", [call.real(0)], axis=-1))


def l2_normalization(call: Call) -> None:
    """L2_NORMALIZATION along the last axis; lengths below TFLite's 1e-6 count as that."""
    x = call.real(0)
    length = call.node("ReduceL2", [x, call.constant("axes", np.array([-1], np.int64))], keepdims=1)
    bounded = call.node("Max", [length, call.float_constant("shortest", 1e-6)])
    call.give_real(call.activated(call.node("Div", [x, bounded])))
