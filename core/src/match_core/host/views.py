"""Views: operators whose result is their input's bytes under another shape, so that no code is needed.

Graph inputs and outputs are buffers of the caller. A chain of views can therefore hold one of them at most: a view
that would join a second one to it is left to the kernel that copies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.host.graph import integers, is_constant, shape_of
from match_core.host.kernels.movement import SAME_BYTES
from match_core.host.kernels.scalar import STORED_TYPES
from match_core.host.rules import INFERENCE, ONE_OUTPUT, STATIC, first_broken, types
from match_core.ir.model import qualified_op
from match_core.patterns.language import Match
from match_core.patterns.rules import NodeRule
from match_core.patterns.topology import Topology

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
