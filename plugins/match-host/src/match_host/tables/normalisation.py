"""Softmax and normalisations of float tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import axis_of, elements
from match_host.kernels.reduction.lines import build_hardmax, build_lp_normalization
from match_host.kernels.reduction.normalization import build_normalization
from match_host.kernels.reduction.softmax import build_softmax
from match_host.kernels.scalar import ANY_FLOATS
from match_host.operator import Operator
from match_host.rules import ONE_OUTPUT, STATIC, rank, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _parameters(node: gs.Node) -> str | None:
    full = shape_of(node.inputs[0])
    trailing = full[axis_of(node, -1, len(full)) :]
    for index in (1, 2):
        tensor = optional_input(node, index)
        if tensor is None:
            continue
        shape = shape_of(tensor)
        seen = shape[max(0, len(shape) - len(trailing)) :]
        if elements(shape) != 1 and (seen != trailing or elements(shape) != elements(trailing)):
            return f"input {index} has shape {shape}"
    return None


PARAMETERS = NodeRule("parameters", "scale and bias are one value or shaped like the normalised axes", _parameters)

NORMALISATION: tuple[Operator, ...] = (
    *(
        Operator(name, "normalisation", (STATIC, types(ANY_FLOATS, 0)), build_softmax)
        for name in ("Softmax", "LogSoftmax")
    ),
    *(
        Operator(
            name, "normalisation", (STATIC, ONE_OUTPUT, types(ANY_FLOATS, 0, 1, 2), PARAMETERS), build_normalization
        )
        for name in ("LayerNormalization", "RMSNormalization", "match.norm::RMSNormalization")
    ),
    Operator(
        "InstanceNormalization", "normalisation", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0)), build_normalization
    ),
    *(
        Operator(name, "normalisation", (STATIC, types(ANY_FLOATS, 0)), build)
        for name, build in (("Hardmax", build_hardmax), ("LpNormalization", build_lp_normalization))
    ),
)
