"""Convolutions, float and integer, and their transposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import elements
from match_host.kernels.built import ForMachine
from match_host.kernels.products.conv import build_conv
from match_host.kernels.products.conv_transpose import build_conv_transpose
from match_host.kernels.scalar import ANY_FLOATS
from match_host.operator import BYTES, INT16_PRODUCTS, PRODUCTS, Operator
from match_host.rules import STATIC, rank, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _conv_zero_points(node: gs.Node) -> str | None:
    zero_point = optional_input(node, 2)
    if zero_point is not None and elements(shape_of(zero_point)) != 1:
        return f"the input has {elements(shape_of(zero_point))} zero points"
    return None


CONV_ZERO_POINTS = NodeRule("zero_points", "one zero point for the input", _conv_zero_points)

CONVOLUTION: tuple[Operator, ...] = (
    *(
        Operator(name, "convolution", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0, 1, 2)), ForMachine(build_conv))
        for name in ("Conv", "match.nhwc::Conv")
    ),
    *(
        Operator(
            name,
            "convolution",
            (STATIC, rank(3, 4, 5), types(BYTES, 0, 1), PRODUCTS, CONV_ZERO_POINTS),
            ForMachine(build_conv),
        )
        for name in ("ConvInteger", "match.nhwc::ConvInteger")
    ),
    *(
        Operator(name, "convolution", (STATIC, rank(3, 4, 5), *INT16_PRODUCTS), ForMachine(build_conv))
        for name in ("match.arith::ConvIntegerI16", "match.nhwc::ConvIntegerI16")
    ),
    Operator("ConvTranspose", "convolution", (STATIC, rank(3, 4, 5), types(ANY_FLOATS, 0, 1, 2)), build_conv_transpose),
)
