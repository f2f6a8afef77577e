"""The host's operators: for each ONNX operator the rules under which it is supported and the builder of its kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.host.graph import axis_of, constant_at, elements, input_at, is_constant, shape_of, text, values_of
from match_core.host.kernels.built import Builder
from match_core.host.kernels.computed import build_running
from match_core.host.kernels.conv import build_conv
from match_core.host.kernels.conv_transpose import build_conv_transpose
from match_core.host.kernels.dense import build_dense
from match_core.host.kernels.einsum import build_einsum
from match_core.host.kernels.indexed import (
    INDEX_TYPES,
    JOINS,
    build_gather_elements,
    build_gather_nd,
    build_scatter_elements,
    build_scatter_nd,
)
from match_core.host.kernels.integer_lines import (
    GROUPS,
    LEVELS,
    NORM_PARAMETERS,
    build_integer_norm,
    build_shift_softmax,
    build_softmax_floor,
)
from match_core.host.kernels.layer_norm_requant import REQUANT_NUMBERS, build_layer_norm_requant
from match_core.host.kernels.lines import (
    build_bit_cast,
    build_eye_like,
    build_hardmax,
    build_lp_normalization,
    build_one_hot,
    build_reverse_sequence,
    build_top_k,
    build_trilu,
)
from match_core.host.kernels.loop import build_elementwise
from match_core.host.kernels.movement import SAME_BYTES, build_movement
from match_core.host.kernels.normalization import build_normalization
from match_core.host.kernels.pool import build_pool
from match_core.host.kernels.recurrent import ACTIVATIONS, GATES, activation_names, build_recurrent
from match_core.host.kernels.reduce import INTEGER_REDUCTIONS, REDUCTIONS, build_reduce
from match_core.host.kernels.scalar import ALL_TYPES, FLOATS, NUMBERS, SMALL, STORED_TYPES, ScalarOp
from match_core.host.kernels.scalar_table import SCALAR_OPS
from match_core.host.kernels.select import build_arg_extreme, build_gather
from match_core.host.kernels.softmax import build_integer_softmax, build_softmax
from match_core.host.rules import (
    ONE_OUTPUT,
    STATIC,
    NodeRule,
    all_types,
    attribute_is,
    constants,
    rank,
    types,
)

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

BYTES = ("int8", "uint8")
#: Products of two differences of 8-bit values that a 32-bit sum holds for certain: (2^31 - 1) / 255^2.
MOST_PRODUCTS = 33025


@dataclass(frozen=True, slots=True)
class Operator:
    """``name`` is ``domain::Op`` outside the default domain; ``family`` groups the support table."""

    name: str
    family: str
    rules: tuple[NodeRule, ...]
    build: Builder

    @property
    def pattern(self) -> str:
        """The name of its pattern."""
        return "host_" + snake(self.name)


def snake(name: str) -> str:
    """``match.nhwc::ConvInteger`` -> ``nhwc_conv_integer``; ``RequantU8`` -> ``requant_u8``."""
    domain, _, op = name.rpartition("::")
    prefix = "" if not domain or domain == "match.arith" else domain.rsplit(".", 1)[-1] + "_"
    result = ""
    for previous, char in zip(" " + op, op, strict=False):
        starts = char.isupper() and (previous.islower() or previous.isdigit())
        result += ("_" if starts else "") + char
    return prefix + result.lower()


def _products(node: gs.Node) -> str | None:
    weight = shape_of(node.inputs[1])
    count = elements(weight[1:]) if "Conv" in node.op else weight[-2 if len(weight) > 1 else 0]
    return None if count <= MOST_PRODUCTS else f"{count} products are summed"


PRODUCTS = NodeRule("products", f"at most {MOST_PRODUCTS} products per sum (32-bit sums)", _products)


def _conv_zero_points(node: gs.Node) -> str | None:
    zero_point = input_at(node, 2)
    if zero_point is not None and elements(shape_of(zero_point)) != 1:
        return f"the input has {elements(shape_of(zero_point))} zero points"
    return None


CONV_ZERO_POINTS = NodeRule("zero_points", "one zero point for the input", _conv_zero_points)


def _scalars(node: gs.Node) -> str | None:
    for index in range(2, 6):
        values = constant_at(node, index)
        if values is None or values.size != 1:
            return f"input {index} is not one value"
    table = constant_at(node, 1)
    if table is None or table.size != 256 or int(table.min()) < 0:
        return "the table has negative or not 256 entries"
    if int(table.reshape(-1)[0]) <= 0:
        return "the first entry is not positive"
    return None


INTEGER_SOFTMAX = NodeRule("table", "table of 256 entries, the first positive; N, zero, lo, hi single values", _scalars)


def _parameters(node: gs.Node) -> str | None:
    full = shape_of(node.inputs[0])
    trailing = full[axis_of(node, -1, len(full)) :]
    for index in (1, 2):
        tensor = input_at(node, index)
        if tensor is None:
            continue
        shape = shape_of(tensor)
        seen = shape[max(0, len(shape) - len(trailing)) :]
        if elements(shape) != 1 and (seen != trailing or elements(shape) != elements(trailing)):
            return f"input {index} has shape {shape}"
    return None


PARAMETERS = NodeRule("parameters", "scale and bias are one value or shaped like the normalised axes", _parameters)


def _inference(node: gs.Node) -> str | None:
    mode = input_at(node, 2)
    if mode is None or (is_constant(mode) and not values_of(mode).any()):
        return None
    return "training_mode may be set"


INFERENCE = NodeRule("inference", "not in training mode", _inference)


def _resize(node: gs.Node) -> str | None:
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    if any(o % s for o, s in zip(out, shape, strict=True)):
        return f"{shape} to {out}"
    return None


RESIZE = NodeRule("factor", "every axis grows by a whole factor", _resize)
RESIZE_RULES = (
    attribute_is("mode", "nearest", "nearest"),
    attribute_is("coordinate_transformation_mode", "half_pixel", "asymmetric", "half_pixel", "pytorch_half_pixel"),
    RESIZE,
)


def _resize_rounding(node: gs.Node) -> str | None:
    asymmetric = text(node, "coordinate_transformation_mode", "half_pixel") == "asymmetric"
    mode = text(node, "nearest_mode", "round_prefer_floor")
    if asymmetric and mode != "floor":
        return f"nearest_mode is {mode}"
    if not asymmetric and mode not in ("round_prefer_floor", "round_prefer_ceil"):
        return f"nearest_mode is {mode}"
    return None


def _scalar_rules(op: ScalarOp) -> tuple[NodeRule, ...]:
    own = op.types if "float32" not in op.types or "Linear" in op.name else (*op.types, *SMALL)
    return (STATIC, ONE_OUTPUT, all_types(STORED_TYPES), types(own, op.data), *op.rules)


def _activations(node: gs.Node) -> str | None:
    unknown = [name for name in activation_names(node) if name not in ACTIVATIONS]
    return f"activations are {', '.join(unknown)}" if unknown else None


KNOWN_ACTIVATIONS = NodeRule("activations", f"activations are among {', '.join(ACTIVATIONS)}", _activations)
PAD_MODE = attribute_is("mode", "constant", "constant", "edge", "reflect", "wrap")
JOINING = attribute_is("reduction", "none", "none", *JOINS)
#: Inputs of integer operators along the last axis: what requantisation leaves, or sums of it.
_LINES = (types((*BYTES, "int32"), 0),)


def _movement(name: str, *rules: NodeRule) -> Operator:
    return Operator(name, "movement", (STATIC, types(STORED_TYPES, 0), *rules), build_movement)


OPERATORS: tuple[Operator, ...] = (
    *(Operator(op.name, "elementwise", _scalar_rules(op), build_elementwise) for op in SCALAR_OPS.values()),
    *(
        Operator(name, "convolution", (STATIC, rank(3, 4, 5), types(FLOATS, 0, 1, 2)), build_conv)
        for name in ("Conv", "match.nhwc::Conv")
    ),
    *(
        Operator(
            name, "convolution", (STATIC, rank(3, 4, 5), types(BYTES, 0, 1), PRODUCTS, CONV_ZERO_POINTS), build_conv
        )
        for name in ("ConvInteger", "match.nhwc::ConvInteger")
    ),
    Operator("ConvTranspose", "convolution", (STATIC, rank(3, 4, 5), types(FLOATS, 0, 1, 2)), build_conv_transpose),
    *(
        Operator(
            name, "recurrent", (STATIC, types(FLOATS, 0), types(("int32",), 4), KNOWN_ACTIVATIONS), build_recurrent
        )
        for name in GATES
    ),
    Operator("MatMulInteger", "dense", (STATIC, types(BYTES, 0, 1), PRODUCTS), build_dense),
    Operator("MatMul", "dense", (STATIC, types((*FLOATS, "int32", "int64"), 0, 1)), build_dense),
    Operator("Gemm", "dense", (STATIC, types(FLOATS, 0, 1, 2)), build_dense),
    Operator("Softmax", "normalisation", (STATIC, types(FLOATS, 0)), build_softmax),
    Operator("LogSoftmax", "normalisation", (STATIC, types(FLOATS, 0)), build_softmax),
    *(
        Operator(
            f"match.arith::Softmax{suffix}",
            "normalisation",
            (STATIC, types((source,), 0), constants(1, 2, 3, 4, 5), INTEGER_SOFTMAX),
            build_integer_softmax,
        )
        for suffix, source in (("U8", "uint8"), ("I8", "int8"))
    ),
    Operator("match.arith::SoftmaxFloorU8", "normalisation", (STATIC, *_LINES, LEVELS), build_softmax_floor),
    Operator("match.arith::ShiftSoftmaxU8", "normalisation", (STATIC, *_LINES, GROUPS), build_shift_softmax),
    *(
        Operator(f"match.arith::{name}", "normalisation", (STATIC, *_LINES, NORM_PARAMETERS), build_integer_norm)
        for name in ("LayerNormI8", "RmsNormI8")
    ),
    *(
        Operator(
            f"match.arith::LayerNormRequant{suffix}",
            "normalisation",
            (STATIC, types(BYTES, 0), constants(1, 2, 3, 4, 5, 6), REQUANT_NUMBERS),
            build_layer_norm_requant,
        )
        for suffix in ("U8", "I8")
    ),
    *(
        Operator(name, "normalisation", (STATIC, ONE_OUTPUT, types(FLOATS, 0, 1, 2), PARAMETERS), build_normalization)
        for name in ("LayerNormalization", "RMSNormalization")
    ),
    Operator("InstanceNormalization", "normalisation", (STATIC, rank(3, 4, 5), types(FLOATS, 0)), build_normalization),
    *(
        Operator(name, "pooling", (STATIC, ONE_OUTPUT, rank(3, 4, 5), types((*FLOATS, *BYTES), 0)), build_pool)
        for name in ("MaxPool", "match.nhwc::MaxPool", "GlobalMaxPool")
    ),
    *(
        Operator(name, "pooling", (STATIC, rank(3, 4, 5), types(FLOATS, 0)), build_pool)
        for name in ("AveragePool", "match.nhwc::AveragePool", "GlobalAveragePool")
    ),
    *(
        Operator(
            name,
            "reduction",
            (STATIC, types(NUMBERS if name in INTEGER_REDUCTIONS else FLOATS, 0), types(INDEX_TYPES, 1)),
            build_reduce,
        )
        for name in REDUCTIONS
    ),
    *(Operator(name, "reduction", (STATIC, types(NUMBERS, 0)), build_arg_extreme) for name in ("ArgMax", "ArgMin")),
    Operator("Gather", "movement", (STATIC, types(ALL_TYPES, 0), types(("int32", "int64"), 1)), build_gather),
    *(
        Operator(name, "movement", (STATIC, types(ALL_TYPES, 0), types(INDEX_TYPES, 1)), build)
        for name, build in (("GatherElements", build_gather_elements), ("GatherND", build_gather_nd))
    ),
    *(
        Operator(name, "movement", (STATIC, types(ALL_TYPES, 0), types(INDEX_TYPES, 1), JOINING), build)
        for name, build in (("ScatterElements", build_scatter_elements), ("ScatterND", build_scatter_nd))
    ),
    Operator("Einsum", "dense", (STATIC, types((*NUMBERS, *SMALL), 0)), build_einsum),
    *(
        Operator(name, "normalisation", (STATIC, types((*FLOATS, *SMALL), 0)), build)
        for name, build in (("Hardmax", build_hardmax), ("LpNormalization", build_lp_normalization))
    ),
    *(
        Operator(name, "movement", (STATIC, types(STORED_TYPES, *read)), build)
        for name, read, build in (
            ("Trilu", (0,), build_trilu),
            ("EyeLike", (), build_eye_like),
            ("ReverseSequence", (0,), build_reverse_sequence),
            ("BitCast", (0,), build_bit_cast),
        )
    ),
    Operator("OneHot", "movement", (STATIC, types(NUMBERS, 0), types(STORED_TYPES, 2)), build_one_hot),
    Operator("TopK", "reduction", (STATIC, types((*NUMBERS, *SMALL), 0)), build_top_k),
    *(_movement(name, ONE_OUTPUT, *((INFERENCE,) if name == "Dropout" else ())) for name in SAME_BYTES),
    _movement("Transpose"),
    _movement("Slice", types(INDEX_TYPES, 1, 3, 4)),
    _movement("Split"),
    _movement("Concat"),
    _movement("Pad", types(INDEX_TYPES, 1, 3), PAD_MODE),
    _movement("Tile"),
    *(
        Operator(name, "reduction", (STATIC, types(NUMBERS, 0), types(INDEX_TYPES, 1)), build_running)
        for name in ("CumSum", "CumProd")
    ),
    _movement(
        "Resize",
        *RESIZE_RULES,
        NodeRule("rounding", "rounding keeps each source element's copies together", _resize_rounding),
    ),
    _movement("DepthToSpace", rank(4)),
    _movement("SpaceToDepth", rank(4)),
)

OPERATOR_TABLE = {operator.name: operator for operator in OPERATORS}
