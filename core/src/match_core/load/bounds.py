"""Upper bounds of sizes that depend on data: the most boxes that a non-max suppression can return."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from match_core.ir.naming import comment_text
from match_core.load.static.values import static_shape, static_shapes

if TYPE_CHECKING:
    import onnx

Shape = tuple[int, ...]
_OPERATOR = "NonMaxSuppression"


def largest_shapes(proto: onnx.ModelProto) -> dict[str, Shape]:
    """The largest shapes, by name, of results whose shape is unknown but bounded: [batch x classes x boxes per class,
    3] for a NonMaxSuppression with a constant limit. ``proto`` has inferred shapes."""
    if not any(node.op_type == _OPERATOR for node in proto.graph.node):
        return {}
    known = static_shapes((*proto.graph.input, *proto.graph.value_info, *proto.graph.output))
    known.update((tensor.name, tuple(tensor.dims)) for tensor in proto.graph.initializer)
    found: dict[str, Shape] = {}
    for node in _suppressions(proto):
        boxes, scores, limit = known.get(node.input[0]), known.get(node.input[1]), _limit(node, proto)
        if node.output[0] not in known and boxes is not None and scores is not None and limit:
            found[node.output[0]] = (scores[0] * scores[1] * min(limit, boxes[1]), 3)
    return found


def state_shapes(proto: onnx.ModelProto, shapes: dict[str, Shape]) -> None:
    """Write shapes of int64 results into the proto."""
    import onnx

    outputs = {value.name: value for value in proto.graph.output}
    for name, shape in shapes.items():
        value = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, shape)
        if name in outputs:
            outputs[name].CopyFrom(value)
        else:
            kept = [other for other in proto.graph.value_info if other.name != name]
            del proto.graph.value_info[:]
            proto.graph.value_info.extend([*kept, value])


def room_notes(proto: onnx.ModelProto) -> tuple[str, ...]:
    """Notes for the user about such results: how many rows they have, and what unused rows hold."""
    values = {value.name: value for value in (*proto.graph.value_info, *proto.graph.output)}
    notes = []
    for node in _suppressions(proto):
        shape = static_shape(values[node.output[0]].type) if node.output[0] in values else None
        if shape is not None:
            name = comment_text(node.name)
            notes.append(f"{_OPERATOR} {name} has room for {shape[0]} boxes; unused rows hold -1")
    return tuple(notes)


def _suppressions(proto: onnx.ModelProto) -> Iterable[onnx.NodeProto]:
    return (n for n in proto.graph.node if n.op_type == _OPERATOR and n.domain in ("", "ai.onnx") and len(n.input) > 1)


def _limit(node: onnx.NodeProto, proto: onnx.ModelProto) -> int | None:
    """The most boxes per class; None if that is not a constant."""
    import onnx

    name = node.input[2] if len(node.input) > 2 else ""
    tensors = {tensor.name: tensor for tensor in proto.graph.initializer}
    for maker in proto.graph.node:
        if maker.op_type == "Constant" and maker.output[0] == name:
            tensors.update((name, a.t) for a in maker.attribute if a.name == "value")
    if name not in tensors:
        return None
    values = onnx.numpy_helper.to_array(tensors[name])
    return int(values.reshape(-1)[0]) if values.size == 1 else None
