"""Chooses the nodes to expand, and expands them."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_core.load.composites import PREVIEWS, is_composite, standard_body
from match_core.load.operands import check_operands
from match_core.load.static.bodies import function_body, resolved
from match_core.load.static.control import take_if, take_loop, take_scan
from match_core.load.static.fills import take_constant_of_shape, take_range
from match_core.load.static.infer import infer_node
from match_core.load.static.sequences import OPERATORS
from match_core.load.static.values import OURS, Body, Call, Scope, Value, static_shape
from match_core.load.written.table import may_have_body, written_body

if TYPE_CHECKING:
    import onnx

    from match_core.load.static.walk import Expander, Walk

_CONTROL = {"If": take_if, "Loop": take_loop, "Scan": take_scan}
_FILLS = {"Range": take_range, "ConstantOfShape": take_constant_of_shape}


def expander(library: Mapping[tuple[str, str], onnx.FunctionProto], composites: bool) -> Expander:
    """A function that expands a node: it returns the values of the outputs, or None for a node that stays.
    ``composites``: whether the standard's bodies replace composite operators."""

    def expand(walk: Walk, call: Call) -> list[Value] | None:
        node = call.node
        function = library.get((node.domain, node.op_type))
        if function is not None:
            return _function(walk, call, function)
        if node.domain in ("", "ai.onnx"):
            if node.op_type in _CONTROL:
                return _CONTROL[node.op_type](walk, call)
            if node.op_type in _FILLS:
                return _FILLS[node.op_type](walk, call)
            if node.op_type in OPERATORS:
                return OPERATORS[node.op_type](walk, call)
            if node.op_type == "Identity" and (not call.scope.is_main or not isinstance(call.input(0), str)):
                return [call.input(0)]
        return _composite(walk, call) if composites or node.domain in PREVIEWS else None

    return expand


def _function(walk: Walk, call: Call, function: onnx.FunctionProto) -> list[Value]:
    key = (call.node.domain, call.node.op_type)
    walk.limits.enter(call.scope, call.path, key)
    return _enter(walk, call, function_body(resolved(function, call.node)), key, {})


def _composite(walk: Walk, call: Call) -> list[Value] | None:
    """Expand the standard's or the compiler's body for the node's types and attributes; None if there is none."""
    import onnx

    if not is_composite(call.node) and not may_have_body(call.node):
        return None
    if call.node.op_type == "DequantizeLinear" and all(map(walk.is_fixed, call.inputs)):
        return None  # weights stay quantised, with their scales per block
    plain = onnx.NodeProto()
    plain.CopyFrom(call.node)
    del plain.input[:]
    plain.input.extend(walk.tensor(value, call) for value in call.inputs)
    found, where = infer_node(plain, walk.types, walk.known, walk.opsets), f"{walk.source}, node {call.origin!r}"
    types = {name: walk.types[name] for name in plain.input if name in walk.types} | found
    shapes = {name: shape for name, kind in types.items() if (shape := static_shape(kind)) is not None}
    check_operands(plain, shapes, None, where)
    weights = {name: onnx.numpy_helper.to_array(walk.weights[name]) for name in plain.input if name in walk.weights}
    function = written_body(plain, walk.types, ChainMap(weights, walk.known), walk.opsets, where)
    function = function or (standard_body(plain, walk.types, walk.opsets) if is_composite(plain) else None)
    if function is None:
        return None
    key = (call.node.domain, f"{call.node.op_type}{OURS}")
    walk.limits.enter(call.scope, call.path, key)
    return _enter(walk, call, function_body(resolved(function, plain)), key, shapes)


def _enter(
    walk: Walk, call: Call, body: Body, key: tuple[str, str], shapes: Mapping[str, tuple[int, ...]]
) -> list[Value]:
    """Walk a function's body, which cannot use names of the caller."""
    stated = {
        inner: shape
        for position, (inner, outer) in enumerate(zip(body.outputs, call.node.output, strict=False))
        if (shape := call.stated(position) or shapes.get(outer)) is not None
    }
    outer = call.scope
    depth = walk.limits.nest(outer, call.path)
    scope = Scope(call.path, call.origin, None, {}, stated, (*outer.callers, key), outer.repeated, depth)
    return walk.body(body, call.inputs, scope)
