"""A region as a model of its own, the input of its unit's passes: valid ONNX that ONNX Runtime runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import OPSET, Model
from match_core.ir.functions import ensure_functions

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.region import Region


def region_model(region: Region, name: str = "region") -> Model:
    """A copy of the region (values of constants are shared, never changed in place). Inputs and outputs are the
    region's in its order, under their names; each node's origin is the node of that name.

    Functions that a target's passes defined are not copied: ONNX Runtime cannot run a node that calls one."""
    import onnx_graphsurgeon as gs

    copies: dict[str, gs.Tensor] = {}

    def copy(tensor: gs.Tensor) -> gs.Tensor:
        if tensor.is_empty():
            return gs.Variable.empty()
        if tensor.name not in copies:
            copies[tensor.name] = tensor.copy()
        return copies[tensor.name]

    nodes = [
        gs.Node(
            node.op,
            node.name,
            dict(node.attrs),
            [copy(tensor) for tensor in node.inputs],
            [copy(tensor) for tensor in node.outputs],
            domain=node.domain,
        )
        for node in region.nodes
    ]
    graph = gs.Graph(
        nodes=nodes,
        inputs=[copy(tensor) for tensor in region.inputs],
        outputs=[copy(tensor) for tensor in region.outputs],
        name=name,
        opset=OPSET,
    )
    ensure_functions(graph)
    return Model(name, graph, provenance={node.name: (node.name,) for node in nodes})
