"""The operators that the library has, with its rules; neighbours among them become one region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import NodeRule, OperatorClaim, RegionClaims, RegionLimits
from match_regions import region_pattern

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _float(node: gs.Node) -> str | None:
    names = {getattr(tensor.dtype, "name", str(tensor.dtype)) for tensor in (*node.inputs, *node.outputs)}
    return None if names == {"float32"} else f"they are {', '.join(sorted(names))}"


def _operands(node: gs.Node) -> str | None:
    constants = [getattr(tensor, "values", None) is not None for tensor in node.inputs[1:]]
    return None if len(constants) == 2 and all(constants) else f"{sum(constants)} of {len(constants)} are"


def _bias(node: gs.Node) -> str | None:
    sizes = [list(tensor.shape) for tensor in node.inputs[2:] if list(tensor.shape) != [node.outputs[0].shape[-1]]]
    return f"its shape is {sizes[0]}" if sizes else None


def _plain(node: gs.Node) -> str | None:
    plain = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}
    changed = [f"{name} is {value}" for name, value in node.attrs.items() if value != plain.get(name, value)]
    return changed[0] if changed else None


FLOAT = NodeRule("float", "all tensors are float32", _float)
OPERANDS = NodeRule("operands", "weights and a bias are constants", _operands)
BIAS = NodeRule("bias", "the bias has one value for each column", _bias)
PLAIN = NodeRule("plain", "alpha and beta are 1, and nothing is transposed", _plain)

CLAIMS = RegionClaims(
    operators=(
        OperatorClaim("Gemm", (FLOAT, OPERANDS, BIAS, PLAIN)),
        OperatorClaim("Relu|Sigmoid|Tanh", (FLOAT,)),
    ),
    limits=RegionLimits(nodes_max=64),
)
PATTERNS = (region_pattern("${name}_region", "neighbouring operators of the library", CLAIMS),)
