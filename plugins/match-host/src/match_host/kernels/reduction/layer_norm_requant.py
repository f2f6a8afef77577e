"""``match.arith::LayerNormRequantI8`` and ``LayerNormRequantU8``: layer normalisation of quantised tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of

from match_host.graph import constant_at, dtype_of, elements, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import APART, Uses, inline_code, literal
from match_host.kernels.reduction.integer_lines import integer_root, line_parameters, single_value
from match_host.kernels.templates import render_body
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
#: Longest axis, and largest constant added to the sum of squares: together they stay below 2^52.
_LONGEST, _EPSILON_MAX = 4096, 1 << 51


def build_layer_norm_requant(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel uses upper halves of the 64-bit products in the function's body; the sum of squares comes from the
    sums of x and x^2."""
    (node,), uses = nodes, Uses()
    shape = shape_of(node.inputs[0])
    largest = int(np.abs(values_of(node.inputs[2]).astype(np.int64)).max())
    # The addend is added to an upper half, which is below 2^29.
    wide = _INT32 if largest < 1 << 30 else _INT64
    arguments, constants, (weight, _) = line_parameters(node, (1, 2), _INT32)
    _, _, (_, bias) = line_parameters(node, (1, 2), wide)
    divisor, epsilon, low, high = (single_value(node, index) for index in range(3, 7))
    text = render_body(
        "layer_norm_requant",
        outer=elements(shape[:-1]),
        size=shape[-1],
        source=c_type(dtype_of(node.inputs[0])),
        result=c_type(dtype_of(node.outputs[0])),
        factor=_factor(uses),
        epsilon=literal(epsilon, _INT64),
        weight=weight,
        bias=bias,
        wide=c_type(wide),
        shift=divisor.bit_length() - 1,
        low=low,
        high=high,
    )
    comment = f"{node.op}: {'x'.join(map(str, shape))}"
    code = inline_code(function, comment, arguments, node.outputs, text, uses, constants)
    lines, total = elements(shape[:-1]), elements(shape)
    each = Work(memory=5, integer=10, wide_multiply=1, steps=2).times(total)
    line = Work(wide=130, wide_multiply=4, wide_divide=1, steps=50).times(
        lines
    )  # a root of 26 steps, a scale of up to 25
    return Built(tuple(arguments), code, each + line)


def _factor(uses: Uses) -> str:
    """The function that divides by the root of a line's variance. The loops over values have the registers that its 64
    bits would take."""
    root, name = integer_root(uses, 64), "host_norm_factor"
    uses.helper(*APART)
    return uses.helper(
        name,
        "/* 2^61 / sqrt(v), of 0 < v < 2^52: v is at least 2^50 before its root is taken. */\n"
        f"HOST_APART static int64_t {name}(int64_t v)\n{{\n"
        "    int64_t scale = 32;\n"
        "    while (v < ((int64_t)1 << 50)) {\n"
        "        v *= 4;\n"
        "        scale *= 2;\n"
        "    }\n"
        f"    return scale * ((((int64_t)1 << 56) - 1) / {root}(v));\n}}\n",
    )


def _numbers(node: gs.Node) -> str | None:
    size = shape_of(node.inputs[0])[-1]
    if not 2 <= size <= _LONGEST:
        return f"the last axis has {size} values"
    for index in range(1, 7):
        values = constant_at(node, index)
        if values is None or values.size not in ((1, size) if index < 3 else (1,)):
            return f"input {index} does not lie along the last axis"
        if index < 3 and int(np.abs(values).max()) >= 1 << 31:
            return f"input {index} has more than 32 bits"
    divisor, epsilon = single_value(node, 3), single_value(node, 4)
    if divisor <= 0 or divisor & (divisor - 1) or not 1 <= epsilon <= _EPSILON_MAX:
        return f"the divisor is {divisor}, epsilon {epsilon}"
    return None


REQUANT_NUMBERS = NodeRule(
    "numbers",
    f"last axis of 2 to {_LONGEST} values; M and B of 32 bits along it; D a power of two; E of 1 to 2^51",
    _numbers,
)
