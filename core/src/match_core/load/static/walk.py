"""One walk over a model from inputs to outputs that produces plain operators.

At every node the walk knows the types of inputs, and the values of constant inputs. It replaces functions, branches
and loops with their nodes at once, under names that begin with the replaced node's; a node that computes sizes becomes
a constant; other nodes are copied.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.errors import ModelError
from match_core.ir.naming import comment_text
from match_core.load.static.bodies import constant_tensor
from match_core.load.static.evaluate import Evaluator
from match_core.load.static.infer import infer_node, type_of
from match_core.load.static.limits import Limits
from match_core.load.static.stated import stated_shapes
from match_core.load.static.values import (
    MOST_ELEMENTS,
    Array,
    Body,
    Call,
    Scope,
    Sequence,
    Value,
    static_shape,
    static_shapes,
)

if TYPE_CHECKING:
    import onnx

Origins = dict[str, tuple[str, ...]]
#: Expands a node: returns the values of its outputs, or None for a node that stays.
Expander = Callable[["Walk", Call], list[Value] | None]


class Walk:
    """The new graph during the walk: ``nodes``, and by name ``constants``, ``types`` and values (``known``)."""

    def __init__(self, proto: onnx.ModelProto, origins: Origins, source: str, expander: Expander) -> None:
        import onnx

        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.types: dict[str, onnx.TypeProto] = {
            v.name: v.type for v in proto.graph.input if v.type.WhichOneof("value")
        }
        self.known: dict[str, Array] = {}
        self.origins = dict(origins)
        self.source = source
        self.opsets = list(proto.opset_import)
        self.version = max((o.version for o in self.opsets if o.domain in ("", "ai.onnx")), default=1)
        self.limits = Limits(source)
        self._expander = expander
        self._evaluator = Evaluator(self.opsets)
        self._outputs = {value.name for value in proto.graph.output}
        self._numbers: dict[str, int] = {}
        self.weights = {tensor.name: tensor for tensor in proto.graph.initializer}
        self._fixed = {"", *self.weights}
        self._taken = {name for node in proto.graph.node for name in (node.name, *node.output)}
        self._taken |= {value.name for value in (*proto.graph.input, *proto.graph.output)}
        for tensor in proto.graph.initializer:
            self._taken.add(tensor.name)
            self.types[tensor.name] = type_of(tensor)
            if self._is_small(tensor):
                self.known[tensor.name] = onnx.numpy_helper.to_array(tensor)

    # ---- walking ------------------------------------------------------------------------------------------------

    def main(self, graph: onnx.GraphProto) -> Scope:
        """Walk the model's own graph. The values of its outputs are in the returned scope."""
        stated = static_shapes((*graph.value_info, *graph.output))
        scope = Scope(stated=stated_shapes(graph.node, stated, self.known))
        for node in graph.node:
            self._take(node, scope)
        return scope

    def body(self, body: Body, given: Many[Value], scope: Scope, hoisted: bool = False) -> list[Value]:
        """Walk a body in its own scope; returns its results in order. ``hoisted``: its constants exist already."""
        scope.names.update(zip(body.inputs, (*given, *[""] * len(body.inputs)), strict=False))
        if not hoisted:
            self.hoist(body, scope)
        stated = stated_shapes(body.nodes, scope.stated, self._values_of(body))
        scope.stated.update(stated)
        for node in body.nodes:
            self._take(node, scope)
        return [scope.find(name) for name in body.outputs]

    def hoist(self, body: Body, scope: Scope) -> None:
        """Add the constants of a body to the graph."""
        for tensor in body.constants:
            scope.names[tensor.name] = self.add_tensor(tensor, f"{scope.path}/{tensor.name}")

    def _values_of(self, body: Body) -> dict[str, Array]:
        import onnx

        return {t.name: onnx.numpy_helper.to_array(t) for t in body.constants if len(t.dims) == 0}

    def _take(self, node: onnx.NodeProto, scope: Scope) -> None:
        name = node.name
        path = name if scope.is_main else self.fresh(f"{scope.path}/{name}")
        origin = scope.origin if scope.is_ours else name if scope.is_main else f"{scope.origin}/{name}"
        self.limits.count(scope, path)
        call = Call(node, tuple(scope.find(n) if n else "" for n in node.input), scope, path, origin)
        results = self._expander(self, call)
        if results is None:
            results = self._copied(call)
        for output, value in zip(node.output, results, strict=False):
            if output:
                scope.names[output] = value

    def _copied(self, call: Call) -> list[Value]:
        """Copy the node, with the names of the new graph."""
        import onnx

        node = onnx.NodeProto()
        node.CopyFrom(call.node)
        del node.input[:], node.output[:]
        node.input.extend(self.tensor(value, call) for value in call.inputs)
        node.name = call.path
        main = call.scope.is_main
        node.output.extend(
            name and (name if main else self.fresh(f"{call.scope.path}/{name}")) for name in call.node.output
        )
        if not main:
            self.origins[call.path] = (call.origin,)
        stated = {
            new: shape
            for old, new in zip(call.node.output, node.output, strict=True)
            if (shape := call.scope.stated.get(old)) is not None
        }
        self._add(node, stated)
        return list(node.output)

    def _add(self, node: onnx.NodeProto, stated: dict[str, tuple[int, ...]]) -> None:
        """Append the node, or store its results as constants if they are known integers."""
        import onnx

        self.types.update(infer_node(node, self.types, self.known, self.opsets))
        for name, shape in stated.items():
            self._state(name, shape)
        tensor = constant_tensor(node)
        if tensor is not None and self._is_small(tensor):
            results: list[Array] | None = [onnx.numpy_helper.to_array(tensor)]
        else:
            results = self._evaluator.evaluate(node, self.known, self.types)
        if all(map(self.is_fixed, node.input)):
            self._fixed.update(node.output)
        if results is None:
            self.nodes.append(node)
            return
        exact = all(values.dtype.name in ("int64", "int32", "bool") for values in results)
        folds = exact and not self._outputs & set(node.output)
        for name, values in zip(node.output, results, strict=True):
            if name:
                self.known[name] = values
                if folds:
                    self._constant(name, values)
        if not folds:
            self.nodes.append(node)

    def _state(self, name: str, shape: tuple[int, ...]) -> None:
        """Use the shape that the model states if inference finds none."""
        import onnx

        kind = self.types.get(name)
        if kind is None or static_shape(kind) is not None or not kind.HasField("tensor_type"):
            return
        if kind.tensor_type.HasField("shape") and len(kind.tensor_type.shape.dim) != len(shape):
            return
        self.types[name] = onnx.helper.make_tensor_type_proto(kind.tensor_type.elem_type, shape)

    # ---- writing ------------------------------------------------------------------------------------------------

    def fresh(self, wanted: str) -> str:
        """A name that is not used yet."""
        name = wanted
        while name in self._taken:
            self._numbers[wanted] = self._numbers.get(wanted, 0) + 1
            name = f"{wanted}__{self._numbers[wanted]}"
        self._taken.add(name)
        return name

    def emit(
        self, call: Call, op: str, inputs: Many[str], suffix: str, outputs: int = 1, **attributes: object
    ) -> list[str]:
        """Add a node of the default domain for the expansion of ``call``; returns the names of its results."""
        import onnx

        name = self.fresh(f"{call.path}/{suffix}")
        made = [self.fresh(f"{name}/output_{index}") for index in range(outputs)]
        node = onnx.helper.make_node(op, list(inputs), made, name)
        node.attribute.extend(onnx.helper.make_attribute(key, value) for key, value in attributes.items())
        self.origins[name] = (call.origin,)
        self.limits.count(call.scope, name)
        self._add(node, {})
        return made

    def constant(self, values: Array, wanted: str) -> str:
        """The name of a new constant."""
        name = self.fresh(wanted)
        self._constant(name, values)
        return name

    def _constant(self, name: str, values: Array) -> None:
        import onnx

        tensor = onnx.numpy_helper.from_array(np.array(values, order="C"), name)
        self.limits.hold(name, values.nbytes)
        self.constants[name], self.types[name] = tensor, type_of(tensor)
        if values.size <= MOST_ELEMENTS:
            self.known[name] = np.asarray(values)

    def add_tensor(self, tensor: onnx.TensorProto, wanted: str) -> str:
        """Add a constant of a body to the graph; returns its name there."""
        import onnx

        name = self.fresh(wanted)
        own = onnx.TensorProto()
        own.CopyFrom(tensor)
        own.name = name
        self.limits.hold(name, own.ByteSize())
        self.constants[name], self.types[name] = own, type_of(own)
        if self._is_small(own):
            self.known[name] = onnx.numpy_helper.to_array(own)
        return name

    @staticmethod
    def _is_small(tensor: onnx.TensorProto) -> bool:
        """Whether to record the values of a constant: sizes, not weights."""
        import onnx

        return prod(tensor.dims) <= MOST_ELEMENTS and tensor.data_type != onnx.TensorProto.STRING

    # ---- looking up ---------------------------------------------------------------------------------------------

    def values(self, value: Value) -> Array | None:
        """The values of a tensor; None if they are not known."""
        return self.known.get(value) if isinstance(value, str) else None

    def is_fixed(self, value: Value) -> bool:
        """Whether a tensor depends on constants only."""
        return value in self._fixed or value in self.constants

    def shape(self, value: Value) -> tuple[int, ...] | None:
        """The shape of a tensor; None unless all of it is known."""
        return static_shape(self.types.get(value)) if isinstance(value, str) else None

    def tensor(self, value: Value, call: Call) -> str:
        """The name of a value that must be a tensor. Errors: ModelError MATCH-F008."""
        if isinstance(value, str):
            return value
        kind = "a sequence" if isinstance(value, Sequence) else "an empty optional"
        raise ModelError(
            "MATCH-F008",
            "only dense tensors of numbers are supported",
            self.where(call),
            f"the operator gets {kind}",
            ("sequences are supported if their length is fixed and only sequence operators read them",),
        )

    def where(self, call: Call) -> str:
        """The node's place for messages."""
        return f"{self.source}, node {call.origin!r} ({comment_text(call.node.op_type)})"
