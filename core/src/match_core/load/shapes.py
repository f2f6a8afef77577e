"""Infers static shapes and types of every tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError
from match_core.ir.inference import inferred as with_shapes
from match_core.ir.qoperator import expand
from match_core.load.bounds import largest_shapes, state_shapes
from match_core.load.integer_operators import DOMAIN, stand_in

if TYPE_CHECKING:
    import onnx


def infer_shapes(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    """The model with all types and shapes of intermediate tensors that can be inferred. They must agree with those
    that the model states. Results whose size depends on data get their largest size, if that is known.

    Errors: ModelError MATCH-F006 (shapes or types contradict each other).
    """
    import onnx

    shadow = _without_contrib(proto)
    try:
        inferred = with_shapes(shadow)
        if largest := largest_shapes(inferred):
            state_shapes(shadow, largest)
            inferred = with_shapes(shadow)
    except (onnx.shape_inference.InferenceError, ValueError) as error:  # ValueError: a missing type
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        what, why = "shapes and types of the model contradict each other", " ".join(lines)[:400]
        help_ = ("check the model with onnx.checker.check_model(..., full_check=True)",)
        raise ModelError("MATCH-F006", what, source, why or "inference gives no reason", help_) from error
    names = {name for node in proto.graph.node for name in node.output}
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.graph.value_info[:]
    result.graph.value_info.extend(info for info in inferred.graph.value_info if info.name in names)
    for output, better in zip(result.graph.output, inferred.graph.output, strict=True):
        output.CopyFrom(better)
    return result


def _without_contrib(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy in which standard operators replace those that ONNX does not know."""
    import onnx

    shadow = onnx.ModelProto()
    shadow.CopyFrom(proto)
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer if _is_small(t)}
    nodes: list[onnx.NodeProto] = []
    for node in proto.graph.node:
        if node.domain == DOMAIN:
            standing, initializers = stand_in(node)
            nodes.extend(standing)
            shadow.graph.initializer.extend(initializers)
            continue
        expansion = expand(node, constants) if node.domain not in ("", "ai.onnx") else None
        nodes.extend(expansion.nodes if expansion is not None else [node])
        shadow.graph.initializer.extend(expansion.initializers if expansion is not None else [])
    del shadow.graph.node[:]
    shadow.graph.node.extend(nodes)
    return shadow


def _is_small(tensor: onnx.TensorProto) -> bool:
    """Scales and zero points; weights are not needed here."""
    size = 1
    for dimension in tensor.dims:
        size *= dimension
    return size <= 1 << 16
