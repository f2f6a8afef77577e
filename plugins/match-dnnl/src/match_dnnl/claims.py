"""The operators that oneDNN runs here, each with its rules, as one pattern of regions."""

from __future__ import annotations

from match_core import NodeRule, OperatorClaim, Region, RegionClaims, RegionLimits
from match_core.contract.model import qualified_op
from match_regions import region_pattern

from match_dnnl import rules, rules_spatial
from match_dnnl.counts import counted
from match_dnnl.functions import FUNCTIONS
from match_dnnl.lower_dense import REDUCTIONS

PATTERN = "dnnl_region"
#: Operators that move or rename elements only.
MOVES = ("Concat", "Flatten", "Pad", "Reshape", "Squeeze", "Transpose", "Unsqueeze")

_RULES: dict[str, tuple[NodeRule, ...]] = {
    **dict.fromkeys(FUNCTIONS, ()),
    "Clip": rules.CLIP,
    "Pow": rules.POWER,
    "Add|Div|Max|Min|Mul|Sub": rules.BINARY,
    "MatMul": rules.MATMUL,
    "Gemm": rules.GEMM,
    "|".join(REDUCTIONS): rules.REDUCE,
    "Softmax|LogSoftmax": (),
    "LayerNormalization": rules.LAYER_NORMALIZATION,
    "BatchNormalization": (*rules.BATCH_NORMALIZATION, rules_spatial.NORMALISED),
    "LRN": rules_spatial.LRN,
    "Conv|match.nhwc::Conv": rules_spatial.CONVOLUTION,
    "ConvTranspose": rules_spatial.DECONVOLUTION,
    "MaxPool|match.nhwc::MaxPool": rules_spatial.POOLING,
    "AveragePool|match.nhwc::AveragePool": rules_spatial.AVERAGE,
    "Resize": rules_spatial.RESIZE,
    "Pad": rules_spatial.PAD,
    "Concat": rules.CONCAT,
    "Flatten|Reshape|Squeeze|Transpose|Unsqueeze": (),
}


def _worth(region: Region) -> str | None:
    """A region that moves elements only would copy them in and out for nothing."""
    if all(qualified_op(node) in MOVES for node in region.nodes):
        return f"{len(region.nodes)} operators that move elements only"
    return None


CLAIMS = RegionClaims(
    operators=tuple(OperatorClaim(op, rules.in_order(*rules.COMMON, *own)) for op, own in _RULES.items()),
    limits=RegionLimits(),
    worth=_worth,
    worth_rule="a region computes something",
    counts=counted,
)
REGION = region_pattern(PATTERN, "float operators that oneDNN runs as one program of primitives", CLAIMS)
