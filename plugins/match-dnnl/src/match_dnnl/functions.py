"""Functions of one value: the one or two oneDNN functions of each operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import attribute_text, constant_input, shape_of

from match_dnnl.engine import Post
from match_dnnl.graph import scalar

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Posts = tuple[Post, ...]
_LARGEST = float(np.finfo(np.float32).max)


def posts_of(node: gs.Node) -> Posts | None:
    """The functions that the node applies to its first input, which is no constant; None where it does more: a
    combination with a number is one too."""
    function = FUNCTIONS.get(qualified_op(node))
    if function is not None:
        return function(node)
    return _with_number(node)


def argument_of(node: gs.Node) -> gs.Tensor:
    """The operand of such a node that is not a number."""
    return node.inputs[1] if _number(node, 0) is not None and len(node.inputs) > 1 else node.inputs[0]


def _plain(name: str) -> Callable[[gs.Node], Posts]:
    return lambda node: (Post(name),)


def _with_alpha(name: str, default: float) -> Callable[[gs.Node], Posts]:
    return lambda node: (Post(name, float(node.attrs.get("alpha", default))),)


def _clip(node: gs.Node) -> Posts:
    low, high = scalar(constant_input(node, 1)), scalar(constant_input(node, 2))
    low = -_LARGEST if low is None else max(low, -_LARGEST)
    high = _LARGEST if high is None else min(high, _LARGEST)
    return (Post("clip", min(low, high), high),)


def _hard_sigmoid(node: gs.Node) -> Posts:
    alpha, beta = float(node.attrs.get("alpha", 0.2)), float(node.attrs.get("beta", 0.5))
    return Post("linear", alpha, beta), Post("clip", 0.0, 1.0)


def _gelu(node: gs.Node) -> Posts:
    return (Post("gelu_tanh" if attribute_text(node, "approximate", "none") == "tanh" else "gelu_erf"),)


FUNCTIONS: dict[str, Callable[[gs.Node], Posts]] = {
    "Abs": _plain("abs"),
    "Clip": _clip,
    "Elu": _with_alpha("elu", 1.0),
    "Exp": _plain("exp"),
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _plain("hardswish"),
    "LeakyRelu": _with_alpha("relu", 0.01),
    "Log": _plain("log"),
    "Mish": _plain("mish"),
    "Neg": lambda node: (Post("linear", -1.0),),
    "Reciprocal": lambda node: (Post("pow", 1.0, -1.0),),
    "Relu": _plain("relu"),
    "Round": _plain("round"),
    "Sigmoid": _plain("logistic"),
    "Softplus": _plain("soft_relu"),
    "Sqrt": _plain("sqrt"),
    "Tanh": _plain("tanh"),
}


def _number(node: gs.Node, position: int) -> float | None:
    """A constant of one element that gives the result no further axes."""
    array = constant_input(node, position)
    whole = array is not None and array.size == 1 and array.ndim <= len(shape_of(node.outputs[0]))
    return scalar(array) if whole else None


def _with_number(node: gs.Node) -> Posts | None:
    """Arithmetic with one number: a linear function, or a power."""
    op = qualified_op(node)
    if (op not in _LEFT and op not in _RIGHT) or len(node.inputs) != 2:
        return None
    if len(shape_of(argument_of(node))) != len(shape_of(node.outputs[0])):
        return None
    first, second = _number(node, 0), _number(node, 1)
    if second is not None and first is None and np.isfinite(second):
        return _RIGHT[op](second)
    if first is not None and second is None and np.isfinite(first) and op in _LEFT:
        return _LEFT[op](first)
    return None


def _divided(number: float) -> Posts | None:
    with np.errstate(divide="ignore", over="ignore"):
        inverse = float(np.float32(1.0) / np.float32(number))
    return (Post("linear", inverse, 0.0),) if np.isfinite(inverse) else None


def _power(number: float) -> Posts | None:
    return (Post("square"),) if number == 2.0 else (Post("pow", 1.0, number),)


_RIGHT: dict[str, Callable[[float], Posts | None]] = {
    "Add": lambda number: (Post("linear", 1.0, number),),
    "Sub": lambda number: (Post("linear", 1.0, -number),),
    "Mul": lambda number: (Post("linear", number, 0.0),),
    "Div": _divided,
    "Max": lambda number: (Post("clip", max(number, -_LARGEST), _LARGEST),),
    "Min": lambda number: (Post("clip", -_LARGEST, min(number, _LARGEST)),),
    "Pow": _power,
}
_LEFT: dict[str, Callable[[float], Posts | None]] = {
    **{op: _RIGHT[op] for op in ("Add", "Mul", "Max", "Min")},
    "Sub": lambda number: (Post("linear", -1.0, number),),
    "Div": lambda number: (Post("pow", number, -1.0),),
}
