"""The regions that the engine claims: chains of dense layers with requantisation, with the rules of its hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_core import NodeRule, OperatorClaim, Region, RegionClaims, RegionLimits
from match_regions import region_pattern

from ${module}.hardware import FEATURES_MAX

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

PRODUCT, REQUANT = "MatMulInteger", "RequantI8"


def _weights(node: gs.Node) -> str | None:
    values = getattr(node.inputs[1], "values", None)
    return None if values is not None and values.ndim == 2 else "they are not"


def _features(node: gs.Node) -> str | None:
    count = int(node.inputs[0].shape[-1])
    return None if count <= FEATURES_MAX else f"it has {count}"


def _row(node: gs.Node) -> str | None:
    rows = [int(size) for size in node.outputs[0].shape[:-1]]
    return None if set(rows) <= {1} else f"its shape is {[*rows, int(node.outputs[0].shape[-1])]}"


def _shift(node: gs.Node) -> str | None:
    divisor = int(node.inputs[3].values) if node.inputs[3].values.size == 1 else 0
    return None if divisor > 0 and divisor & (divisor - 1) == 0 else f"the divisor is {divisor}"


WEIGHTS = NodeRule("weights", "weights are a constant matrix", _weights)
FEATURES = NodeRule("features", f"a row has at most {FEATURES_MAX} features", _features)
ROW = NodeRule("row", "the result is one row", _row)
SHIFT = NodeRule("shift", "requantisation divides by one power of two", _shift)


def _whole_layers(region: Region) -> str | None:
    """The engine writes requantised results only, so a product and its requantisation belong together."""
    kinds = [node.op for node in region.nodes]
    paired = kinds == [PRODUCT, REQUANT] * (len(kinds) // 2)
    return None if paired else f"it has the operators {', '.join(kinds)}"


def _held(region: Region) -> Mapping[str, int]:
    """Bytes that stay in the engine, in words of 8: weights, multipliers and addends."""
    weights = [node.inputs[1].values for node in region.nodes if node.op == PRODUCT]
    return {"${name}_weights": sum(-(-array.size // 8) * 8 + 16 * array.shape[1] for array in weights)}


CLAIMS = RegionClaims(
    operators=(
        OperatorClaim(PRODUCT, (WEIGHTS, FEATURES, ROW)),
        OperatorClaim(f"match.arith::{REQUANT}", (SHIFT, ROW)),
    ),
    limits=RegionLimits(inputs_max=1, outputs_max=1),
    worth=_whole_layers,
    worth_rule="a region is a chain of products, each with its requantisation",
    holds=_held,
)
PATTERNS = (region_pattern("${name}_region", "chain of dense layers in 8 bits", CLAIMS),)
