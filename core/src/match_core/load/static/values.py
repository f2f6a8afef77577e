"""Values of the source's names during the walk over a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

Array = NDArray[np.generic]
#: Larger constants are weights, not sizes.
MOST_ELEMENTS = 4096


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence of static length."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Absent:
    """An empty optional."""


#: The name of a tensor in the new graph (empty for an omitted input), or a value that is not a tensor.
Value = str | Sequence | Absent


@dataclass(frozen=True, slots=True)
class Body:
    """The nodes of a branch, the body of a loop, or a function. Every node has a name; ``constants`` are the
    initialisers and the values of Constant nodes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[onnx.NodeProto, ...]
    constants: tuple[onnx.TensorProto, ...] = ()


#: Ends the names of functions whose bodies are not in the user's file.
OURS = " of the standard"


@dataclass(frozen=True, slots=True)
class Scope:
    """Names of one body. ``path`` prefixes new names, ``origin`` source names; ``stated`` are shapes that results must
    have; ``callers`` the enclosing functions; ``repeated`` whether a loop encloses the body."""

    path: str = ""
    origin: str = ""
    outer: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    stated: dict[str, tuple[int, ...]] = field(default_factory=dict)
    callers: tuple[tuple[str, str], ...] = ()
    repeated: bool = False
    depth: int = 0

    @property
    def is_main(self) -> bool:
        """Whether these are the names of the model's own graph."""
        return not self.path

    @property
    def is_ours(self) -> bool:
        """Whether the body is not in the user's file: its nodes have no names there."""
        return any(name.endswith(OURS) for _, name in self.callers)

    def find(self, name: str) -> Value:
        """The value of the name in this scope or an enclosing one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return name


@dataclass(frozen=True, slots=True)
class Call:
    """A node during its expansion: ``inputs`` as found in its scope; ``path`` prefixes the names of new nodes."""

    node: onnx.NodeProto
    inputs: tuple[Value, ...]
    scope: Scope
    path: str
    origin: str

    def attribute(self, name: str, default: object = None) -> object:
        """An attribute's value."""
        import onnx

        for attribute in self.node.attribute:
            if attribute.name == name:
                return onnx.helper.get_attribute_value(attribute)
        return default

    def integer(self, name: str, default: int) -> int:
        """An attribute that is one integer."""
        value = self.attribute(name, default)
        return value if isinstance(value, int) else default

    def integers(self, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """An attribute that lists integers; ``default`` where it is absent or empty."""
        value = self.attribute(name)
        return tuple(value) if isinstance(value, list) and value else default

    def input(self, position: int) -> Value:
        """The input at that position, empty if there is none."""
        return self.inputs[position] if position < len(self.inputs) else ""

    def stated(self, position: int) -> tuple[int, ...] | None:
        """The shape that the model states for the result at that position."""
        return self.scope.stated.get(self.node.output[position]) if position < len(self.node.output) else None


def static_shape(kind: onnx.TypeProto | None) -> tuple[int, ...] | None:
    """The shape of a tensor type; None unless all sizes are numbers."""
    if kind is None or not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return None
    dims = kind.tensor_type.shape.dim
    return tuple(d.dim_value for d in dims) if all(d.HasField("dim_value") and d.dim_value >= 0 for d in dims) else None


def static_shapes(values: Iterable[onnx.ValueInfoProto]) -> dict[str, tuple[int, ...]]:
    """The shapes of those tensors whose sizes are all numbers, by name."""
    return {value.name: shape for value in values if (shape := static_shape(value.type)) is not None}
