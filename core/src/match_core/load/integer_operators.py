"""Replaces operators of networks that hold integers in float tensors (QuantLib, Deeploy) with ones of ``match.arith``.

Exporters write them into the default domain, where the ONNX checker refuses them. So the loader first moves them into
a domain of their own, uses operators that keep the shape for shape inference, and replaces them once shapes are known:
``AsInteger`` reads the integers from the float tensor, and Cast writes the results back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.ir.functions import ARITH, VERSION, function_protos
from match_core.load.early import set_apart
from match_core.load.integer_call import Call
from match_core.load.integer_rules import MEAN, RULES, axes_of

if TYPE_CHECKING:
    import onnx

    Provenance = dict[str, tuple[str, ...]]

#: The domain of these operators between reading the file and their replacement.
DOMAIN = "match.quantlib"
#: Domains under which exporters write them.
_SOURCES = frozenset(("", "ai.onnx", "PACTOps", "ai.onnx.contrib", "com.microsoft"))


def rename_integer_operators(proto: onnx.ModelProto) -> None:
    """Move the operators into ``DOMAIN`` (in place). In such networks ReduceMean is one of them: it averages integers
    and rounds half up. Operators that have a body in the file do not change. See also ``load/early.py``."""
    set_apart(proto)
    own = {(function.domain, function.name) for function in proto.functions}
    found = [
        node
        for node in proto.graph.node
        if node.op_type in RULES and node.domain in _SOURCES and (node.domain, node.op_type) not in own
    ]
    if not found:
        return
    for node in proto.graph.node:
        if node.op_type == "ReduceMean" and node.domain in ("", "ai.onnx"):
            node.op_type = MEAN
            found.append(node)
    for node in found:
        node.domain = DOMAIN
    entry = proto.opset_import.add()
    entry.domain, entry.version = DOMAIN, VERSION


def stand_in(node: onnx.NodeProto) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """Standard nodes and constants whose result has the same type and shape."""
    import onnx

    result = onnx.NodeProto()
    result.CopyFrom(node)
    result.domain = ""
    if node.op_type != MEAN:
        result.op_type = "Identity"
        del result.attribute[:], result.input[1:]
        return [result], []
    result.op_type = "ReduceSum"
    axes = axes_of(node)
    if axes is None:
        return [result], []
    name = f"{node.output[0]}_axes"
    kept = [attribute for attribute in result.attribute if attribute.name != "axes"]
    del result.attribute[:]
    result.attribute.extend(kept)
    result.input.append(name)
    return [result], [onnx.numpy_helper.from_array(np.array(axes, np.int64), name)]


def expand_integer_operators(
    proto: onnx.ModelProto, provenance: Provenance, source: str
) -> tuple[onnx.ModelProto, Provenance]:
    """The model (with inferred shapes) in which all of them are replaced, and provenance for the new nodes.

    Errors: ModelError MATCH-F017 (an attribute is missing, a parameter is not a constant integer, more than 8 bits).
    """
    import onnx

    if not any(node.domain == DOMAIN for node in proto.graph.node):
        return proto, provenance
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.graph.node[:]
    origins = dict(provenance)
    known = {value.name: value for value in (*proto.graph.input, *proto.graph.value_info, *proto.graph.output)}
    constants = _constants(proto)
    for node in proto.graph.node:
        if node.domain != DOMAIN:
            result.graph.node.append(node)
            continue
        call = Call(node, known, constants, source)
        RULES[node.op_type](call)
        result.graph.node.extend(call.nodes)
        result.graph.initializer.extend(call.initializers)
        origins.update((new.name, provenance[node.name]) for new in call.nodes)
    _declare(result)
    return result, origins


def _constants(proto: onnx.ModelProto) -> dict[str, onnx.TensorProto]:
    constants = {tensor.name: tensor for tensor in proto.graph.initializer}
    for node in proto.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                constants[node.output[0]] = attribute.t
    return constants


def _declare(proto: onnx.ModelProto) -> None:
    """Import the domain of the new operators, with their bodies."""
    called = {node.op_type for node in proto.graph.node if node.domain == ARITH}
    proto.functions.extend(f for f in function_protos() if f.domain == ARITH and f.name in called)
    kept = [entry for entry in proto.opset_import if entry.domain not in (DOMAIN, ARITH)]
    del proto.opset_import[:]
    proto.opset_import.extend(kept)
    entry = proto.opset_import.add()
    entry.domain, entry.version = ARITH, VERSION
