"""Converts models of opsets 1 to 5 to opset 6. Most operators only lost ``consumed_inputs``, a hint without effect on
results. ONNX's converter has no rule for the others, so they are rewritten here or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.errors import ModelError
from match_core.ir.inference import inferred

if TYPE_CHECKING:
    import onnx

#: The opset that models are converted to.
FIRST = 6
#: Operators that mean the same in all these opsets, except for the attribute ``consumed_inputs``.
_SAME = (
    *("Abs", "Add", "BatchNormalization", "Ceil", "Clip", "Div", "Dropout", "Elu", "Exp", "Floor", "Gemm"),
    *("HardSigmoid", "InstanceNormalization", "LeakyRelu", "Log", "Max", "Mean", "Min", "Mul", "Neg", "PRelu"),
    *("Reciprocal", "Relu", "Sigmoid", "Sqrt", "Sub", "Sum", "Tanh"),
)


def to_first(proto: onnx.ModelProto, version: int, source: str) -> None:
    """Convert the model from opset ``version`` to opset 6 (in place).

    Errors: ModelError MATCH-F005 (an operator had another meaning before).
    """
    import onnx

    for node in proto.graph.node:
        if node.domain not in ("", "ai.onnx") or not onnx.defs.has(node.op_type, FIRST, ""):
            continue
        kept = [attribute for attribute in node.attribute if attribute.name != "consumed_inputs"]
        del node.attribute[:]
        node.attribute.extend(kept)
        since = onnx.defs.get_schema(node.op_type, FIRST, "").since_version
        if since > version and node.op_type not in _SAME and not _rewritten(proto, node):
            raise ModelError(
                "MATCH-F005",
                f"the model cannot be converted from opset {version} to {FIRST}",
                f"{source}, node {node.name!r} ({node.op_type})",
                f"the inputs or attributes of this operator changed in opset {since}",
                ("export the model with a newer opset",),
            )
    for entry in proto.opset_import:
        if entry.domain in ("", "ai.onnx"):
            entry.version = FIRST


def _rewritten(proto: onnx.ModelProto, node: onnx.NodeProto) -> bool:
    """Rewrite the node for opset 6 (in place); False if that is not possible."""
    import onnx

    given = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type == "Concat":
        if "axis" not in given:
            node.attribute.append(onnx.helper.make_attribute("axis", 1))
        return True
    if node.op_type == "Pad" and "paddings" in given:
        given["paddings"].name = "pads"
        return True
    if node.op_type == "Reshape" and "shape" in given:
        name = f"{node.name}/shape"
        values = np.array(given["shape"].ints, np.int64)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
        proto.graph.input.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, values.shape))
        del node.attribute[:]
        node.input.append(name)
        return True
    if node.op_type == "Cast" and "to" in given:
        kind = given["to"].s.decode("ascii", "replace").upper()
        known = kind in onnx.TensorProto.DataType.keys()  # noqa: SIM118 (an enumeration of protobuf, no mapping)
        if known:
            given["to"].CopyFrom(onnx.helper.make_attribute("to", onnx.TensorProto.DataType.Value(kind)))
        return known
    return False


def slopes_by_channel(proto: onnx.ModelProto) -> None:
    """Give the slopes of PRelu, which belong to axis 1 until opset 6, the axes that opset 7 requires (in place)."""
    import onnx

    graph = inferred(proto, strict=False).graph
    ranks = {v.name: len(v.type.tensor_type.shape.dim) for v in (*graph.input, *graph.value_info)}
    for name, rank in [(n.input[1], ranks.get(n.input[0], 0)) for n in proto.graph.node if n.op_type == "PRelu"]:
        for slope in (t for t in proto.graph.initializer if t.name == name and len(t.dims) == 1 and t.dims[0] > 1):
            slope.dims.extend([1] * (rank - 2))
            for stated in (v.type.tensor_type.shape for v in proto.graph.input if v.name == name):
                stated.CopyFrom(onnx.TensorShapeProto(dim=[{"dim_value": size} for size in slope.dims]))
