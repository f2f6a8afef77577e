"""Fixed-point rounding in elementary operators: functions of the sum, and the numbers that equal them for every sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from match_core.contract.model import qualified_op
from match_core.passes.pipeline import run_passes
from match_quant.exact_requant import solve, steps_of
from match_quant.recognise_requant import RECOGNISE_REQUANT
from match_quant.requant import WIDE, Arithmetic
from match_quant.sum_forms import Form, Linear

from tests.pass_checks import VerifyPass

RANDOM = np.random.default_rng(31)
#: TFLite's rounding of sums to 8 bits: a multiple of 2^31 first, then halves away from zero.
AWAY = """p = Mul (d, M) n = Less (p, zero) v = Where (n, down, up) s = Add (p, v) q = Div (s, D31)
    n2 = Less (q, zero) v2 = Where (n2, half_down, half_up) s2 = Add (q, v2) r = Div (s2, D8)"""
CHAINS = {
    "away": AWAY,
    "up": "p = Mul (d, M) s = Add (p, B) e = Mod (s, D39) f = Sub (s, e) r = Div (f, D39)",
    "toward zero": "p = Mul (d, M) r = Div (p, D39)",
}
HEAD = "g (int8[1,4,5,5] x) => (int8[1,6,5,5] y) { a = ConvInteger <kernel_shape = [1,1]> (x, w) d = Cast <to = 7> (a)"


def chain(model_of, body: str, lo: int = -128, zero: int = 0, **changed):
    constants = {
        "w": RANDOM.integers(-127, 128, (6, 4, 1, 1)).astype(np.int8),
        "M": RANDOM.integers(1 << 30, (1 << 31) - 1, (1, 6, 1, 1)),
        "B": np.int64(1 << 38),
        "up": np.int64(1 << 30),
        "down": np.int64(1 - (1 << 30)),
        "half_up": np.int64(1 << 7),
        "half_down": np.int64(-(1 << 7)),
        "D31": np.int64(1 << 31),
        "D8": np.int64(1 << 8),
        "D39": np.int64(1 << 39),
        "zero": np.int64(0),
        "z": np.int64(zero),
        "lo": np.int64(lo),
        "hi": np.int64(127),
        **changed,
    }
    text = f"{HEAD} {body} t = Add (r, z) c = Clip (t, lo, hi) y = Cast <to = 3> (c) }}"
    used = {n: v for n, v in constants.items() if f"({n}," in text or f" {n})" in text or f" {n}," in text}
    return model_of(text, used)


def ops(model, context) -> list[str]:
    for seed in range(3):
        result = run_passes(model, (RECOGNISE_REQUANT,), context, [VerifyPass(seed=seed)])
    return [qualified_op(node) for node in result.graph.nodes]


@pytest.mark.parametrize(
    ("name", "lo", "zero", "sums"),
    [
        ("up", -128, 3, 1),
        ("away", -20, -20, 1),  # results below the zero point saturate: one rounding is left
        ("away", -128, -20, 2),
        ("toward zero", -128, 5, 2),
        ("toward zero", 5, 5, 1),
    ],
)
def test_recognised(model_of, accelerated, name, lo, zero, sums):
    found = ops(chain(model_of, CHAINS[name], lo, zero), accelerated)
    assert found.count("ConvInteger") == found.count("match.arith::RequantU8") == sums
    assert found.count("match.arith::AddRequantU8") == sums - 1
    assert not {"Div", "Where", "Mod", "Clip"} & set(found)


def test_the_host_keeps_rounding_by_sign(model_of, host_only):
    assert "Where" in ops(chain(model_of, CHAINS["away"], zero=-20), host_only)


@pytest.mark.parametrize(
    ("name", "body", "changed"),
    [
        ("a choice by another tensor", AWAY.replace("Less (q, zero)", "Less (d, zero)").replace("n2", "n3"), {}),
        ("another modulus", CHAINS["up"].replace("Mod (s, D39)", "Mod (s, D31)"), {}),
        ("a number per pixel", CHAINS["toward zero"], {"M": np.full((1, 1, 5, 5), 1 << 30)}),
        ("a negative factor", CHAINS["toward zero"], {"M": np.int64(-(1 << 30))}),
        ("a factor after the division", "p = Mul (d, M) q = Div (p, D39) r = Mul (q, D8)", {}),
        ("a square", "p = Mul (d, d) r = Div (p, D8)", {}),
        ("a sum that may overflow", "p = Mul (d, M) o = Mul (p, D31) r = Div (o, D39)", {}),
    ],
)
def test_others_stay(model_of, accelerated, name, body, changed):
    found = ops(chain(model_of, body, zero=1, **changed), accelerated)
    assert "Div" in found and "match.arith::RequantU8" not in found


def test_what_others_read_stays(model_of, accelerated):
    model = chain(model_of, CHAINS["up"], zero=1)
    model.graph.outputs.append(model.graph.tensors()["r"])
    assert "Div" in ops(model, accelerated)


#: TFLite's addition: both operands to a common scale, the sum to the result's.
SUM = """g (int8[1,4,5,5] x, int8[1,4,5,5] z) => (int8[1,4,5,5] y) {{
    xd = Cast <to = 7> (x) xm = Sub (xd, xz) xl = Mul (xm, left) {x}
    zd = Cast <to = 7> (z) zm = Sub (zd, zz) zl = Mul (zm, left) {z}
    d = Add (xr, zr) {s} t = Add (r, yz) c = Clip (t, lo, hi) y = Cast <to = 3> (c) }}"""


def rounded(source: str, factor: str, result: str) -> str:
    p = result
    return f"""{p}p = Mul ({source}, {factor}) {p}n = Less ({p}p, zero) {p}v = Where ({p}n, down, up)
        {p}s = Add ({p}p, {p}v) {p}q = Div ({p}s, D31) {p}m = Less ({p}q, zero) {p}w = Where ({p}m, half_down, half_up)
        {p}u = Add ({p}q, {p}w) {result} = Div ({p}u, D8)"""


def summed(model_of, **changed):
    constants = {
        "xz": np.int64(-128),
        "zz": np.int64(5),
        "yz": np.int64(-17),
        "left": np.int64(1 << 20),
        "Mx": np.int64(1695498176),
        "Mz": np.int64(1073741824),
        "My": np.int64(1415577600),
        "up": np.int64(1 << 30),
        "down": np.int64(1 - (1 << 30)),
        "half_up": np.int64(2),
        "half_down": np.int64(-2),
        "D31": np.int64(1 << 31),
        "D8": np.int64(4),
        "big": np.int64(1 << 14),
        "big_up": np.int64(1 << 13),
        "big_down": np.int64(-(1 << 13)),
        "zero": np.int64(0),
        "lo": np.int64(-128),
        "hi": np.int64(127),
        **changed,
    }
    last = rounded("d", "My", "r").replace("half_", "big_").replace("D8", "big")
    text = SUM.format(x=rounded("xl", "Mx", "xr"), z=rounded("zl", "Mz", "zr"), s=last)
    return model_of(text, constants)


@pytest.mark.parametrize("context_name", ["accelerated", "host_only"])
def test_a_sum_of_two_tensors(model_of, request, context_name):
    found = ops(summed(model_of), request.getfixturevalue(context_name))
    kind = "U8" if context_name == "accelerated" else "I8"
    assert [op for op in found if not op.startswith("match.arith::Offset")] == [f"match.arith::AddRequant{kind}"]


@pytest.mark.parametrize(
    "changed",
    [
        {"half_down": np.int64(40_000_000)},  # a gap where a sign changes
        {"zz": np.arange(4).reshape(1, 4, 1, 1)},  # another zero point for each channel
        {"left": np.int64(1 << 45)},  # products wrap around
    ],
)
def test_other_sums_stay(model_of, accelerated, changed):
    assert "Div" in ops(summed(model_of, **changed), accelerated)


def exact(*values: int) -> np.ndarray:
    return np.array(values, object)


@pytest.mark.parametrize("seed", range(40))
def test_numbers_equal_the_function_for_every_sum(seed):
    """Brute force over all sums of one channel, with and without a choice by sign."""
    rng = np.random.default_rng(seed)
    m, d, last = int(rng.integers(1, 4000)), int(rng.integers(1, 1 << 12)), int(rng.integers(10, 3000))
    b, offset = int(rng.integers(-d * 40, d * 40)), int(rng.integers(-500, 500))
    high = Linear(exact(m), exact(b), exact(d))
    low = Linear(exact(m), exact(b - int(rng.integers(0, d))), exact(d)) if seed % 2 else high
    form = Form(high, low, Linear(exact(m), exact(int(rng.integers(-d, d))), exact(1)) if seed % 2 else None)
    lo, hi = sorted(int(v) for v in rng.integers(-128, 128, 2))
    steps = steps_of(form, (exact(-last), exact(last)), lo, hi)
    sums = range(-last, last + 1)

    def wanted(total: int) -> int:
        side = form.low if form.test is not None and total * m + int(form.test.b[0]) < 0 else form.high
        return min(max(int(side.of(exact(total))[0]), lo), hi)

    assert steps is not None
    assert [lo + sum(at <= total for at in steps.at[0]) for total in sums] == [wanted(total) for total in sums]
    _check(steps, lo, hi, offset, sums, wanted)


def _check(steps, lo: int, hi: int, offset: int, sums: range, wanted: Callable[[int], int]) -> None:
    for limits in (WIDE, Arithmetic((1 << 12) - 1, 31, 0, 20)):
        found = solve(steps, [offset], limits)
        if found is None:
            continue
        (m,), (b,), s = found.multiplier, found.addend, found.shift
        assert [min(max(((t + offset) * m + b) >> s, lo), hi) for t in sums] == [wanted(t) for t in sums]


def test_some_functions_have_no_numbers():
    """A gap at zero that no line crosses."""
    high, low = (Linear(exact(1), exact(b), exact(4)) for b in (0, -9))
    form = Form(high, low, Linear(exact(1), exact(0), exact(1)))
    steps = steps_of(form, (exact(-400), exact(400)), -100, 100)
    assert steps is not None and solve(steps, [0], WIDE) is None
    assert solve(steps.part(0, 100), [0], WIDE) is not None and solve(steps.part(-100, -3), [0], WIDE) is not None
