"""Gives integer types to integers in float tensors.

Networks of QuantLib, NEMO and others compute with floats that are always integers. All ranges are known: results of
requantisation have at most 8 bits, weights are constants, and both bound the sums. So convolutions and matrix products
become ConvInteger and MatMulInteger, and the requantisation includes the operators after them. Graph inputs are limited
to +-255 and become integers at the border; inputs and outputs of the graph keep their types.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes

from match_quant.integer_idioms import Holders, spell_out_requantisation
from match_quant.narrow_elementwise import ELEMENTWISE_RULES
from match_quant.narrow_functions import FUNCTION_RULES
from match_quant.narrow_linear import convolution, dense, product
from match_quant.narrow_requant import requantise
from match_quant.narrowing import Narrowing, Rule

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

RULES: dict[str, Rule] = {"Conv": convolution, "Gemm": dense, "MatMul": product, **ELEMENTWISE_RULES}
_REQUANT = frozenset(("RequantU8", "RequantI8"))


def run(model: Model, context: PassContext) -> Model:
    """Narrow all tensors that lead to an integer operator."""
    if not any(node.op == "Floor" or _is_ours(node) for node in model.graph.nodes):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    holders = Holders(editor.graph)
    spell_out_requantisation(editor, holders)
    sources = [node for node in editor.graph.nodes if _is_ours(node) and node.op == "AsInteger"]
    if not sources:
        return model
    sort_nodes(editor.graph)
    inputs = frozenset[int]().union(*(holders.inputs_of(node.inputs[0]) for node in sources))
    state = Narrowing(editor, inputs)
    for node in list(editor.graph.nodes):
        _narrow(state, node)
    state.connect()
    for node in editor.graph.nodes:  # their readers could not be narrowed
        if _is_ours(node) and node.op == "AsInteger":
            _become_cast(node)
    return replace(editor.finish(), integer_source=True)


def _is_ours(node: gs.Node) -> bool:
    return bool(node.domain == "match.arith")


def _narrow(state: Narrowing, node: gs.Node) -> None:
    if _is_ours(node):
        if node.op == "AsInteger":
            _take(state, node)
        elif node.op in _REQUANT:
            requantise(state, node)
        elif node.op in FUNCTION_RULES:
            FUNCTION_RULES[node.op](state, node)
        return
    if (node.domain or "") not in ("", "ai.onnx") or not _is_float(node.outputs[0]):
        return
    if node.op == "Cast":
        value = state.lookup(node.inputs[0]) if not _is_float(node.inputs[0]) else None
    else:
        rule = RULES.get(node.op)
        value = rule(state, node) if rule is not None else None
    if value is not None:
        state.define(node, value)


def _take(state: Narrowing, node: gs.Node) -> None:
    """The integers of a float tensor: they are known, or a Cast computes them."""
    value = state.lookup(node.inputs[0])
    if value is not None:
        state.alias(node.outputs[0], value)
    else:
        _become_cast(node)


def _become_cast(node: gs.Node) -> None:
    import onnx

    node.op, node.domain = "Cast", None
    node.attrs = {"to": int(onnx.TensorProto.INT64)}


def _is_float(tensor: gs.Tensor) -> bool:
    return tensor.dtype is not None and np.dtype(tensor.dtype).kind == "f"


NARROW_INTEGERS = Pass(
    "narrow_integers",
    Phase.INTEGER,
    run,
    "integers that float tensors hold get integer types, bit for bit",
    before=("integerise",),
    after=("recognise_requant",),
)
