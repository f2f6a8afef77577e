"""Chains for one primitive: an operator with following operators that oneDNN applies before it stores the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.geometry import channels_last
from match_core.ir.reader import constant_input, shape_of

from match_dnnl.functions import argument_of, posts_of
from match_dnnl.graph import given, result

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core import Region

_CONVOLUTIONS = frozenset(("Conv", "match.nhwc::Conv"))
_PRODUCTS = frozenset(("MatMul", "Gemm"))
_BINARY = frozenset(("Add", "Div", "Max", "Min", "Mul", "Sub"))
#: Operators that take functions of their result along.
_ANCHORS = _CONVOLUTIONS | _PRODUCTS | {"ConvTranspose"} | _BINARY
#: oneDNN takes 32; its code for one pass over the result grows with each.
POSTS_MAX = 8


@dataclass(frozen=True, slots=True)
class Link:
    """An operator after another one. ``kind``: "function" of one value, "bias" and "channel": combined with a constant
    that differs only between channels, "sum": added to another tensor of this shape. ``operand``: its other
    input."""

    node: gs.Node
    kind: str
    operand: gs.Tensor | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The operator and its links in order."""

    node: gs.Node
    links: tuple[Link, ...] = ()

    @property
    def output(self) -> gs.Variable:
        """The result of the chain."""
        return result(self.links[-1].node if self.links else self.node)


def chains_of(region: Region) -> tuple[Chain, ...]:
    """All nodes of the region in chains, in an order in which they can be computed: each at its last node."""
    leaving = {tensor.name for tensor in region.outputs}
    readers: dict[str, list[gs.Node]] = {}
    for node in region.nodes:
        for tensor in given(node):
            readers.setdefault(tensor.name, []).append(node)
    position = {node.name: number for number, node in enumerate(region.nodes)}
    taken: set[str] = set()
    chains: dict[int, Chain] = {}
    for node in region.nodes:
        if node.name in taken:
            continue
        chain = Chain(node)
        while (link := _next(chain, readers, leaving)) is not None and link.node.name not in taken:
            chain = Chain(node, (*chain.links, link))
        last = chain.links[-1].node if chain.links else node
        taken.update((node.name, *(link.node.name for link in chain.links)))
        chains[position[last.name]] = chain
    return tuple(chains[number] for number in sorted(chains))


def _next(chain: Chain, readers: dict[str, list[gs.Node]], leaving: set[str]) -> Link | None:
    """The only reader of what the chain makes, where the primitive can take it along."""
    made, op = chain.output, qualified_op(chain.node)
    behind = readers.get(made.name, [])
    if op not in _ANCHORS or posts_of(chain.node) is not None or len(chain.links) == POSTS_MAX:
        return None
    if made.name in leaving or len(behind) != 1:
        return None
    node = behind[0]
    if shape_of(result(node)) != shape_of(made):
        return None
    if posts_of(node) is not None:
        return Link(node, "function") if argument_of(node).name == made.name else None
    if op in _BINARY or qualified_op(node) not in _BINARY or len(node.inputs) != 2:
        return None
    return _combined(chain, node, made)


def _combined(chain: Chain, node: gs.Node, made: gs.Variable) -> Link | None:
    """The link of a combination with another tensor."""
    op, first = qualified_op(node), node.inputs[0].name == made.name
    other = node.inputs[1] if first else node.inputs[0]
    anchor = qualified_op(chain.node)
    if other.name == made.name or (op in ("Sub", "Div") and not first):
        return None
    array = constant_input(node, 1 if first else 0)
    if array is not None:
        if not _per_channel(chain.node, array.shape, len(shape_of(made))):
            return None
        biased = op == "Add" and not chain.links and _takes_bias(chain.node)
        return Link(node, "bias" if biased else "channel", other)
    summed = op == "Add" and shape_of(other) == shape_of(made) and anchor in _CONVOLUTIONS | _PRODUCTS
    unused = all(link.kind == "bias" for link in chain.links)
    return Link(node, "sum", other) if summed and unused else None


def channel_axis(node: gs.Node, rank: int) -> int:
    """The axis along which values per channel of a chain's operator lie."""
    return rank - 1 if channels_last(node) or qualified_op(node) in _PRODUCTS else 1


def _per_channel(node: gs.Node, sizes: Sequence[int], rank: int) -> bool:
    axis = channel_axis(node, rank) - rank + len(sizes)
    return len(sizes) <= rank and all(size == 1 or number == axis for number, size in enumerate(sizes))


def _takes_bias(node: gs.Node) -> bool:
    """Whether there is no bias yet, or one that is known. A product of matrices has none of its own."""
    position = 2
    if len(node.inputs) <= position or node.inputs[position].is_empty():
        return True
    return constant_input(node, position) is not None
