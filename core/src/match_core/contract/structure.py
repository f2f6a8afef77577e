"""The pattern language: structure with captures, optional nodes, alternatives, and named constraints.

A pattern is written from its result backwards, as data::

    Op("match.arith::Requant", "requant", (
        Op("match.nhwc::ConvInteger", "conv", (Maybe(Op("Pad", "pad", (Any("x"),))), Const("weight"))),
        Const("multiplier"), Const("addend"), Const("divisor"), Const("lo"), Const("hi")))

Matching walks from the result's inputs upwards. A node inside the pattern (not its result) must have a single consumer,
because fusing it hides its value from others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Any:
    """Any activation tensor (not a constant), captured."""

    capture: str


@dataclass(frozen=True, slots=True)
class Const:
    """A constant tensor, captured."""

    capture: str


@dataclass(frozen=True, slots=True)
class Op:
    """A node of one of these operators (``domain::Op``, alternatives joined by ``|``) with its input structures in
    order. Further inputs may be constants, which are not inspected; without structures, inputs may be anything.
    ``commutative``: the first two inputs may be swapped."""

    op: str
    capture: str
    inputs: tuple[Structure, ...] = ()
    commutative: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The operator names."""
        return tuple(self.op.split("|"))


@dataclass(frozen=True, slots=True)
class Maybe:
    """An optional node: ``op`` if it is present, else whatever matches its first input structure."""

    op: Op


@dataclass(frozen=True, slots=True)
class OneOf:
    """The first alternative that matches."""

    options: tuple[Structure, ...]


#: The elements of patterns.
Structure = Union[Any, Const, Op, Maybe, OneOf]


def operators_of(structure: object) -> Iterator[str]:
    """The names of all operators in a structure, or of a claim."""
    yield from getattr(structure, "names", ())
    for part in ("inputs", "options"):
        for inner in getattr(structure, part, ()):
            yield from operators_of(inner)
    if isinstance(structure, Maybe):
        yield from operators_of(structure.op)


@dataclass(frozen=True)
class Match:
    """A place in the graph where a structure fits. ``nodes`` in topological order; captures by name. ``results``: the
    outputs of a region with several outputs; empty: all outputs of the last node."""

    nodes: tuple[gs.Node, ...]
    captures: Mapping[str, gs.Node | gs.Tensor]
    results: tuple[gs.Variable, ...] = ()

    def has(self, capture: str) -> bool:
        """Whether the (optional) capture is present."""
        return capture in self.captures

    def node(self, capture: str) -> gs.Node:
        """The captured node."""
        return self.captures[capture]

    def tensor(self, capture: str) -> gs.Tensor:
        """The captured tensor."""
        return self.captures[capture]

    def const(self, capture: str) -> NDArray[np.generic]:
        """The values of a captured constant."""
        values: NDArray[np.generic] = self.captures[capture].values
        return values

    def shape(self, capture: str) -> tuple[int, ...]:
        """The static shape of a captured tensor."""
        return tuple(int(size) for size in self.captures[capture].shape)

    @property
    def output(self) -> gs.Variable:
        """The tensor that a match with one result produces."""
        return self.nodes[-1].outputs[0]

    @property
    def outputs(self) -> tuple[gs.Variable, ...]:
        """The tensors that the match produces, in the order of its kernel's arguments."""
        return self.results or tuple(self.nodes[-1].outputs)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule with a name and a one-line description in words. ``check`` returns None if the rule holds, else the value
    that broke it ("stride is 3x3"). The check, the message and the support table use the description."""

    name: str
    description: str
    check: Callable[[Match], str | None]
