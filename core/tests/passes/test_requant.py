"""The choice of M, B and S: within 1 of the real-valued rounding everywhere, no overflow. The judge here is plain
enumeration, which shares nothing with the library's chooser or its checker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_core.contract.hardware import RequantSpec, Unit
from match_core.ir.reader import Quant
from match_quant.integerise_add import choose_add, largest_add_error
from match_quant.requant import WIDE, Arithmetic, Target, arithmetics, choose_requant, shared_arithmetics
from match_quant.requant_check import Pair, overflows

from tests.examples import examples

FAST = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=32)
EXACT = RequantSpec(multiplier_bits=32, multiplier_signed=True, product_bits=64, shift_max=62)
NARROW = Arithmetic((1 << 31) - 1, 32, 0, 31)


def target(multiplier, offset, low, high, lo=0, hi=255, mean=None, sd=None) -> Target:
    m, c = np.asarray(multiplier, np.float64), np.asarray(offset, np.float64)
    ints = [np.broadcast_to(np.asarray(v, np.int64), m.shape) for v in (low, high)]
    mean = (ints[0] + ints[1]) / 2 if mean is None else np.broadcast_to(np.asarray(mean, np.float64), m.shape)
    sd = (ints[1] - ints[0]) / 20 + 1.0 if sd is None else np.broadcast_to(np.asarray(sd, np.float64), m.shape)
    return Target(m, c, *ints, *ints, lo, hi, mean, sd)


def enumerated_error(t: Target, chosen) -> int:
    """The largest difference over every accumulator of every channel, in integers and exact halves."""
    worst = 0
    for c in range(t.multiplier.size):
        acc = np.arange(int(t.acc_min[c]), int(t.acc_max[c]) + 1)
        integer = np.clip((acc * int(chosen.multiplier[c]) + int(chosen.addend[c])) >> chosen.shift, t.lo, t.hi)
        real = np.clip(np.floor(t.multiplier[c] * acc + t.offset[c] + 0.5), t.lo, t.hi)
        worst = max(worst, int(np.max(np.abs(integer - real))))
    return worst


def check_bounds(t: Target, chosen) -> None:
    limits = chosen.arithmetic
    assert limits.shift_min <= chosen.shift <= limits.shift_max
    for c in range(t.multiplier.size):
        m, b = int(chosen.multiplier[c]), int(chosen.addend[c])
        assert (-limits.multiplier_max if limits.signed else 0) <= m <= limits.multiplier_max
        for acc in (int(t.type_min[c]), 0, int(t.type_max[c])):
            for value in (acc * m, acc * m + b, b):
                assert -(2 ** (limits.product_bits - 1)) <= value < 2 ** (limits.product_bits - 1)


channels = st.lists(
    st.tuples(
        st.tuples(st.floats(-4.5, 0.5), st.sampled_from([1, -1])).map(lambda e: e[1] * 10.0 ** e[0]),  # multiplier
        st.floats(-400, 400),  # offset
        st.integers(0, 4000),  # reach below zero
        st.integers(0, 4000),  # reach above zero
    ),
    min_size=1,
    max_size=4,
)
signed = st.booleans()


@given(channels, signed)
@settings(max_examples=examples(200), deadline=None)
def test_within_one_everywhere(rows, is_signed):
    m, c, low, high = (np.array(column) for column in zip(*rows, strict=True))
    lo, hi = (-128, 127) if is_signed else (0, 255)
    t = target(m, c, -low, high, lo, hi)
    for choices in ((NARROW, WIDE), (WIDE,)):
        chosen = choose_requant(t, choices, 1.0)
        check_bounds(t, chosen)
        assert enumerated_error(t, chosen) <= 1


def test_negative_factors_need_signed_multipliers():
    t = target([0.01, -0.02], [100.0, 90.0], -3000, 3000)
    unsigned = Arithmetic((1 << 31) - 1, 32, 0, 31, signed=False)
    assert choose_requant(t, (unsigned, NARROW), 1.0).arithmetic == NARROW
    positive = target([0.01, 0.02], [100.0, 90.0], -3000, 3000)
    assert choose_requant(positive, (unsigned, NARROW), 1.0).arithmetic == unsigned


@given(channels, st.integers(0, 20), st.integers(-(2**22), 2**22), st.integers(-5000, 5000))
@settings(max_examples=examples(200), deadline=None)
def test_the_checker_finds_the_largest_error(rows, shift, addend, multiplier):
    m, c, low, high = (np.array(column) for column in zip(*rows, strict=True))
    t = target(m, c, -low, high)
    ms, bs = np.full(m.size, multiplier), np.full(m.size, addend)

    class Chosen:
        pass

    chosen = Chosen()
    chosen.multiplier, chosen.addend, chosen.shift = ms, bs, shift  # type: ignore[attr-defined]
    pair = Pair(m, c, ms, bs, shift, t.acc_min, t.acc_max)
    found = pair.largest_error(0, 255)
    assert found == enumerated_error(t, chosen)
    assert found <= 1 or not pair.is_certainly_near()


@given(channels, st.integers(8, 20), st.sampled_from([0.0, 0.4, 0.9, 1.1]))
@settings(max_examples=examples(200), deadline=None)
def test_what_is_certainly_near_is_near(rows, shift, distance):
    """Rounded multipliers, whose results move by a part of a step."""
    m, c, low, high = (np.array(column) for column in zip(*rows, strict=True))
    t = target(m, c, -low, high)
    step = 1 << shift
    ms, bs = np.rint(m * step).astype(np.int64), np.rint((c + 0.5 + distance) * step).astype(np.int64)
    pair = Pair(m, c, ms, bs, shift, t.acc_min, t.acc_max)
    certain = pair.is_certainly_near()
    moved = max(float(np.abs((ms / step - m) * acc).max()) for acc in (t.acc_min, t.acc_max))
    assert certain or moved + distance + 1 / step > 0.99, "it tells what the check of all steps is spared"
    assert not certain or pair.largest_error(0, 255) <= 1


@given(st.integers(0, 2**20), st.integers(-(2**33), 2**33), st.integers(-(2**20), 0), st.integers(0, 2**20))
def test_overflow_is_seen_at_the_edge(multiplier, addend, low, high):
    values = [v for acc in (low, 0, high) for v in (acc * multiplier, acc * multiplier + addend)] + [addend]
    expected = min(values) < -(2**31) or max(values) >= 2**31
    arrays = (np.array([v]) for v in (multiplier, addend, low, high))
    assert overflows(*arrays, 2**31) == expected


def test_large_layers_within_one_where_it_matters():
    """Accumulators of a 3x3x512 layer, too many to enumerate: every threshold and its neighbours."""
    random = np.random.default_rng(3)
    m = random.uniform(5e-4, 1.5e-3, 64)
    t = target(m, random.uniform(-100, 200, 64), -random.integers(1e5, 3e6, 64), random.integers(1e5, 3e6, 64))
    chosen = choose_requant(t, (NARROW, WIDE), 1.0)
    check_bounds(t, chosen)
    assert chosen.arithmetic == NARROW
    for c in range(64):
        steps = (np.arange(-1, 258) - 0.5 - t.offset[c]) / m[c]
        acc = np.unique(np.clip(np.rint(steps)[:, None] + np.arange(-3, 4), t.acc_min[c], t.acc_max[c]).astype(int))
        integer = np.clip((acc * int(chosen.multiplier[c]) + int(chosen.addend[c])) >> chosen.shift, 0, 255)
        assert np.max(np.abs(integer - np.clip(np.floor(m[c] * acc + t.offset[c] + 0.5), 0, 255))) <= 1


@given(st.floats(-300, 300), st.floats(1e-6, 1.0), st.integers(-1000, 1000))
def test_constant_channels_are_exact(offset, multiplier, value):
    """Weights that are all zero, or a channel whose input never changes."""
    real = multiplier * value + offset
    assume(abs(real - np.floor(real) - 0.5) > 1e-9)
    chosen = choose_requant(target([multiplier], [offset], value, value), (NARROW, WIDE), 0.0)
    assert chosen.multiplier.tolist() == [0]
    assert int(chosen.addend[0]) >> chosen.shift == int(np.clip(np.floor(real + 0.5), 0, 255))
    assert chosen.expected_mismatch == 0.0


def test_channels_that_always_saturate_do_not_cost_the_others_precision():
    rows = ([0.001, 0.5], [100.0, -1e9], [-200_000, 0], [200_000, 300])
    chosen = choose_requant(target(*map(np.array, rows)), (NARROW,), 1.0)
    alone = choose_requant(target([0.001], [100.0], -200_000, 200_000), (NARROW,), 1.0)
    assert chosen.shift == alone.shift
    assert chosen.multiplier.tolist() == [alone.multiplier[0], 0]
    assert int(chosen.addend[1]) >> chosen.shift == 0


def test_wider_arithmetic_is_taken_where_the_narrow_one_is_not_good_enough():
    t = target([0.00123], [10.0], -5_000_000, 5_000_000, sd=20_000, mean=0)
    narrow = choose_requant(t, (NARROW, WIDE), 1.0)
    assert narrow.arithmetic == NARROW
    assert narrow.expected_mismatch > 1e-4
    wide = choose_requant(t, (NARROW, WIDE), 1e-5)
    assert wide.arithmetic == WIDE
    assert wide.expected_mismatch < 1e-5


def test_what_cannot_be_done_narrowly_is_done_widely():
    """A multiplier of a few units cannot keep 255 levels within 1."""
    t = target([1e-7], [0.0], -(2**31), 2**31 - 1)
    tiny = Arithmetic(15, 16, 0, 31)
    assert choose_requant(t, (tiny, WIDE), 1.0).arithmetic == WIDE
    with pytest.raises(ValueError, match="within 1"):
        choose_requant(t, (tiny,), 1.0)


def test_a_good_guess_of_the_accumulators_helps():
    """The same layer, accumulators around 60 000: the expected share of differences counts where they are."""
    m, mean, sd = 0.001234567, 60_000.0, 15_000.0
    guessed = choose_requant(target([m], [30.0], -8e5, 8e5, mean=mean, sd=sd), (NARROW,), 1.0)
    ignorant = choose_requant(target([m], [30.0], -8e5, 8e5, mean=0.0, sd=1.0), (NARROW,), 1.0)
    acc = np.rint(np.random.default_rng(0).normal(mean, sd, 100_000)).astype(np.int64)
    real = np.clip(np.rint(m * acc + 30.0), 0, 255)

    def differing(chosen):
        integer = np.clip((acc * int(chosen.multiplier[0]) + int(chosen.addend[0])) >> chosen.shift, 0, 255)
        return np.mean(integer != real)

    assert differing(guessed) < differing(ignorant)
    assert abs(differing(guessed) - guessed.expected_mismatch) < 0.002


def test_ties_are_rounded_away_from_the_median():
    """Means of 64 values with an exact multiplier: as many ties go up as down around the usual value."""
    t = target([1 / 64], [0.0], 0, 64 * 255, mean=64 * 20, sd=64 * 6)
    chosen = choose_requant(t, (NARROW,), 1.0)
    ties = np.arange(0, 60) * 64 + 32
    up = (ties * int(chosen.multiplier[0]) + int(chosen.addend[0])) >> chosen.shift
    assert not (up[:15] > ties[:15] // 64).any()
    assert (up[25:] > ties[25:] // 64).all()


quants = st.builds(
    lambda scale, zero: Quant(10.0**scale, zero, np.dtype(np.uint8), 0, 255), st.floats(-4, 1), st.integers(0, 255)
)


@given(quants, quants, quants, st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_additions_and_differences(a, b, result, subtracted):
    assume(max(a.scale, b.scale) / result.scale < 1e4)
    b = replace(b, scale=-b.scale) if subtracted else b
    chosen = choose_add(a, b, result, (NARROW, WIDE))
    assert (chosen.multiplier_b <= 0) if subtracted else (chosen.multiplier_b >= 0)
    x, y = np.arange(256)[:, None], np.arange(256)[None, :]
    sums = x * chosen.multiplier_a + y * chosen.multiplier_b + chosen.addend
    integer = np.clip(sums >> chosen.shift, 0, 255)
    real = ((x - a.zero) * a.scale + (y - b.zero) * b.scale) / result.scale + result.zero
    difference = np.abs(integer - np.clip(np.floor(real + 0.5), 0, 255))
    assert difference.max() <= 1
    assert largest_add_error(chosen, a, b, result) == int(difference.max())
    if chosen.arithmetic == NARROW:
        assert max(abs(int(sums.max())), abs(int(sums.min())), abs(chosen.addend)) < 2**31


def test_differences_need_signed_multipliers():
    a, b = (Quant(scale, 3, np.dtype(np.uint8), 0, 255) for scale in (0.02, -0.03))
    unsigned = Arithmetic((1 << 31) - 1, 32, 0, 31, signed=False)
    assert choose_add(a, b, a, (unsigned, WIDE)).arithmetic == WIDE


def test_choices_of_units(soc_of):
    assert arithmetics(soc_of().units) == (WIDE,)
    cluster, engine = Unit("a", "", requant=FAST), Unit("b", "", requant=RequantSpec(8, False, 32, shift_max=20))
    narrow = Arithmetic(127 * 2 + 1, 32, 0, 20, signed=False)
    units = soc_of(cluster, engine).units
    assert shared_arithmetics(units) == (narrow,)
    assert arithmetics(units) == (narrow, Arithmetic((1 << 31) - 1, 32, 0, 31), WIDE)
    both = soc_of(Unit("a", "", requant=FAST, exact_requant=EXACT), Unit("b", "", requant=FAST, exact_requant=EXACT))
    exact = Arithmetic((1 << 31) - 1, 64, 0, 62)
    assert shared_arithmetics(both.units) == (Arithmetic((1 << 31) - 1, 32, 0, 31), exact)
    assert exact == WIDE
