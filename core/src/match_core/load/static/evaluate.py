"""Computes one node whose inputs are constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from match_core.load.static.values import MOST_ELEMENTS, Array, static_shape
from match_core.load.without_program import RANDOM

if TYPE_CHECKING:
    import onnx
    from onnx.reference import ReferenceEvaluator

#: Einsum sums over more indices than inputs and outputs have.
_NEVER = RANDOM | {"Einsum"}
#: Operators whose result size depends on values; the size is at most this many times the input's.
_BOUNDED = {"NonZero": 8, "Compress": 1, "Unique": 1}
#: Larger dequantised constants are weights, which no size depends on.
_DEQUANTISED_MAX = 6


class Evaluator:
    """Computes nodes with ONNX's reference implementations. They are cached, because loops repeat their nodes."""

    def __init__(self, opsets: Sequence[onnx.OperatorSetIdProto]) -> None:
        self._opsets = opsets
        self._kept: dict[bytes, ReferenceEvaluator] = {}

    def evaluate(
        self, node: onnx.NodeProto, known: Mapping[str, Array], types: Mapping[str, onnx.TypeProto]
    ) -> list[Array] | None:
        """The node's results in order, each of at most ``MOST_ELEMENTS`` elements; None if they are not known.

        ``known`` has the values of inputs; ``types`` the inferred types of inputs and outputs.
        Sizes are checked before anything is computed, so no model can allocate more memory than that.
        """
        has_body = any(attribute.HasField("g") for attribute in node.attribute)
        if node.domain not in ("", "ai.onnx") or node.op_type in _NEVER or not node.input or has_body:
            return None
        if node.op_type in ("Shape", "Size"):
            return _sizes(node, types)
        if not all(name in known for name in node.input if name) or not _is_small(node, known, types):
            return None
        feeds = {f"x{i}": known[name] for i, name in enumerate(node.input) if name}
        try:
            with np.errstate(all="ignore"):
                if node.op_type == "DequantizeLinear" and all(a.name != "output_dtype" for a in node.attribute):
                    return _dequantised(*feeds.values())
                results = [np.asarray(values) for values in self._reference(node).run(None, feeds)]
        except Exception:  # numpy may raise anything for an odd node; the value then stays unknown
            return None
        if any(values.size > MOST_ELEMENTS or values.dtype == object for values in results):
            return None
        found = iter(results)
        return [next(found) if name else np.zeros(0) for name in node.output]

    def _reference(self, node: onnx.NodeProto) -> ReferenceEvaluator:
        import onnx
        from onnx.reference import ReferenceEvaluator

        plain = onnx.NodeProto()
        plain.CopyFrom(node)
        plain.name = ""
        for names, prefix in ((plain.input, "x"), (plain.output, "y")):
            names[:] = [name and f"{prefix}{position}" for position, name in enumerate(names)]
        key = plain.SerializeToString(deterministic=True)
        if key not in self._kept:
            ends = [[onnx.ValueInfoProto(name=name) for name in names if name] for names in (plain.input, plain.output)]
            graph = onnx.helper.make_graph([plain], "node", ends[0], ends[1])
            self._kept[key] = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=self._opsets))
        return self._kept[key]


def _dequantised(stored: Array, scale: Array, *zero: Array) -> list[Array] | None:
    """The bits of the reference implementation, which takes 60 ms to start; None for several scales, and weights."""
    if scale.size != 1 or stored.size > _DEQUANTISED_MAX or any(values.size != 1 for values in zero):
        return None
    moved = stored.astype(np.float32) - sum(values.astype(np.float32).reshape(()) for values in zero)
    return [np.multiply(moved, scale.reshape(())).astype(scale.dtype)]


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
