"""The regions that the engines claim: operators, rules, limits, and the passes of fern_q."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from match_core import NodeRule, OperatorClaim, Pass, Phase, Region, RegionClaims, RegionLimits
from match_regions import region_pattern

from match_fern.cost import counts
from match_fern.layout import channels_last
from match_fern.quantise import quantise

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

TAPS_MAX = 1 << 16


def _constants(node: gs.Node, first: int) -> list[Any]:
    return [getattr(tensor, "values", None) for tensor in node.inputs[first:]]


def _float(node: gs.Node) -> str | None:
    names = {getattr(tensor.dtype, "name", str(tensor.dtype)) for tensor in (*node.inputs, *node.outputs)}
    return None if names == {"float32"} else f"they are {', '.join(sorted(names))}"


def _image(node: gs.Node) -> str | None:
    shape = list(node.inputs[0].shape)
    return None if len(shape) == 4 and shape[0] == 1 else f"its shape is {shape}"


def _weights(node: gs.Node) -> str | None:
    return "they are computed" if any(values is None for values in _constants(node, 1)) else None


def _group(node: gs.Node) -> str | None:
    return None if node.attrs["group"] == 1 else f"there are {node.attrs['group']}"


def _taps(node: gs.Node) -> str | None:
    taps = prod(node.inputs[1].shape[1:])
    return None if taps <= TAPS_MAX else f"there are {taps}"


def _pooling(node: gs.Node) -> str | None:
    ceil, results = node.attrs.get("ceil_mode", 0), len(node.outputs)
    return None if not ceil and results == 1 else f"ceil_mode is {ceil} and there are {results} results"


def _shapes(node: gs.Node) -> str | None:
    made = list(node.outputs[0].shape)
    other = [list(t.shape) for t in node.inputs if list(t.shape) != made and any(size != 1 for size in t.shape)]
    return f"{other[0]} goes with {made}" if other else None


def _plain(node: gs.Node) -> str | None:
    plain = {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0}
    changed = [f"{name} is {value}" for name, value in node.attrs.items() if value != plain[name]]
    return changed[0] if changed else None


def _bias(node: gs.Node) -> str | None:
    counts = {1, node.outputs[0].shape[1]}
    wrong = [f"it has the shape {list(tensor.shape)}" for tensor in node.inputs[2:] if prod(tensor.shape) not in counts]
    return wrong[0] if wrong else None


FLOAT = NodeRule("float", "all tensors are float32", _float)
IMAGE = NodeRule("image", "activations are one image of four axes", _image)
WEIGHTS = NodeRule("weights", "weights and bias are constants", _weights)
GROUP = NodeRule("group", "there is one group of channels", _group)
TAPS = NodeRule("taps", f"a sum has at most {TAPS_MAX} products, for 32 bits", _taps)
FLOOR = NodeRule("floor", "pooling rounds sizes down and gives values only", _pooling)
SHAPES = NodeRule("shapes", "operands have the result's shape or one element", _shapes)
PLAIN = NodeRule("plain", "alpha and beta are 1 and nothing is transposed", _plain)
BIAS = NodeRule("bias", "a bias has one value, or one for each column", _bias)


def _worth(region: Region) -> str | None:
    return None if any(node.op == "Conv" for node in region.nodes) else f"none of its {len(region.nodes)} nodes is one"


PATTERNS = {
    "fern_c": region_pattern(
        "fern_c_region",
        "element by element and dense, in float",
        RegionClaims(
            operators=(
                OperatorClaim("Add|Sub|Mul|Sigmoid", (FLOAT, SHAPES)),
                OperatorClaim("Gemm", (FLOAT, WEIGHTS, PLAIN, BIAS)),
            ),
            limits=RegionLimits(nodes_max=32),
            counts=partial(counts, "fern_c"),
        ),
    ),
    "fern_q": region_pattern(
        "fern_q_region",
        "convolutions and pooling of images, in int8 between a quantiser and a dequantiser",
        RegionClaims(
            operators=(
                OperatorClaim("Conv", (FLOAT, IMAGE, WEIGHTS, GROUP, TAPS)),
                OperatorClaim("MaxPool", (FLOAT, IMAGE, FLOOR)),
                OperatorClaim("Relu", (FLOAT, IMAGE)),
            ),
            limits=RegionLimits(nodes_max=64, inputs_max=8, outputs_max=8),  # ENDS_MAX of fern_q.c
            counts=partial(counts, "fern_q"),
            worth=_worth,
            worth_rule="a region has a convolution",
            passes=(
                Pass("fern_quantise", Phase.TARGET, quantise, "int8 inside, float at the border", exact=None),
                Pass("fern_channels_last", Phase.TARGET, channels_last, "NHWC inside, NCHW at the border"),
            ),
        ),
    ),
}
