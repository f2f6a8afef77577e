"""Fused patterns of the host: a convolution or matrix product with the operators after it, computed in registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.contract.node_rule import NodeRule
from match_core.contract.structure import Any, Const, Constraint, Match, OneOf, Op, Structure
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import constant_at, integers
from match_host.kernels.built import Builder, ForMachine
from match_host.kernels.movement.movement import pad_amounts
from match_host.kernels.products.conv import build_conv
from match_host.kernels.products.dense import build_dense
from match_host.operators import OPERATOR_TABLE

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

CONV_INTEGER = "ConvInteger|match.nhwc::ConvInteger|match.arith::ConvIntegerI16|match.nhwc::ConvIntegerI16"
MAT_MUL_INTEGER = "MatMulInteger|match.arith::MatMulIntegerI16"
REQUANT = "match.arith::RequantU8|match.arith::RequantI8|match.arith::RequantI16"
ACTIVATION = "Relu|Clip|LeakyRelu|HardSigmoid|HardSwish|Sigmoid|Tanh"


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fused pattern and the builder of its kernel."""

    name: str
    description: str
    structure: Structure
    constraints: tuple[Constraint, ...]
    build: Builder


def _rules_of(*captures: str) -> tuple[Constraint, ...]:
    """Each captured node satisfies the rules of its own operator."""

    return tuple(
        Constraint(f"{capture}_rules", f"{capture} is supported on its own", partial(_own_rules, capture))
        for capture in captures
    )


def _own_rules(capture: str, match: Match) -> str | None:
    node = match.node(capture)
    for rule in OPERATOR_TABLE[qualified_op(node)].rules:
        value = rule.check(node)
        if value is not None:
            return f"{rule.description}: {value}"
    return None


def _spatial_pad(node: gs.Node) -> str | None:
    if str(node.attrs.get("mode", "constant")) != "constant" or not all(map(is_constant, node.inputs[1:])):
        return "it repeats elements, or amounts and value are computed"
    value = constant_at(node, 2)
    if value is not None and value.size != 1:
        return "the value has several elements"
    amounts = pad_amounts(node)
    reader = node.outputs[0].outputs[0]
    spatial = range(1, len(amounts) - 1) if reader.domain == "match.nhwc" else range(2, len(amounts))
    for axis, (before, after) in enumerate(amounts):
        if before < 0 or after < 0 or (axis not in spatial and (before or after)):
            return f"axis {axis} is padded by {before} and {after}"
    return None


def _no_padding_of_its_own(node: gs.Node) -> str | None:
    if any(integers(node, "pads", ())) or str(node.attrs.get("auto_pad", "NOTSET")) not in ("NOTSET", "VALID"):
        return f"padding is {integers(node, 'pads', ())}"
    zero_points = [index for index in (2, 3) if optional_input(node, index) is not None]
    return f"{len(zero_points)} zero points" if zero_points else None


SPATIAL_PAD = NodeRule("spatial_pad", "pads spatial axes only, by constant amounts of one constant value", _spatial_pad)
NO_PADDING = NodeRule("no_padding", "the convolution itself has no padding and no zero points", _no_padding_of_its_own)


def _no_broadcast(result: str, inner: str) -> Constraint:
    """Elementwise operators after the product do not enlarge its shape."""

    def check(match: Match) -> str | None:
        outer, before = (shape_of(match.node(name).outputs[0]) for name in (result, inner))
        return None if outer == before else f"{before} becomes {outer}"

    return Constraint("no_broadcast", "the result has the shape of the product", check)


def _fusion(name: str, words: str, result: Op, inner: str, build: Builder, *more: Constraint) -> Fusion:
    constraints = (*_rules_of(inner, result.capture), _no_broadcast(result.capture, inner), *more)
    return Fusion(name, f"{words} as one kernel", result, constraints, build)


def _weighted(op: str, capture: str, source: Structure) -> Op:
    return Op(op, capture, (source, Const("weight")))


FUSIONS: tuple[Fusion, ...] = (
    _fusion(
        "host_conv_integer_requant",
        "integer convolution and requantisation",
        Op(REQUANT, "requant", (_weighted(CONV_INTEGER, "conv", Any("x")),)),
        "conv",
        ForMachine(build_conv),
    ),
    _fusion(
        "host_pad_conv_integer_requant",
        "padding, integer convolution and requantisation",
        Op(REQUANT, "requant", (_weighted(CONV_INTEGER, "conv", Op("Pad", "pad", (Any("x"),))),)),
        "conv",
        ForMachine(build_conv),
        *_rules_of("pad"),
        SPATIAL_PAD.on("pad"),
        NO_PADDING.on("conv"),
    ),
    _fusion(
        "host_mat_mul_integer_requant",
        "integer matrix product and requantisation",
        Op(REQUANT, "requant", (Op(MAT_MUL_INTEGER, "product", (Any("x"), OneOf((Const("weight"), Any("weight"))))),)),
        "product",
        ForMachine(build_dense),
    ),
    _fusion(
        "host_conv_activation",
        "convolution and activation",
        Op(ACTIVATION, "activation", (_weighted("Conv|match.nhwc::Conv", "conv", Any("x")),)),
        "conv",
        ForMachine(build_conv),
    ),
    _fusion(
        "host_gemm_activation",
        "matrix product and activation",
        Op(ACTIVATION, "activation", (_weighted("Gemm", "product", Any("x")),)),
        "product",
        ForMachine(build_dense),
    ),
)
