"""Notes which operators stay in float though they have an integer form, and what prevents it. Changes no node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.fallback import Left
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.functions import ARITH
from match_core.ir.reader import clamp_bounds, constant, producer, quant_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_EIGHT_BITS = (np.dtype(np.int8), np.dtype(np.uint8))


@dataclass(frozen=True, slots=True)
class _Kind:
    """``forms``: the integer forms of a float operator; ``weights``: the input that holds its weights, if constant."""

    forms: tuple[str, ...]
    weights: int | None = None


_TABLES = (
    *(
        "Sigmoid",
        "Tanh",
        "HardSwish",
        "HardSigmoid",
        "LeakyRelu",
        "Elu",
        "Selu",
        "Softplus",
        "Gelu",
        "Erf",
        "Exp",
        "Swish",
    ),
    *("Relu", "Clip", "PRelu", "Mish", "Softsign", "Celu", "Sqrt", "Log", "Abs", "Reciprocal"),
)
_KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), _Kind(("Conv",), 1)),
    **dict.fromkeys(("Gemm", "MatMul"), _Kind(("MatMul",), 1)),
    **dict.fromkeys(("Add", "Sub"), _Kind(("Add",))),
    "Mul": _Kind(("Mul",)),
    **dict.fromkeys(_TABLES, _Kind(("Lut",))),
    **dict.fromkeys(("AveragePool", "GlobalAveragePool"), _Kind(("Conv",))),
    **dict.fromkeys(("MaxPool", "GlobalMaxPool"), _Kind(("MaxPool",))),
    "Softmax": _Kind(("Softmax",)),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), _Kind(("LayerNorm", "RmsNorm"))),
}
_BETWEEN = "an 8-bit operator reads DequantizeLinear and is read by QuantizeLinear"


def run(model: Model, context: PassContext) -> Model:
    """The model with ``left``."""
    nodes = [node for node in model.graph.nodes if _computes_floats(node)]
    if not nodes or model.integer_source:
        return model
    if any(node.op == "QuantizeLinear" and constant(node.inputs[1]) is None for node in model.graph.nodes):
        left = _whole(model, nodes, "scales of activations are constants", "they are computed from the data")
    elif not _is_quantised(model.graph.nodes):
        weights = any(node.op == "DequantizeLinear" for node in model.graph.nodes)
        value = "only its weights are quantised" if weights else f"the network is {nodes[0].outputs[0].dtype}"
        left = _whole(model, nodes, "units compute with 8-bit integers", value)
    else:
        left = tuple(_left(model, [node for node in nodes if node.op in _KINDS]))
    return replace(model, left=left)


def _whole(model: Model, nodes: list[gs.Node], rule: str, value: str) -> tuple[Left, ...]:
    """All nodes of a network without quantised activations."""
    forms = dict.fromkeys(form for node in nodes if node.op in _KINDS for form in _KINDS[node.op].forms)
    file = model.source if "computed" not in value else "FLOAT.onnx"
    command = f"match quantize {quote(file)} --data X.npz --output {quote(f'{PurePath(file).stem}_int8.onnx')}"
    return (Left(model.origin(nodes), rule, value, tuple(forms), (command,)),) if forms else ()


def _left(model: Model, nodes: list[gs.Node]) -> Iterator[Left]:
    """Single operators between quantised ones."""
    for node in nodes:
        kind = _KINDS[node.op]
        shape = "x".join(map(str, node.outputs[0].shape or ()))
        none = (f"{node.op} has an 8-bit form", f"this one, with a result of {shape}, has none")
        rule, value = next(_obstacles(model, node, kind), none)
        help_ = ("quantise inputs, weights and results to 8 bits",) if rule == _BETWEEN else ()
        yield Left(model.origin([node]), rule, value, kind.forms, help_)


def _obstacles(model: Model, node: gs.Node, kind: _Kind) -> Iterator[tuple[str, str]]:
    """Rules that keep the node from its 8-bit form, each with the value that breaks it."""
    for position, tensor in enumerate(node.inputs):
        if tensor.is_empty() or (constant(tensor) is not None and position != kind.weights) or position > 1:
            continue
        if position == kind.weights and constant(tensor) is not None:
            yield _BETWEEN, f"the weights of {node.op} are {tensor.dtype}"
            continue
        maker = producer(tensor)
        what = "weights" if position == kind.weights and _constant_maker(maker) else "input"
        if maker is None:
            yield _BETWEEN, f"the {what} of {node.op} is the network's, in {tensor.dtype}"
        elif maker.op != "DequantizeLinear":
            yield _BETWEEN, f"the {what} of {node.op} comes from {maker.op}"
        elif np.dtype(maker.inputs[0].dtype) not in _EIGHT_BITS:
            yield _BETWEEN, f"the {what} of {node.op} has type {maker.inputs[0].dtype}"
        elif maker.attrs.get("block_size"):
            yield _BETWEEN, f"the {what} of {node.op} has a scale for each {maker.attrs['block_size']} elements"
        elif what == "input" and quant_of(maker, maker.inputs[0].dtype) is None:
            yield _BETWEEN, f"the {what} of {node.op} has a scale for each channel"
    reader = _reader(model, node)
    if reader is None:
        yield _BETWEEN, f"the result of {node.op} is an output of the network or is read more than once"
    elif reader.op != "QuantizeLinear":
        yield _BETWEEN, f"the result of {node.op} is read by {reader.op}"
    elif np.dtype(reader.outputs[0].dtype) not in _EIGHT_BITS:
        yield _BETWEEN, f"the result of {node.op} has type {reader.outputs[0].dtype}"


def _constant_maker(node: gs.Node | None) -> bool:
    return node is not None and all(constant(tensor) is not None for tensor in node.inputs)


def _reader(model: Model, node: gs.Node) -> gs.Node | None:
    """The only reader of the result, behind Relu, Clip and what joins the samples of a batch."""
    origin, reader = model.origin([node]), node
    while len(reader.outputs[0].outputs) == 1:
        reader = reader.outputs[0].outputs[0]
        if clamp_bounds(reader) is None and model.origin([reader]) != origin:
            return reader
    return None


def _computes_floats(node: gs.Node) -> bool:
    result = np.dtype(node.outputs[0].dtype) if node.outputs and node.outputs[0].dtype is not None else None
    return result is not None and (result.kind == "f" or "float" in result.name) and node.op != "DequantizeLinear"


def _is_quantised(nodes: Iterable[gs.Node]) -> bool:
    """Whether activations are quantised somewhere."""
    return any(
        node.op == "QuantizeLinear" or "Integer" in node.op or qualified_op(node).startswith(f"{ARITH}::")
        for node in nodes
    )


LEFT_IN_FLOAT = Pass(
    "left_in_float",
    Phase.INTEGER,
    run,
    "notes which operators stay in float though they have an integer form, and why; changes nothing",
    before=("dequantise_constants",),
    after=("integerise",),
)
