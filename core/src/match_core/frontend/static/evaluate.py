"""The values of one node whose inputs are constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from match_core.frontend.static.values import MOST_ELEMENTS, Array, static_shape

if TYPE_CHECKING:
    import onnx

#: Results that are no function of the inputs.
_NEVER = frozenset(
    ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")
)
#: Results whose size depends on values, but is at most this many times that of the input.
_BOUNDED = {"NonZero": 8, "Compress": 1, "Unique": 1}


def evaluate(
    node: onnx.NodeProto,
    known: Mapping[str, Array],
    types: Mapping[str, onnx.TypeProto],
    opsets: Sequence[onnx.OperatorSetIdProto],
) -> list[Array] | None:
    """The node's results in order, each of at most ``MOST_ELEMENTS`` elements; None where they are not known.

    ``known`` has the values of inputs; ``types`` those of all inputs and outputs, as far as they could be inferred.
    Sizes are looked at before anything is computed, so that no model can ask for more memory than that.
    """
    if node.domain not in ("", "ai.onnx") or node.op_type in _NEVER or any(a.HasField("g") for a in node.attribute):
        return None
    if node.op_type in ("Shape", "Size"):
        return _sizes(node, types)
    if node.op_type != "Constant" and not node.input:
        return None
    if not all(name in known for name in node.input if name) or not _is_small(node, known, types):
        return None
    return _run(node, {name: known[name] for name in node.input if name}, opsets)


def _sizes(node: onnx.NodeProto, types: Mapping[str, onnx.TypeProto]) -> list[Array] | None:
    shape = static_shape(types.get(node.input[0]))
    if shape is None:
        return None
    if node.op_type == "Size":
        return [np.array(prod(shape), np.int64)]
    ends = {attribute.name: int(attribute.i) for attribute in node.attribute}
    return [np.array(shape[ends.get("start", 0) : ends.get("end", len(shape))], np.int64)]


def _is_small(node: onnx.NodeProto, known: Mapping[str, Array], types: Mapping[str, onnx.TypeProto]) -> bool:
    if node.op_type in _BOUNDED:
        return _BOUNDED[node.op_type] * known[node.input[0]].size <= MOST_ELEMENTS
    shapes = [static_shape(types.get(name)) for name in node.output if name]
    return all(shape is not None and prod(shape) <= MOST_ELEMENTS for shape in shapes)


def _run(
    node: onnx.NodeProto, feeds: dict[str, Array], opsets: Sequence[onnx.OperatorSetIdProto]
) -> list[Array] | None:
    import onnx
    from onnx.reference import ReferenceEvaluator

    inputs = [_typed(name, values) for name, values in feeds.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = onnx.helper.make_graph([node], "node", inputs, outputs)
    try:
        with np.errstate(all="ignore"):
            model = onnx.helper.make_model(graph, opset_imports=opsets)
            results = [np.asarray(values) for values in ReferenceEvaluator(model).run(None, feeds)]
    except Exception:  # whatever an odd node makes numpy raise: nothing is lost, the value stays unknown
        return None
    if any(values.size > MOST_ELEMENTS or values.dtype == object for values in results):
        return None
    found = iter(results)
    return [next(found) if name else np.zeros(0) for name in node.output]


def _typed(name: str, values: Array) -> onnx.ValueInfoProto:
    import onnx

    element = onnx.helper.np_dtype_to_tensor_dtype(values.dtype)
    return onnx.helper.make_tensor_value_info(name, element, values.shape)
