"""Sums of two activations: groups that share one scale.

The unit adds two int8 tensors, shifts and clips; it has no multiplier and no addend for them. So both operands and the
result get one scale and zero point 0, and the sum is exact. Tensors that meet in several sums, as in chains of residual
blocks, share it throughout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_quant.powers.graph import Activation, QuantisedGraph

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def sum_groups(graph: QuantisedGraph) -> tuple[tuple[Activation, ...], ...]:
    """The activations that meet in sums, directly or by way of others."""
    group_of: dict[int, dict[int, Activation]] = {}
    for node in graph.editor.graph.nodes:
        joined: dict[int, Activation] = {}
        for member in sum_members(graph, node):
            joined.update(group_of.get(id(member), {id(member): member}))
        group_of.update(dict.fromkeys(joined, joined))
    found = {id(group): tuple(group.values()) for group in group_of.values()}
    return tuple(found.values())


def sum_members(graph: QuantisedGraph, quantize: gs.Node) -> tuple[Activation, ...]:
    """Operands and result of the sum that a QuantizeLinear rounds; none where it or one of them must
    stay as it is."""
    site = graph.site(quantize) if quantize.op == "QuantizeLinear" else None
    if (
        site is None
        or site.op.op != "Add"
        or not graph.changes(site)
        or any(shape_of(tensor) != site.real_shape for tensor in site.op.inputs)
    ):
        return ()
    found = (*(graph.source(tensor) for tensor in site.op.inputs), graph.of(quantize.outputs[0]))
    members = tuple(member for member in found if member is not None and not member.fixed)
    return members if len(members) == len(found) else ()
