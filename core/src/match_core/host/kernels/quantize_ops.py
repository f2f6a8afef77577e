"""Quantisation: between real numbers and integers, requantisation, tables, batch normalisation.

The operators of domain ``match.arith`` compute what the bodies of their local functions compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from match_core.emit.ctypes import c_type
from match_core.host.graph import constant_at, dtype_of, elements, integer, number, shape_of
from match_core.host.kernels.code import literal
from match_core.host.kernels.logic_ops import saturated
from match_core.host.kernels.scalar import FLOATS, NIBBLES, SMALL, ScalarOp, Site, Value, is_code, suffix
from match_core.host.kernels.work import Work
from match_core.host.rules import NodeRule, attribute_is, constants, result_types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def along_axis(node: gs.Node, index: int, rank: int, default: int) -> tuple[int, ...] | None:
    """A vector input seen as lying along the node's axis; a single value as a scalar."""
    shape = shape_of(node.inputs[index])
    size = int(np.prod(shape))
    axis = integer(node, "axis", default) % max(rank, 1)
    return tuple(size if i == axis and size > 1 else 1 for i in range(rank))


def _per_axis(node: gs.Node, index: int, rank: int) -> tuple[int, ...] | None:
    return along_axis(node, index, rank, 1) if index else None


def _limits(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """The least and the largest integer of a type, those of 2 and 4 bits included."""
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
    ctype, name = c_type(target), f"host_quantize_{target.name if target.name in NIBBLES else suffix(target)}"
    low, high = (literal(float(limit), np.dtype(np.float32)) for limit in (least, most))
    site.uses.helper(
        name,
        "/* Half to even, then saturation. */\n"
        f"static inline {ctype} {name}(float quotient, int32_t zero_point)\n{{\n"
        "    const float value = nearbyintf(quotient) + (float)zero_point;\n"
        f"    return ({ctype})(value > {low} ? (value < {high} ? value : {high}) : {low});\n}}\n",
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


def _power_of_two(value: Value) -> int | None:
    """The shift behind a literal divisor."""
    divisor = int(value.literal) if value.literal is not None else 0
    return divisor.bit_length() - 1 if divisor > 0 and divisor & (divisor - 1) == 0 else None


def _scaled_clip(site: Site, total: str, divisor: Value, low: Value, high: Value) -> str:
    """clip(floor(total / divisor), low, high) of a 64-bit total."""
    ctype, shift = c_type(site.result), _power_of_two(divisor)
    if shift is not None:
        name = f"host_shift_clip_{suffix(site.result)}"
        parameter, quotient = "int32_t shift", "total >> shift"
        note = "/* The shift of a negative total is arithmetic (gcc, clang), so it rounds down. */\n"
    else:
        name = f"host_divide_clip_{suffix(site.result)}"
        parameter, quotient, note = "int64_t divisor", "total / divisor - (total % divisor < 0 ? 1 : 0)", ""
    site.uses.helper(
        name,
        f"{note}static inline {ctype} {name}(int64_t total, {parameter}, int64_t low, int64_t high)\n{{\n"
        f"    const int64_t value = {quotient};\n"
        f"    return ({ctype})(value < low ? low : value > high ? high : value);\n}}\n",
    )
    bounds = [str(int(v.literal)) if v.literal is not None else v.text for v in (low, high)]
    return f"{name}({total}, {shift if shift is not None else divisor.text}, {', '.join(bounds)})"


def _linear(site: Site, addend: str, *products: tuple[str, str]) -> str:
    """The 64-bit sum of products and an addend, wrapping around."""
    name = f"host_linear_{len(products)}"
    names = "xyz"[: len(products)]
    declared = ", ".join(f"int64_t {n}, int64_t m{n}" for n in names)
    terms = " + ".join(f"(uint64_t){n} * (uint64_t)m{n}" for n in names)
    site.uses.helper(
        name,
        f"static inline int64_t {name}({declared}, int64_t addend)\n{{\n"
        f"    return (int64_t)({terms} + (uint64_t)addend);\n}}\n",
    )
    factors = ", ".join(f"{value}, {multiplier}" for value, multiplier in products)
    return f"{name}({factors}, {addend})"


def _plain(value: Value) -> str:
    """Text of a 64-bit argument: small literals without the INT64_C() that the parameter's type makes needless."""
    if value.literal is not None and abs(value.literal) < 2**31:
        return str(int(value.literal))
    return value.text


def _requant(site: Site) -> str:
    x, multiplier, addend, divisor, low, high = site.values
    total = _linear(site, _plain(addend), (x.text, _plain(multiplier)))
    return _scaled_clip(site, total, divisor, low, high)


def _add_requant(site: Site) -> str:
    a, b, multiplier_a, multiplier_b, addend, divisor, low, high = site.values
    total = _linear(site, _plain(addend), (a.text, _plain(multiplier_a)), (b.text, _plain(multiplier_b)))
    return _scaled_clip(site, total, divisor, low, high)


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


def _float_steps(dtype: np.dtype[np.generic]) -> Work:
    return Work(floating=4, floating_divide=1)


def _dequantize_work(dtype: np.dtype[np.generic]) -> Work:
    return Work(integer=1, floating=2)


def _requant_work(dtype: np.dtype[np.generic]) -> Work:
    return Work(wide_multiply=1, wide=4)


def _add_requant_work(dtype: np.dtype[np.generic]) -> Work:
    return Work(wide_multiply=2, wide=5)


def _one(dtype: np.dtype[np.generic]) -> Work:
    return Work(integer=1)


def _load(dtype: np.dtype[np.generic]) -> Work:
    return Work(memory=1, integer=1)


def _divisor(node: gs.Node) -> str | None:
    index = 3 if node.op.startswith("Requant") else 5
    values = constant_at(node, index)
    least = int(values.min()) if values is not None and values.size else 0
    return None if least > 0 else f"the divisor is {least}"


def _table_size(node: gs.Node) -> str | None:
    size = elements(shape_of(node.inputs[1]))
    return None if size == 256 else f"the table has {size} entries"


def _scales(node: gs.Node) -> str | None:
    rank = len(shape_of(node.inputs[1]))
    return None if rank <= 1 else f"scales have rank {rank}"


BYTES = ("int8", "uint8")
SUMS = (*BYTES, "int32", "int64")
#: What tensors are quantised to.
STORED = ("int8", "uint8", "int16", "uint16", *NIBBLES)
CODES = tuple(name for name in SMALL if name != "bfloat16")
_REQUANT_RULES = (constants(3), NodeRule("divisor", "the divisor is positive", _divisor))
_ADD_RULES = (constants(5), NodeRule("divisor", "the divisor is positive", _divisor))
_TABLE_RULES = (NodeRule("table", "the table has 256 entries", _table_size),)
_SCALE_RULES = (
    NodeRule("scales", "one scale for the tensor or one per index of an axis", _scales),
    attribute_is("block_size", 0, 0),
)

QUANTIZE_OPS = (
    ScalarOp(
        "QuantizeLinear",
        ("float32", "float16", "int32"),
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
        rules=(*_SCALE_RULES, result_types(("float32", "float16"))),
    ),
    ScalarOp("match.arith::RequantU8", SUMS, _requant, _requant_work, rules=_REQUANT_RULES),
    ScalarOp("match.arith::RequantI8", SUMS, _requant, _requant_work, rules=_REQUANT_RULES),
    ScalarOp("match.arith::AddRequantU8", BYTES, _add_requant, _add_requant_work, rules=_ADD_RULES),
    ScalarOp("match.arith::AddRequantI8", BYTES, _add_requant, _add_requant_work, rules=_ADD_RULES),
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
