"""Any function of one 8-bit tensor, element by element, becomes a table of 256 values.

Exporters quantise between the steps of a function: GELU is Erf, Add, Mul, Mul, each followed by QuantizeLinear and
DequantizeLinear, and reads its input twice. So the search goes upwards through quantised tensors until everything
depends on one of them; the table holds the result of all steps with all roundings between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.ir.reader import Quant, Site, constant, producer, quant_of, shape_of

from match_quant.integer_graph import IntegerGraph
from match_quant.table_region import constant_of, evaluate, number_of
from match_quant.tables import all_codes, apply_table

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_ELEMENTWISE = frozenset(
    [
        "Abs",
        "Acos",
        "Acosh",
        "Add",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Cast",
        "Ceil",
        "Celu",
        "Clip",
        "Cos",
        "Cosh",
        "Div",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Identity",
        "LeakyRelu",
        "Log",
        "Max",
        "Min",
        "Mish",
        "Mul",
        "Neg",
        "PRelu",
        "Pow",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Sub",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
    ]
)
#: Most operators that are folded into one table.
_MAX_NODES = 64


def table(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Element-wise operators, scalar constants and inner quantisers that depend on one quantised tensor."""
    region = _search(graph, site)
    if region is None:
        return None
    (leaf,) = region.leaves.values()
    source = graph.source(leaf.readers[0].outputs[0])
    stored = graph.stored(site.quant)
    if source is None or source[1].dtype != stored.dtype or stored.dtype.itemsize > 1:
        return None  # tables map a type of 8 bits to itself
    values = evaluate(region.nodes, leaf.readers, site.quantize.inputs[0], source[1])
    if values is None:
        return None
    results = all_codes(stored, values)
    origin = graph.editor.origin(*leaf.readers, *region.nodes, site.quantize)
    return apply_table(graph, source[0], results, stored, site.op.name, origin)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A quantised tensor that the region reads through these DequantizeLinear nodes with the same parameters."""

    tensor: gs.Tensor
    quant: Quant
    readers: tuple[gs.Node, ...]


@dataclass(slots=True)
class _Region:
    """``leaves`` by id of their tensor; ``members``: ids of all visited nodes, including readers of the leaves."""

    shape: tuple[int, ...]
    nodes: list[gs.Node] = field(default_factory=list)
    leaves: dict[int, _Leaf] = field(default_factory=dict)
    members: set[int] = field(default_factory=set)

    def copy(self) -> _Region:
        """A copy that can grow independently."""
        return _Region(self.shape, list(self.nodes), dict(self.leaves), set(self.members))

    def take(self, tensor: gs.Tensor) -> list[gs.Node] | None:
        """The new operators that compute a float tensor, up to DequantizeLinear nodes, whose tensors become leaves;
        None if one of them is not element-wise."""
        values = constant_of(tensor)
        if values is not None:
            return [] if number_of(values) is not None else None
        node = producer(tensor)
        if node is None or tensor.shape is None or shape_of(tensor) != self.shape:
            return None
        if id(node) in self.members:
            return []
        self.members.add(id(node))
        if node.op == "DequantizeLinear":
            return [] if self._read(node) else None
        if node.op not in _ELEMENTWISE or (node.domain or "") not in ("", "ai.onnx") or len(self.members) > _MAX_NODES:
            return None
        found: list[gs.Node] = []
        for given in node.inputs:
            behind = [] if given.is_empty() else self.take(given)
            if behind is None:
                return None
            found += behind
        return [*found, node]

    def through(self, leaf: _Leaf) -> _Region | None:
        """The region extended by the operators that compute a leaf; None if one of them is not element-wise."""
        maker = producer(leaf.tensor)
        if maker is None or maker.op != "QuantizeLinear" or quant_of(maker, leaf.tensor.dtype) is None:
            return None
        grown = self.copy()
        del grown.leaves[id(leaf.tensor)]
        behind = grown.take(maker.inputs[0])
        if behind is None:
            return None
        grown.nodes = [*behind, maker, *leaf.readers, *grown.nodes]
        grown.members.add(id(maker))
        return grown

    def _read(self, node: gs.Node) -> bool:
        tensor = node.inputs[0]
        quant = quant_of(node, tensor.dtype) if tensor.dtype is not None else None
        known = self.leaves.get(id(tensor))
        if quant is None or constant(tensor) is not None or (known is not None and known.quant != quant):
            return False
        self.leaves[id(tensor)] = _Leaf(tensor, quant, (*(known.readers if known is not None else ()), node))
        return True


def _search(graph: IntegerGraph, site: Site) -> _Region | None:
    """The largest region with one leaf, its nodes in topological order. It grows through the leaf that is computed
    last, because that one may depend on others; it passes a leaf with other readers only if the region has more
    leaves."""
    region = _Region(site.real_shape)
    behind = region.take(site.quantize.inputs[0])
    if behind is None or not region.leaves:
        return None
    region.nodes = behind
    best: _Region | None = None
    while True:
        leaves = list(region.leaves.values())
        if len(leaves) == 1:
            region.nodes.sort(key=graph.position)
            best = region
            if not _is_inner(graph, leaves[0], region):
                return best
        last = max(leaves, key=lambda leaf: graph.position(producer(leaf.tensor)))
        grown = region.through(last)
        if grown is None or len(grown.members) > _MAX_NODES or not grown.leaves:
            return best
        region = grown


def _is_inner(graph: IntegerGraph, leaf: _Leaf, region: _Region) -> bool:
    """Whether only the region reads the tensor."""
    if any(leaf.tensor is output for output in graph.editor.graph.outputs):
        return False
    return all(id(reader) in region.members for reader in leaf.tensor.outputs)
