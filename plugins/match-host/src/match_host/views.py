"""Views: operators whose result shares their input's bytes under another shape, without code.

Graph inputs and outputs are buffers of the caller. A chain of views can therefore contain at most one of them: for a
view that would add a second one, the copying kernel runs instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.node_rule import NodeRule
from match_core.contract.structure import Match
from match_core.ir.reader import shape_of
from match_core.ir.topology import Topology, is_constant

from match_host.graph import integers
from match_host.kernels.movement.movement import SAME_BYTES
from match_host.kernels.scalar import STORED_TYPES
from match_host.rules import INFERENCE, ONE_OUTPUT, STATIC, first_broken, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _moves_nothing(node: gs.Node) -> str | None:
    if node.op != "Transpose":
        return None
    shape = shape_of(node.inputs[0])
    order = integers(node, "perm", tuple(reversed(range(len(shape)))))
    moved = [axis for axis in order if shape[axis] != 1]
    return None if moved == sorted(moved) else f"axes {order} of {shape}"


def _inference(node: gs.Node) -> str | None:
    return INFERENCE.check(node) if node.op == "Dropout" else None


VIEW_OPS = (*SAME_BYTES, "Transpose")
VIEW_RULES = (
    STATIC,
    ONE_OUTPUT,
    types(STORED_TYPES, 0),
    NodeRule("order", "a Transpose only moves axes of size 1", _moves_nothing),
    NodeRule("inference", "a Dropout is not in training mode", _inference),
)


def find_views(graph: gs.Graph) -> tuple[Match, ...]:
    """All views of a graph that can share their input's bytes, in topological order."""
    topology = Topology.of(graph)
    root: dict[int, int] = {}  # tensor -> the tensor whose buffer it shares
    owned = {id(tensor) for tensor in (*graph.inputs, *graph.outputs)}  # roots whose buffer is the caller's
    matches = []
    for node in topology.nodes:
        if qualified_op(node) not in VIEW_OPS or first_broken(node, VIEW_RULES) is not None:
            continue
        source, result = node.inputs[0], node.outputs[0]
        if is_constant(source):
            continue
        base = root.get(id(source), id(source))
        if topology.is_output(result):
            if base in owned:
                continue
            owned.add(base)
        root[id(result)] = base
        matches.append(Match((node,), {"op": node, "x": source}))
    return tuple(matches)
