"""What Upsample and Resize meant before opset 11, which ONNX's version converter does not carry over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

#: The first opset whose Resize says how coordinates are found.
SAYS_COORDINATES = 11
_OLD = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def state_coordinates(proto: onnx.ModelProto, version: int) -> None:
    """Write the coordinates and the rounding of models older than opset 11 into their Resize nodes (in place): results
    lie at ``x / scale``, and the nearest element is the one before. ``version``: the opset that the model came with."""
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
            node.attribute.extend(
                onnx.helper.make_attribute(name, value) for name, value in _OLD.items() if name not in known
            )
