"""Requantisation: ``clip(floor(sum of products / divisor), low, high)`` of one or two tensors.

The form depends on the known ranges of multipliers and addends. If the sum fits 32 bits, all arithmetic has 32 bits. If
the sum fits 64 bits and the quotient 32, the products are signed products of 32-bit values, only the low 32 bits of the
shift are used, and the rest is 32-bit arithmetic. Compilers vectorise both forms. All forms give the same integers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.node_rule import NodeRule
from match_core.ir.topology import is_constant

from match_host.graph import constant_at, dtype_of, values_of
from match_host.kernels.scalar import ScalarOp, Site, Value, always, suffix
from match_host.kernels.work import Work
from match_host.rules import constants

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

BYTES = ("int8", "uint8")
SMALL = (*BYTES, "int16")
SUMS = (*SMALL, "int32", "int64")
#: Of a factor that is written as shifts.
_SHIFTED_DIGITS = 4


def _range(value: Value) -> tuple[int, int]:
    """The smallest and the largest possible value."""
    if value.literal is not None:
        return int(value.literal), int(value.literal)
    if value.low is not None and value.high is not None and abs(value.low) < 2**53 and abs(value.high) < 2**53:
        return int(value.low), int(value.high)
    info = np.iinfo(value.dtype.name)
    return int(info.min), int(info.max)


def _fits(bounds: tuple[int, int], bits: int) -> bool:
    return -(1 << (bits - 1)) <= bounds[0] and bounds[1] < 1 << (bits - 1)


def _total(products: list[tuple[Value, Value]], addend: Value) -> tuple[int, int]:
    """The range of the sum."""
    low, high = _range(addend)
    for one, other in products:
        corners = [a * b for a in _range(one) for b in _range(other)]
        low, high = low + min(corners), high + max(corners)
    return low, high


def _power_of_two(value: Value) -> int | None:
    """The shift for a literal divisor that is a power of two, else None."""
    divisor = int(value.literal) if value.literal is not None else 0
    return divisor.bit_length() - 1 if divisor > 0 and divisor & (divisor - 1) == 0 else None


def _number(site: Site, ctype: str, value: Value) -> str:
    """Text of a factor or addend: literals become arguments of the kernel, because nodes of equal sizes differ in
    them."""
    if value.literal is None or abs(value.literal) <= 1:
        return _plain(value)
    return site.uses.parameter(ctype, _plain(value), "addend" if ctype == "int64_t" else "multiplier")


def _plain(value: Value) -> str:
    """Text of a 64-bit value: small literals without INT64_C(), which their context makes redundant."""
    if value.literal is not None and abs(value.literal) < 2**31:
        return str(int(value.literal))
    return value.text


def _rendered(site: Site, products: list[tuple[Value, Value]], addend: Value, divisor: Value, *ends: Value) -> str:
    shift, total = _power_of_two(divisor), _total(products, addend)
    bounds = ", ".join(_plain(end) for end in ends)
    narrow = all(_fits(_range(value), 32) for pair in products for value in pair)
    if shift is not None and narrow and _in_one_word(products, addend) and all(end.literal is not None for end in ends):
        return f"{_word_shift(site)}({_word_sum(products, addend)}, {min(shift, 31)}, {bounds})"
    if shift is not None and narrow and _fits(total, 64) and all(end.literal is not None for end in ends):
        first = min(shift, 32)
        if _fits((total[0] >> first, total[1] >> first), 32):
            name, rest = _short_shift(site), site.uses.parameter("int32_t", str(shift - first), "shift")
            return f"{name}({_signed_sum(site, products, addend)}, {first}, {rest}, {bounds})"
    text = _wrapping_sum(site, products, addend)
    if shift is not None:
        return f"{_long_shift(site)}({text}, {site.uses.parameter('int32_t', str(shift), 'shift')}, {bounds})"
    return f"{_division(site)}({text}, {divisor.text}, {bounds})"


def _signed_sum(site: Site, products: list[tuple[Value, Value]], addend: Value) -> str:
    terms = [f"(int64_t){one.text} * {_number(site, 'int32_t', other)}" for one, other in products]
    return " + ".join([*terms, _number(site, "int64_t", addend)]) if addend.literal != 0 else " + ".join(terms)


def _in_one_word(products: list[tuple[Value, Value]], addend: Value) -> bool:
    """Whether 32 bits hold the sum and all partial sums, in order."""
    parts = [products[: number + 1] for number in range(len(products))]
    nothing = Value("0", addend.dtype, 0)
    if addend.literal == -(1 << 31):  # C has no 32-bit literal for it
        return False
    return all(_fits(_total(part, nothing), 32) for part in parts) and _fits(_total(products, addend), 32)


def _word(value: Value) -> str:
    """Text of a value as an int32_t or narrower."""
    if value.literal is not None:
        return str(int(value.literal))
    return value.text if value.dtype.itemsize < 8 else f"(int32_t){value.text}"


def _word_sum(products: list[tuple[Value, Value]], addend: Value) -> str:
    terms = [f"{_word(one)} * {_word(other)}" for one, other in products]
    return " + ".join(terms if addend.literal == 0 else [*terms, _word(addend)])


def _wrapping_sum(site: Site, products: list[tuple[Value, Value]], addend: Value) -> str:
    """The 64-bit sum, wrapping around."""
    name = f"host_linear_{len(products)}"
    names = "xyz"[: len(products)]
    declared = ", ".join(f"int64_t {n}, int64_t m{n}" for n in names)
    terms = " + ".join(f"(uint64_t){n} * (uint64_t)m{n}" for n in names)
    site.uses.helper(
        name,
        f"static inline int64_t {name}({declared}, int64_t addend)\n{{\n"
        f"    return (int64_t)({terms} + (uint64_t)addend);\n}}\n",
    )
    factors = ", ".join(f"{one.text}, {_number(site, 'int64_t', other)}" for one, other in products)
    return f"{name}({factors}, {_number(site, 'int64_t', addend)})"


def _helper(site: Site, name: str) -> str:
    """The name of a helper that ends in ``_clipped``, whose text differs for vectorised loops."""
    return f"{name}_{'within' if site.uses.vectors else 'clip'}_{suffix(site.result)}"


def _clipped(site: Site) -> str:
    """The end of a helper. Separate limits become a minimum and a maximum of vectors; on RISC-V without vectors this
    form takes up to 4 % more instructions (ResNet, ``benchmarks.host_riscv``)."""
    ctype = c_type(site.result)
    if not site.uses.vectors:
        return f"    return ({ctype})(value < low ? low : value > high ? high : value);\n"
    limited = "least > high ? high : least"
    end = f"    return {limited};\n" if ctype == "int32_t" else f"    return ({ctype})({limited});\n"
    return f"    const int32_t least = value < low ? low : value;\n{end}"


def _short_shift(site: Site) -> str:
    ctype, name = c_type(site.result), _helper(site, "host_shift")
    return site.uses.helper(
        name,
        "/* floor(total / 2^(first + rest)), which has 32 bits, then clipped. The shift of a negative value is\n"
        " * arithmetic (gcc, clang), so it rounds down; the first one, of at most 32 places, need not be. */\n"
        f"static inline {ctype} {name}(int64_t total, int32_t first, int32_t rest, int32_t low, int32_t high)\n{{\n"
        "    const int32_t value = (int32_t)(uint32_t)((uint64_t)total >> first) >> rest;\n"
        f"{_clipped(site)}}}\n",
    )


def _word_shift(site: Site) -> str:
    ctype, name = c_type(site.result), _helper(site, "host_word_shift")
    return site.uses.helper(
        name,
        "/* The shift of a negative total is arithmetic (gcc, clang), so it rounds down. */\n"
        f"static inline {ctype} {name}(int32_t total, int32_t shift, int32_t low, int32_t high)\n{{\n"
        "    const int32_t value = total >> shift;\n"
        f"{_clipped(site)}}}\n",
    )


def _long_shift(site: Site) -> str:
    ctype, name = c_type(site.result), f"host_long_shift_clip_{suffix(site.result)}"
    return site.uses.helper(
        name,
        "/* The shift of a negative total is arithmetic (gcc, clang), so it rounds down. */\n"
        f"static inline {ctype} {name}(int64_t total, int32_t shift, int64_t low, int64_t high)\n{{\n"
        "    const int64_t value = total >> shift;\n"
        f"    return ({ctype})(value < low ? low : value > high ? high : value);\n}}\n",
    )


def _division(site: Site) -> str:
    ctype, name = c_type(site.result), f"host_divide_clip_{suffix(site.result)}"
    return site.uses.helper(
        name,
        f"static inline {ctype} {name}(int64_t total, int64_t divisor, int64_t low, int64_t high)\n{{\n"
        "    const int64_t value = total / divisor - (total % divisor < 0 ? 1 : 0);\n"
        f"    return ({ctype})(value < low ? low : value > high ? high : value);\n}}\n",
    )


def _requant(site: Site) -> str:
    x, multiplier, addend, divisor, low, high = site.values
    return _rendered(site, [(x, multiplier)], addend, divisor, low, high)


def _add_requant(site: Site) -> str:
    a, b, multiplier_a, multiplier_b, addend, divisor, low, high = site.values
    return _rendered(site, [(a, multiplier_a), (b, multiplier_b)], addend, divisor, low, high)


def _requant_work(dtype: np.dtype[np.generic]) -> Work:
    """A product of 32-bit values (both halves: 3), a 64-bit sum, a shift of its upper half, two comparisons."""
    return Work(wide_multiply=1, wide=4) if dtype.itemsize == 8 else Work(wide=1, integer=8)


def in_one_word(node: gs.Node) -> bool:
    """Whether 32 bits hold the sums of a requantisation by a power of two, whatever its inputs are."""
    factors = (1,) if node.op.startswith("Requant") else (2, 3)
    products = [(_value(node, place), _value(node, factor)) for place, factor in enumerate(factors)]
    addend = _value(node, factors[-1] + 1)
    return _in_one_word(products, replace(addend, literal=addend.low if addend.low == addend.high else None))


def shifted_digits(node: gs.Node) -> tuple[int, int, int]:
    """Digits -1 and 1 of factors that have up to four: compilers for small cores write a product by these as shifts and
    sums (gcc 12.2 for M0+). Those behind the first one, of products of 32 bits (two instructions for each); or all
    digits of those of 64 bits, and how many such products there are."""
    if "Requant" not in node.op:
        return 0, 0, 0
    factors = (_value(node, place) for place in ((1,) if node.op.startswith("Requant") else (2, 3)))
    known = (int(abs(value.low)) for value in factors if value.low is not None and value.low == value.high)
    digits = ((factor ^ 3 * factor).bit_count() for factor in known)  # of the form without neighbouring digits
    few = [number for number in digits if 0 < number <= _SHIFTED_DIGITS]
    return (sum(few) - len(few), 0, 0) if in_one_word(node) else (0, sum(few), len(few))


def _value(node: gs.Node, index: int) -> Value:
    """What is known of an input."""
    tensor, dtype = node.inputs[index], dtype_of(node.inputs[index])
    values = values_of(tensor) if is_constant(tensor) else None
    if values is None or not values.size:
        return Value("", dtype)
    return Value("", dtype, None, float(values.min()), float(values.max()))


def _divisor(node: gs.Node) -> str | None:
    index = 3 if node.op.startswith("Requant") else 5
    values = constant_at(node, index)
    least = int(values.min()) if values is not None and values.size else 0
    return None if least > 0 else f"the divisor is {least}"


_add_requant_work = always(Work(wide=2, integer=11))

_REQUANT_RULES = (constants(3), NodeRule("divisor", "the divisor is positive", _divisor))
_ADD_RULES = (constants(5), NodeRule("divisor", "the divisor is positive", _divisor))

REQUANT_OPS = (
    ScalarOp("match.arith::RequantU8", SUMS, _requant, _requant_work, rules=_REQUANT_RULES),
    ScalarOp("match.arith::RequantI8", SUMS, _requant, _requant_work, rules=_REQUANT_RULES),
    ScalarOp("match.arith::RequantI16", SUMS, _requant, _requant_work, rules=_REQUANT_RULES),
    ScalarOp("match.arith::AddRequantU8", BYTES, _add_requant, _add_requant_work, rules=_ADD_RULES),
    ScalarOp("match.arith::AddRequantI8", BYTES, _add_requant, _add_requant_work, rules=_ADD_RULES),
    ScalarOp("match.arith::AddRequantI16", SMALL, _add_requant, _add_requant_work, rules=_ADD_RULES),
)
