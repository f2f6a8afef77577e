"""Arithmetic on integers and floating point: sums, products, quotients, minima, bits.

Integer sums and products wrap around as two's complement (they go through unsigned types, so nothing is undefined);
division truncates towards zero, a zero divisor gives 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from match_core.contract.element_types import c_type

from match_host.graph import dtype_of, integer, text
from match_host.kernels.scalar import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    ScalarOp,
    Site,
    Value,
    one_argument,
    simple,
    two_arguments,
    wide_unsigned,
)
from match_host.kernels.work import Work


def _wrapping(word: str, symbol: str) -> Callable[[Site], str]:
    def render(site: Site) -> str:
        first, *others = site.texts()
        for other in others:
            if site.result.kind == "f":
                first = f"{first} {symbol} {other}"
            else:
                ctype, wide = c_type(site.result), wide_unsigned(site.result)
                body = f"({ctype})(({wide})a {symbol} ({wide})b)"
                first = f"{two_arguments(site.uses, word, site.result, body)}({first}, {other})"
        return first

    return render


def _safe_divisor(value: Value) -> bool:
    """Whether the divisor is known to be neither 0 nor -1, for which C leaves the result undefined."""
    if value.literal is not None:
        return value.literal not in (0, -1)
    return value.low is not None and value.low > 0


def _divide(site: Site) -> str:
    (a, b), dtype = site.values, site.result
    if dtype.kind == "f":
        return f"{a.text} / {b.text}"
    ctype, wide = c_type(dtype), wide_unsigned(dtype)
    if _safe_divisor(b):
        return f"({ctype})({a.text} / {b.text})" if dtype.itemsize < 4 else f"{a.text} / {b.text}"
    negated = f"b == -1 ? ({ctype})(0u - ({wide})a) : " if dtype.kind == "i" else ""
    body = f"b == 0 ? 0 : {negated}({ctype})(a / b)"
    return f"{two_arguments(site.uses, 'div', dtype, body)}({a.text}, {b.text})"


def _modulo(site: Site) -> str:
    (a, b), dtype = site.values, site.result
    if dtype.kind == "f":
        remainder = f"{site.math('fmod')}({a.text}, {b.text})"
        if integer(site.node, "fmod", 0):
            return remainder
        # As for integers: the remainder takes the divisor's sign, also if it is zero.
        zero = site.number(0.0)
        body = f"r != {zero} ? ((r < {zero}) != (b < {zero}) ? r + b : r) : {site.math('copysign')}({zero}, b)"
        return f"{two_arguments(site.uses, 'sign_mod', dtype, body, 'r', 'b')}({remainder}, {b.text})"
    ctype = c_type(dtype)
    special = "b == 0 || b == -1" if dtype.kind == "i" else "b == 0"
    if dtype.kind == "u" or integer(site.node, "fmod", 0):
        body = f"{special} ? 0 : ({ctype})(a % b)"
        return f"{two_arguments(site.uses, 'rem', dtype, body)}({a.text}, {b.text})"
    # The remainder takes the divisor's sign: add the divisor if the signs differ.
    body = f"{special} ? 0 : ({ctype})(a % b + ((a % b != 0 && ((a % b) < 0) != (b < 0)) ? b : 0))"
    return f"{two_arguments(site.uses, 'floor_mod', dtype, body)}({a.text}, {b.text})"


def _extreme_helper(site: Site, word: str) -> str:
    """A helper that returns the smaller or larger of two values, or NaN if either is NaN."""
    symbol, nan = "<" if word == "min" else ">", ""
    if site.result.kind == "f":
        site.uses.include("math.h")
        nan = " || isnan(a)"
    return two_arguments(site.uses, word, site.result, f"a {symbol} b{nan} ? a : b")


def _extreme(word: str) -> Callable[[Site], str]:
    def render(site: Site) -> str:
        first, *others = site.texts()
        for other in others:
            first = f"{_extreme_helper(site, word)}({first}, {other})"
        return first

    return render


def _clip(site: Site) -> str:
    value, low, high = (*site.arguments, None, None)[:3]
    if value is None:
        raise ValueError("Clip without input")
    if site.result.kind == "f":
        return _clip_real(site, value.text, low, high)
    result = value.text
    if low is not None:
        result = f"{_extreme_helper(site, 'max')}({result}, {low.text})"
    if high is not None:
        result = f"{_extreme_helper(site, 'min')}({result}, {high.text})"
    return result


def _clip_real(site: Site, result: str, low: Value | None, high: Value | None) -> str:
    """NaN stays and limits that are NaN do nothing; an omitted limit is the largest finite number (the standard)."""
    largest = float(np.finfo(site.result.name).max) if dtype_of(site.node.inputs[0]) != np.float16 else 65504.0
    ends = [end.text if end else site.number(bound) for end, bound in ((low, -largest), (high, largest))]
    for word, symbol, end in zip(("low", "high"), "<>", ends, strict=True):
        helper = two_arguments(site.uses, f"clip_{word}", site.result, f"a {symbol} b ? b : a")
        result = f"{helper}({result}, {end})"
    return result


def _negate(site: Site) -> str:
    (a,), dtype = site.texts(), site.result
    if dtype.kind == "f":
        return f"-{a}"
    ctype, wide = c_type(dtype), wide_unsigned(dtype)
    return f"{one_argument(site.uses, 'neg', dtype, f'({ctype})(({wide})0 - ({wide})a)')}({a})"


def _absolute(site: Site) -> str:
    (a,), dtype = site.texts(), site.result
    if dtype.kind == "f":
        return f"{site.math('fabs')}({a})"
    if dtype.kind == "u":
        return a
    ctype, wide = c_type(dtype), wide_unsigned(dtype)
    return f"{one_argument(site.uses, 'abs', dtype, f'a < 0 ? ({ctype})(({wide})0 - ({wide})a) : a')}({a})"


def _sign(site: Site) -> str:
    (a,), dtype = site.texts(), site.result
    body = "a > 0 ? 1 : a < 0 ? -1 : 0" if dtype.kind == "i" else "a > 0 ? 1 : 0"
    if dtype.kind == "f":
        one, zero = site.number(1.0), site.number(0.0)
        body = f"a > {zero} ? {one} : a < {zero} ? -{one} : a == {zero} ? {zero} : a"  # NaN stays
    return f"{one_argument(site.uses, 'sign', dtype, body)}({a})"


def _relu(site: Site) -> str:
    (a,), zero = site.texts(), site.number(0)
    return f"{a} < {zero} ? {zero} : {a}" if site.result.kind == "f" else f"{a} > {zero} ? {a} : {zero}"  # NaN stays


def _mean(site: Site) -> str:
    total = " + ".join(site.texts())
    return f"({total}) / {site.number(len(site.values))}"


def _shift(site: Site) -> str:
    (a, b), dtype = site.values, site.result
    left = text(site.node, "direction", "LEFT") == "LEFT"
    ctype, wide, bits = c_type(dtype), wide_unsigned(dtype), 8 * dtype.itemsize
    body = f"b >= {bits} ? 0 : ({ctype})(({wide})a {'<<' if left else '>>'} b)"
    if dtype.kind == "i":  # from opset 28 on; a negative shift counts as too large
        beyond = f"b < 0 || b >= {bits}"
        shifted = f"0 : ({ctype})(({wide})a << b)" if left else f"(a < 0 ? -1 : 0) : ({ctype})(a >> b)"
        body = f"{beyond} ? {shifted}"
    return f"{two_arguments(site.uses, 'shl' if left else 'shr', dtype, body)}({a.text}, {b.text})"


def _bitwise(symbol: str) -> Callable[[Site], str]:
    def render(site: Site) -> str:
        a, b = site.texts()
        ctype = c_type(site.result)
        return f"({ctype})({a} {symbol} {b})" if site.result.itemsize < 4 else f"{a} {symbol} {b}"

    return render


def _bitwise_not(site: Site) -> str:
    (a,) = site.texts()
    return f"({c_type(site.result)})(~{a})" if site.result.itemsize < 4 else f"~{a}"


def _multiply_work(dtype: np.dtype[np.generic]) -> Work:
    if dtype.kind == "f":
        return Work(floating=1)
    return Work(wide_multiply=1) if dtype.itemsize == 8 else Work(integer=1)


def _divide_work(dtype: np.dtype[np.generic]) -> Work:
    if dtype.kind == "f":
        return Work(floating_divide=1)
    return Work(wide_divide=1) if dtype.itemsize == 8 else Work(divide=1)


def _twice(dtype: np.dtype[np.generic]) -> Work:
    return simple(dtype).times(2)


ARITHMETIC_OPS = (
    ScalarOp("Add", NUMBERS, _wrapping("add", "+"), simple),
    ScalarOp("Sub", NUMBERS, _wrapping("sub", "-"), simple),
    ScalarOp("Mul", NUMBERS, _wrapping("mul", "*"), _multiply_work),
    ScalarOp("Div", NUMBERS, _divide, _divide_work),
    ScalarOp("Mod", NUMBERS, _modulo, _divide_work),
    ScalarOp("Sum", FLOATS, _wrapping("add", "+"), simple),
    ScalarOp("Mean", FLOATS, _mean, _divide_work),
    ScalarOp("Min", NUMBERS, _extreme("min"), simple),
    ScalarOp("Max", NUMBERS, _extreme("max"), simple),
    ScalarOp("Clip", NUMBERS, _clip, _twice),
    ScalarOp("Neg", SIGNED + FLOATS, _negate, simple),
    ScalarOp("Abs", NUMBERS, _absolute, _twice),
    ScalarOp("Sign", NUMBERS, _sign, _twice),
    ScalarOp("Relu", SIGNED + FLOATS, _relu, simple),
    ScalarOp("BitShift", INTEGERS, _shift, simple),
    ScalarOp("BitwiseAnd", INTEGERS, _bitwise("&"), simple),
    ScalarOp("BitwiseOr", INTEGERS, _bitwise("|"), simple),
    ScalarOp("BitwiseXor", INTEGERS, _bitwise("^"), simple),
    ScalarOp("BitwiseNot", INTEGERS, _bitwise_not, simple),
)
