"""Functions of real numbers in the type of the tensor: from match_math.h for float32, else from libm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from match_host.graph import number, text
from match_host.kernels.scalar import (
    FLOATS,
    ScalarOp,
    Site,
    Value,
    always,
    scalar_type,
    suffix,
    two_arguments,
    wide_unsigned,
)
from match_host.kernels.work import Work


def _call(name: str) -> Callable[[Site], str]:
    def render(site: Site) -> str:
        return f"{site.math(name)}({site.texts()[0]})"

    return render


def _helper(site: Site, name: str, body: str, *parameters: str) -> str:
    """A helper of one variable ``x`` and literal parameters ``p0``, ``p1``; returns the call."""
    ctype = scalar_type(site.result)
    full = f"host_{name}_{suffix(site.result)}"
    declared = ", ".join([f"{ctype} x", *(f"{ctype} p{i}" for i in range(len(parameters)))])
    site.uses.helper(full, f"static inline {ctype} {full}({declared})\n{{\n    return {body};\n}}\n")
    return f"{full}({', '.join([site.texts()[0], *parameters])})"


def _sigmoid(site: Site) -> str:
    one = site.number(1)
    return f"{one} / ({one} + {site.math('exp')}(-{site.texts()[0]}))"


def _single(site: Site) -> bool:
    """Whether variables are float32, for which match_math.h has branch-free functions."""
    return site.result.kind == "f" and site.result.itemsize == 4


def _reciprocal(site: Site) -> str:
    return f"{site.number(1)} / {site.texts()[0]}"


def _softplus(site: Site) -> str:
    if _single(site):
        return f"match_softplus({site.texts()[0]})"
    exp, log1p, fabs = (site.math(f) for f in ("exp", "log1p", "fabs"))
    zero = site.number(0)
    return _helper(site, "softplus", f"(x > {zero} ? x : {zero}) + {log1p}({exp}(-{fabs}(x)))")


def _softsign(site: Site) -> str:
    x = site.texts()[0]
    return f"{x} / ({site.number(1)} + {site.math('fabs')}({x}))"


def _leaky_relu(site: Site) -> str:
    x, slope = site.texts()[0], site.number(number(site.node, "alpha", 0.01))
    fast = _single(site) and number(site.node, "alpha", 0.01) >= 0
    return f"match_leaky({x}, {slope})" if fast else f"{x} < {site.number(0)} ? {slope} * {x} : {x}"


def _prelu(site: Site) -> str:
    x, slope = site.texts()
    low, high = site.values[1].low, site.values[1].high
    if _single(site) and low is not None and high is not None and 0 <= low <= high < np.inf:
        return f"match_leaky({x}, {slope})"  # which multiplies -0.0 with the slope
    product = f"{slope} * {x}"
    if site.result.kind in "iu":  # products wrap around
        ctype, wide = scalar_type(site.result), wide_unsigned(site.result)
        product = f"({ctype})(({wide}){slope} * ({wide}){x})"
    if site.result.kind == "u":  # none is negative
        return f"{two_arguments(site.uses, 'first', site.result, '(void)b, a')}({x}, {slope})"
    return f"{x} < {site.number(0)} ? {product} : {x}"


def _elu(site: Site) -> str:
    alpha = site.number(number(site.node, "alpha", 1.0))
    if _single(site):
        return f"match_elu({site.texts()[0]}, {alpha})"
    return _helper(site, "elu", f"x < {site.number(0)} ? p0 * {site.math('expm1')}(x) : x", alpha)


def _selu(site: Site) -> str:
    alpha = site.number(number(site.node, "alpha", 1.67326319217681884765625))
    gamma = site.number(number(site.node, "gamma", 1.05070102214813232421875))
    if _single(site):
        return f"{gamma} * match_elu({site.texts()[0]}, {alpha})"
    body = f"p1 * (x < {site.number(0)} ? p0 * {site.math('expm1')}(x) : x)"
    return _helper(site, "selu", body, alpha, gamma)


def _unit_clip(site: Site, slope: float, offset: float) -> str:
    """max(0, min(1, slope * x + offset))."""
    if _single(site):
        return f"match_unit({site.number(slope)} * {site.texts()[0]} + {site.number(offset)})"
    one, zero, linear = site.number(1), site.number(0), "p0 * x + p1"
    body = f"{linear} > {one} ? {one} : {linear} > {zero} ? {linear} : {zero}"
    return _helper(site, "hard_sigmoid", body, site.number(slope), site.number(offset))


def _hard_sigmoid(site: Site) -> str:
    return _unit_clip(site, number(site.node, "alpha", 0.2), number(site.node, "beta", 0.5))


def _hard_swish(site: Site) -> str:
    return f"{site.texts()[0]} * {_unit_clip(site, 1 / 6, 0.5)}"


def _swish(site: Site) -> str:
    x, one = site.texts()[0], site.number(1)
    scaled = site.number(number(site.node, "alpha", 1.0))
    return f"{x} / ({one} + {site.math('exp')}(-{scaled} * {x}))"


def _mish(site: Site) -> str:
    """x * tanh(log(1 + exp(x))), where tanh(log(w)) = (w^2 - 1) / (w^2 + 1)."""
    if _single(site):
        return f"match_mish({site.texts()[0]})"
    ctype, two, name = scalar_type(site.result), site.number(2), f"host_mish_{suffix(site.result)}"
    # Beyond 20 the quotient is 1; taking the minimum keeps the square finite.
    site.uses.helper(
        name,
        f"static inline {ctype} {name}({ctype} x)\n{{\n"
        f"    const {ctype} e = {site.math('exp')}(x > {site.number(20)} ? {site.number(20)} : x);\n"
        f"    const {ctype} n = e * (e + {two});\n"
        f"    return x * (n / (n + {two}));\n}}\n",
    )
    return f"{name}({site.texts()[0]})"


def _gelu(site: Site) -> str:
    half, one = site.number(0.5), site.number(1)
    if text(site.node, "approximate", "none") == "tanh":
        root, cubic = site.number(np.sqrt(2 / np.pi)), site.number(0.044715)
        inner = f"{root} * (x + {cubic} * x * x * x)"
        return _helper(site, "gelu_tanh", f"{half} * x * ({one} + {site.math('tanh')}({inner}))")
    inner = f"x * {site.number(np.sqrt(0.5))}"
    return _helper(site, "gelu", f"{half} * x * ({one} + {site.math('erf')}({inner}))")


def _float_keeps(value: Value) -> bool:
    """Whether float32 keeps the integers of a constant."""
    return value.low is not None and value.high is not None and max(-value.low, value.high) <= 1 << 24


def _power(site: Site) -> str:
    base, exponent = site.values
    if base.dtype.kind == "f" and exponent.literal in (2, 3):
        return " * ".join([base.text] * int(exponent.literal))
    if base.dtype.kind == "f" and exponent.literal == 0.5:
        return f"{site.math('sqrt')}({base.text})"
    # Float32 keeps neither all integers of 32 bits nor whether they are even, which decides the sign.
    wide = exponent.dtype.kind in "iu" and exponent.dtype.itemsize >= 4 and base.dtype.itemsize < 8
    if base.dtype.kind == "f" and wide and not _float_keeps(exponent):
        site.uses.include("math.h")
        return f"({scalar_type(site.result)})pow((double){base.text}, (double){exponent.text})"
    if base.dtype.kind == "f":
        other = exponent.text if exponent.dtype == base.dtype else f"({scalar_type(site.result)}){exponent.text}"
        return f"{site.math('pow')}({base.text}, {other})"
    site.uses.include("math.h")
    return f"({scalar_type(site.result)})pow((double){base.text}, (double){exponent.text})"


_special = always(Work(special=1))
_root = always(Work(floating_divide=1))
_few = always(Work(floating=3))

FLOAT_OPS = (
    *(
        ScalarOp(name, FLOATS, _call(function), _special)
        for name, function in (
            ("Exp", "exp"),
            ("Log", "log"),
            ("Tanh", "tanh"),
            ("Erf", "erf"),
            ("Sin", "sin"),
            ("Cos", "cos"),
            ("Tan", "tan"),
            ("Asin", "asin"),
            ("Acos", "acos"),
            ("Atan", "atan"),
            ("Sinh", "sinh"),
            ("Cosh", "cosh"),
            ("Asinh", "asinh"),
            ("Acosh", "acosh"),
            ("Atanh", "atanh"),
        )
    ),
    ScalarOp("Sqrt", FLOATS, _call("sqrt"), _root),
    ScalarOp("Floor", FLOATS, _call("floor"), _few),
    ScalarOp("Ceil", FLOATS, _call("ceil"), _few),
    ScalarOp("Round", FLOATS, _call("nearbyint"), _few),  # half to even in the default rounding mode
    ScalarOp("Sigmoid", FLOATS, _sigmoid, _special),
    ScalarOp("Reciprocal", FLOATS, _reciprocal, _root),
    ScalarOp("Softplus", FLOATS, _softplus, _special),
    ScalarOp("Softsign", FLOATS, _softsign, _root),
    ScalarOp("LeakyRelu", FLOATS, _leaky_relu, _few),
    ScalarOp("PRelu", ("int32", "int64", "uint32", "uint64", *FLOATS), _prelu, _few),
    ScalarOp("Elu", FLOATS, _elu, _special),
    ScalarOp("Selu", FLOATS, _selu, _special),
    ScalarOp("HardSigmoid", FLOATS, _hard_sigmoid, _few),
    ScalarOp("HardSwish", FLOATS, _hard_swish, _few),
    ScalarOp("Swish", FLOATS, _swish, _special),
    ScalarOp("Mish", FLOATS, _mish, _special),
    ScalarOp("Gelu", FLOATS, _gelu, _special),
    ScalarOp("Pow", ("int32", "int64", *FLOATS), _power, _special),
)
