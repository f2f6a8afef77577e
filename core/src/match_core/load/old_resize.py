"""The meaning of Upsample and Resize before opset 11, which ONNX's version converter does not preserve."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

#: The first opset whose Resize states how coordinates are computed.
SAYS_COORDINATES = 11
_OLD = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def state_coordinates(proto: onnx.ModelProto, version: int) -> None:
    """State the coordinates and the rounding of models older than opset 11 in their Resize nodes (in place): results
    lie at ``x / scale``, and the nearest element is found by rounding down. ``version``: the model's original opset."""
    if version < SAYS_COORDINATES:
        _state(proto.graph)


def _state(graph: onnx.GraphProto) -> None:
    import onnx

    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _state(attribute.g)
        if node.op_type == "Resize" and node.domain in ("", "ai.onnx"):
            known = {attribute.name for attribute in node.attribute}
            missing = ((name, value) for name, value in _OLD.items() if name not in known)
            node.attribute.extend(onnx.helper.make_attribute(*entry) for entry in missing)
