"""Rules about single nodes, with descriptions; they become constraints of patterns and decide which nodes may join a
region."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import elements, values_of
from match_host.headers.small import SCALE_FLOAT, SMALL_FLOATS

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Element indices in the emitted C are 32-bit.
LARGEST_TENSOR = 2**31 - 1

_WHOLE = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_NARROW_WHOLE = ("int4", "uint4", "int2", "uint2")
_CODES = tuple(name for name in SMALL_FLOATS if name != "bfloat16")
_REAL = ("float16", "float32", "float64", "bfloat16", *_CODES)
#: Names of sets of element types, the largest first.
TYPE_SETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("any type", (*_WHOLE, *_REAL, "bool", SCALE_FLOAT, *_NARROW_WHOLE)),
    ("any float", _REAL),
    ("any integer of 8 to 64 bits", _WHOLE),
    ("an integer of 2 or 4 bits", _NARROW_WHOLE),
    ("float8, float6 or float4", _CODES),
)


def type_name(tensor: gs.Tensor) -> str:
    """The element type as numpy spells it; another text if numpy lacks it."""
    try:
        return _spelled(tensor.dtype) if tensor.dtype is not None else "unknown"
    except TypeError:
        return f"ONNX type {tensor.dtype}"


@lru_cache(maxsize=64)
def _spelled(dtype: Any) -> str:
    return str(np.dtype(dtype).name)


def _may_be_empty(node: gs.Node, tensor: gs.Tensor) -> bool:
    """Whether a tensor without elements is one of several results, or only a copy of a constant."""
    made = any(tensor is output for output in node.outputs)
    return made and (len(node.outputs) > 1 or node.op == "Identity")


def _static(node: gs.Node) -> str | None:
    for tensor in (*node.inputs, *node.outputs):
        if tensor.is_empty():
            continue
        try:
            count = elements(shape_of(tensor))
        except ValueError:
            return f"shape is {tensor.shape}"
        empty = count == 0 and _may_be_empty(node, tensor)
        if not 0 < count <= LARGEST_TENSOR and not is_constant(tensor) and not empty:
            return f"a tensor has {count} elements"
    return None


STATIC = NodeRule("static", "all shapes are static, with 1 to 2^31-1 elements", _static)


def _one_output(node: gs.Node) -> str | None:
    return None if len(node.outputs) == 1 else f"it has {len(node.outputs)} outputs"


ONE_OUTPUT = NodeRule("one_output", "one output", _one_output)


def _inference(node: gs.Node) -> str | None:
    mode = optional_input(node, 2)
    if mode is None or (is_constant(mode) and not values_of(mode).any()):
        return None
    return "training_mode may be set"


INFERENCE = NodeRule("inference", "not in training mode, where it drops elements at random", _inference)


def type_words(allowed: tuple[str, ...]) -> str:
    """Text for element types: named sets, then single types."""
    rest, words = dict.fromkeys(allowed), []
    for name, members in TYPE_SETS:
        if all(member in rest for member in members):
            words.append(name)
            rest = {item: None for item in rest if item not in members}
    return ", ".join((*words, *rest))


def types(allowed: tuple[str, ...], *indices: int) -> NodeRule:
    """These inputs, if they exist, have one of the types."""

    def check(node: gs.Node) -> str | None:
        for index in indices:
            tensor = optional_input(node, index)
            if tensor is not None and type_name(tensor) not in allowed:
                return f"input {index} is {type_name(tensor)}"
        return None

    where = " and ".join(str(index) for index in indices)
    return NodeRule("types", f"input {where} is {type_words(allowed)}", check)


def all_types(allowed: tuple[str, ...]) -> NodeRule:
    """All inputs and outputs have one of the types."""

    def check(node: gs.Node) -> str | None:
        for tensor in (*node.inputs, *node.outputs):
            if not tensor.is_empty() and type_name(tensor) not in allowed:
                return f"a tensor is {type_name(tensor)}"
        return None

    return NodeRule("all_types", f"all tensors are {type_words(allowed)}", check)


def constants(*indices: int) -> NodeRule:
    """These inputs, if they exist, are constant."""

    def check(node: gs.Node) -> str | None:
        for index in indices:
            tensor = optional_input(node, index)
            if tensor is not None and not is_constant(tensor):
                return f"input {index} is computed"
        return None

    return NodeRule("constants", f"input {', '.join(map(str, indices))} is constant", check)


def result_types(allowed: tuple[str, ...]) -> NodeRule:
    """The first output has one of the types."""

    def check(node: gs.Node) -> str | None:
        name = type_name(node.outputs[0])
        return None if name in allowed else f"the result is {name}"

    return NodeRule("result_type", f"the result is {type_words(allowed)}", check)


def rank(*allowed: int) -> NodeRule:
    """The first input has one of these ranks."""

    def check(node: gs.Node) -> str | None:
        found = len(shape_of(node.inputs[0]))
        return None if found in allowed else f"rank is {found}"

    return NodeRule("rank", f"the input has rank {' or '.join(map(str, allowed))}", check)


def attribute_is(name: str, default: object, *allowed: object) -> NodeRule:
    """An attribute has one of these values."""

    def check(node: gs.Node) -> str | None:
        value = node.attrs.get(name, default)
        value = value.decode() if isinstance(value, bytes) else value
        return None if value in allowed else f"{name} is {value}"

    return NodeRule(name, f"{name} is {' or '.join(map(str, allowed))}", check)


def first_broken(node: gs.Node, rules: tuple[NodeRule, ...]) -> str | None:
    """The value that breaks the first violated rule; None if all rules hold."""
    for rule in rules:
        value = rule.check(node)
        if value is not None:
            return value
    return None
