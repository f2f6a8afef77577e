"""Quantisation: between real numbers and integers, requantisation, tables, batch normalisation.

The operators of domain ``match.arith`` compute the same results as the bodies of their local functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, number
from match_host.kernels.elementwise.logic_ops import saturated
from match_host.kernels.scalar import FLOATS, NIBBLES, SMALL, ScalarOp, Site, always, is_code, suffix
from match_host.kernels.work import Work
from match_host.rules import attribute_is, result_types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def along_axis(node: gs.Node, index: int, rank: int, default: int) -> tuple[int, ...] | None:
    """The shape of a vector input along the node's axis; a scalar for a single value."""
    shape = shape_of(node.inputs[index])
    size = int(np.prod(shape))
    axis = integer(node, "axis", default) % max(rank, 1)
    return tuple(size if i == axis and size > 1 else 1 for i in range(rank))


def _per_axis(node: gs.Node, index: int, rank: int) -> tuple[int, ...] | None:
    return along_axis(node, index, rank, 1) if index else None


def _limits(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """The smallest and the largest integer of a type, including types of 2 and 4 bits."""
    if dtype.name not in NIBBLES:
        info = np.iinfo(dtype.name)
        return int(info.min), int(info.max)
    bits, unsigned = int(dtype.name[-1]), dtype.name.startswith("u")
    return (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _quantize(site: Site) -> str:
    x, scale, zero_point = (*site.arguments, None)[:3]
    if x is None or scale is None:
        raise ValueError("QuantizeLinear without input or scale")
    target = dtype_of(site.node.outputs[0])
    quotient = f"{x.text} / {scale.text}"
    if x.dtype.kind in "iu":
        quotient = f"(float){x.text} / {scale.text}"
    if is_code(target):
        moved = quotient if zero_point is None or zero_point.literal == 0 else f"{quotient} + {zero_point.text}"
        return saturated(site, moved, target)
    least, most = _limits(target)
    lowest = f"zero - {-least}" if least else "zero"
    ctype, name = c_type(target), f"host_quantize_{target.name if target.name in NIBBLES else suffix(target)}"
    site.uses.include("string.h")
    site.uses.helper(
        "HOST_INLINED",
        "/* Part of its callers, whatever options these have of their own. */\n#if defined(__GNUC__)\n"
        "#define HOST_INLINED static inline __attribute__((always_inline))\n#else\n"
        "#define HOST_INLINED static inline\n#endif\n",
    )
    site.uses.helper(
        name,
        "/* Half to even: a float of this size keeps no bits behind the point, and its bits count its whole numbers.\n"
        " * They are compared as integers, without a branch: after a sum, NaN is the smallest one. */\n"
        f"HOST_INLINED {ctype} {name}(float quotient, int32_t zero_point)\n{{\n"
        "    const float moved = quotient + 0x1.8p23f;\n    uint32_t bits;\n"
        "    memcpy(&bits, &moved, sizeof bits);\n"
        "    const int32_t whole = (int32_t)(bits + 0x7fffff), zero = 0x4b400000 + 0x7fffff - zero_point;\n"
        f"    const int32_t held = (whole < {lowest} ? {lowest} : whole) - zero;\n"
        f"    return ({ctype})(held > {most} ? {most} : held);\n}}\n",
    )
    return f"{name}({quotient}, {zero_point.text if zero_point else '0'})"


def _dequantize(site: Site) -> str:
    x, scale, zero_point = (*site.arguments, None)[:3]
    if x is None or scale is None:
        raise ValueError("DequantizeLinear without input or scale")
    if x.dtype.kind == "f":
        moved = x.text if zero_point is None or zero_point.literal == 0 else f"({x.text} - {zero_point.text})"
        return f"{moved} * {scale.text}"
    if zero_point is None or zero_point.literal == 0:
        return f"(float){x.text} * {scale.text}"
    if x.dtype.itemsize == 4:
        return f"((float){x.text} - (float){zero_point.text}) * {scale.text}"
    sign = "+" if zero_point.literal is not None and zero_point.literal < 0 else "-"
    shown = zero_point.text.lstrip("-") if sign == "+" else zero_point.text
    return f"(float)({x.text} {sign} {shown}) * {scale.text}"


def _offset(amount: int) -> Callable[[Site], str]:
    def render(site: Site) -> str:
        sign = "+" if amount > 0 else "-"
        return f"({c_type(site.result)})({site.texts()[0]} {sign} {abs(amount)})"

    return render


def _table(site: Site) -> str:
    index = site.texts()[0]
    return f"{site.array(1)}[{index} + 128]" if site.node.op == "LutI8" else f"{site.array(1)}[{index}]"


def _batch_normalization(site: Site) -> str:
    x, scale, bias, mean, variance = site.texts()
    root = f"{site.math('sqrt')}({variance} + {site.number(number(site.node, 'epsilon', 1e-5))})"
    return f"({x} - {mean}) / {root} * {scale} + {bias}"


def _channel(node: gs.Node, index: int, rank: int) -> tuple[int, ...] | None:
    size = int(np.prod(shape_of(node.inputs[index])))
    return tuple(size if i == min(1, rank - 1) else 1 for i in range(rank)) if index else None


def _table_size(node: gs.Node) -> str | None:
    size = elements(shape_of(node.inputs[1]))
    return None if size == 256 else f"the table has {size} entries"


def _scales(node: gs.Node) -> str | None:
    rank = len(shape_of(node.inputs[1]))
    return None if rank <= 1 else f"scales have rank {rank}"


_float_steps = always(Work(floating=4, floating_divide=1))
_dequantize_work = always(Work(integer=1, floating=2))
_one = always(Work(integer=1))
_load = always(Work(memory=1, integer=1))

#: Element types of quantised tensors.
STORED = ("int8", "uint8", "int16", "uint16", *NIBBLES)
CODES = tuple(name for name in SMALL if name != "bfloat16")
_TABLE_RULES = (NodeRule("table", "the table has 256 entries", _table_size),)
_SCALE_RULES = (
    NodeRule("scales", "one scale for the tensor or one per index of an axis", _scales),
    attribute_is("block_size", 0, 0),
)

QUANTIZE_OPS = (
    ScalarOp(
        "QuantizeLinear",
        ("float32", "float16", "bfloat16", "int32"),
        _quantize,
        _float_steps,
        align=_per_axis,
        rules=(*_SCALE_RULES, result_types((*STORED, *CODES))),
    ),
    ScalarOp(
        "DequantizeLinear",
        (*STORED, *CODES, "int32"),
        _dequantize,
        _dequantize_work,
        align=_per_axis,
        rules=(*_SCALE_RULES, result_types(("float32", "float16", "bfloat16"))),
    ),
    ScalarOp("match.arith::OffsetI8ToU8", ("int8",), _offset(128), _one),
    ScalarOp("match.arith::OffsetU8ToI8", ("uint8",), _offset(-128), _one),
    ScalarOp("match.arith::LutU8", ("uint8",), _table, _load, tables=(1,), rules=_TABLE_RULES),
    ScalarOp("match.arith::LutI8", ("int8",), _table, _load, tables=(1,), rules=_TABLE_RULES),
    ScalarOp(
        "BatchNormalization",
        FLOATS,
        _batch_normalization,
        _float_steps,
        align=_channel,
        rules=(attribute_is("training_mode", 0, 0),),
    ),
)
