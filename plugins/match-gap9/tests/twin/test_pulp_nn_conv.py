"""PULP-NN convolution kernels against direct numpy convolutions, and the calls that must be refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from match_gap9 import formulas
from match_gap9.constants import values

WRAP = 1 << 32


def wrap(value):
    """int32 of a wider integer array."""
    return ((value + (WRAP >> 1)) % WRAP) - (WRAP >> 1)


def requantise(acc, k, lam, shift):
    """The batch-norm path: int32 wrap, floor shift, clip."""
    return np.clip(wrap(wrap(acc) * k + lam) >> shift, 0, 255).astype(np.uint8)


def convolve(x, w, pads, stride):
    """Sums (Ho, Wo, Ko) of HWC uint8 and (Ko, Ky, Kx, Ci) int8, zero padding (top, bottom, left, right)."""
    top, bottom, left, right = pads
    padded = np.pad(x.astype(np.int64), ((top, bottom), (left, right), (0, 0)))
    ky, kx = w.shape[1:3]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (ky, kx), axis=(0, 1))[::stride, ::stride]
    return np.einsum("yxcij,kijc->yxk", windows, w.astype(np.int64))


@dataclass
class Case:
    """One call: offsets and what must come out."""

    arguments: list[int]
    out: int
    expected: np.ndarray


def make(script, rng, *, kernel, in_y, in_x, c, k, pads, stride, bias=False, relu=1, bn=1, shift=None, big=False):
    x = rng.integers(0, 256, (in_y, in_x, c), dtype=np.uint8)
    w = rng.integers(-128, 128, (k, kernel, kernel, c), dtype=np.int8)
    acc = convolve(x, w, pads, stride)
    biases = rng.integers(-128, 128, k, dtype=np.int8)
    acc = acc + (biases if bias else 0)
    out_y, out_x = acc.shape[:2]
    limit = 1 << 30 if big else 4000
    kappa = rng.integers(-limit if big else 1, limit, k, dtype=np.int32)
    lam = rng.integers(-(1 << 20), 1 << 20, k, dtype=np.int32)
    shift = int(rng.integers(8, 18)) if shift is None else shift
    mult = int(rng.integers(0, 65536))
    if relu and bn:
        expected = requantise(acc, kappa.astype(np.int64), lam, shift)
    elif relu:
        signed = mult - 65536 if mult > 32767 else mult
        narrow = ((wrap(acc * signed) >> shift) + 32768) % 65536 - 32768
        expected = np.clip(narrow, 0, 255).astype(np.uint8)
    else:
        expected = np.clip(acc >> shift, 0, 255).astype(np.uint8)
    script.top = 0
    arguments = [script.place(x, 1), script.reserve(2 * 8 * kernel * kernel * c)]
    arguments.append(script.place(biases, 1) if bias else -1)
    out = script.reserve(expected.size)
    arguments += [out, script.place(w, 1), script.place(kappa), script.place(lam), mult, shift]
    arguments += [in_x, in_y, c, out_x, out_y, k, kernel, kernel, *pads, stride, stride, relu, bn]
    return Case(arguments, out, expected)


def sizes(rng):
    kernel = int(rng.choice([1, 2, 3, 5]))
    stride = int(rng.choice([1, 2, 3]))
    pads = tuple(int(p) for p in rng.integers(0, kernel, 4))
    in_y, in_x = (int(v) for v in rng.integers(kernel, 14, 2))
    return {"kernel": kernel, "stride": stride, "in_y": in_y, "in_x": in_x, "c": int(rng.integers(1, 20)),
            "k": int(rng.integers(1, 19)), "pads": pads}  # fmt: skip


def test_conv_equals_numpy_on_random_shapes(driver, script, dumped):
    rng = np.random.default_rng(183)
    cases = []
    for index in range(60):
        case = make(script, rng, **sizes(rng), bias=index % 3 == 0, big=index % 5 == 0)
        script.add("call", "conv_Ho", *case.arguments)
        script.dump(case.out, case.expected.size)
        cases.append(case)
    for line, case in zip(driver.run(script.text()), cases, strict=True):
        np.testing.assert_array_equal(dumped(line), case.expected.reshape(-1), err_msg=str(case.arguments))


def test_pointwise_equals_numpy_on_random_shapes(driver, script, dumped):
    rng = np.random.default_rng(190)
    cases = []
    for index in range(40):
        shape = {**sizes(rng), "kernel": 1, "stride": 1, "pads": (0, 0, 0, 0)}
        case = make(script, rng, **shape, bias=index % 3 == 0)
        case.arguments[1] = -1  # no im2col buffer
        script.add("call", "pointwise_Ho", *case.arguments)
        script.dump(case.out, case.expected.size)
        cases.append(case)
    for line, case in zip(driver.run(script.text()), cases, strict=True):
        np.testing.assert_array_equal(dumped(line), case.expected.reshape(-1), err_msg=str(case.arguments))


@pytest.mark.parametrize(("relu", "bn"), [(1, 0), (0, 0)])
def test_paths_without_batch_norm_narrow_as_published(driver, script, dumped, relu, bn):
    """relu only: int16 multiplier and an int16 result before the clip; neither: a plain shift."""
    rng = np.random.default_rng(3)
    cases = []
    for index in range(20):
        shift = int(rng.integers(0, 4)) if index % 2 else int(rng.integers(4, 20))
        case = make(script, rng, **sizes(rng), relu=relu, bn=bn, shift=shift, bias=index % 2 == 0)
        script.add("call conv_Ho", *case.arguments)
        script.dump(case.out, case.expected.size)
        cases.append(case)
    for line, case in zip(driver.run(script.text()), cases, strict=True):
        np.testing.assert_array_equal(dumped(line), case.expected.reshape(-1))


def test_floor_shift_and_wrap_by_hand(driver, script, dumped):
    """acc = -3 with kappa 1: floor(-3/2) = -2, clipped to 0; lambda 4: floor(1/2) = 0; 2^31 wraps to negative."""
    rng = np.random.default_rng(0)
    case = make(script, rng, kernel=1, in_y=1, in_x=1, c=1, k=3, pads=(0, 0, 0, 0), stride=1)
    x, w = np.array([3], np.uint8), np.array([-1, -1, 100], np.int8)
    kappa, lam = np.array([1, 1, 1 << 30], np.int32), np.array([0, 4, 0], np.int32)
    offsets = [script.place(x), script.place(w), script.place(kappa), script.place(lam)]
    case.arguments[0], case.arguments[4], case.arguments[5], case.arguments[6] = offsets
    case.arguments[8] = 1
    script.add("call conv_Ho", *case.arguments)
    script.dump(case.out, 3)
    # 300 << 30 wraps to 0 in 32 bits
    assert dumped(driver.run(script.text())[0]).tolist() == [0, 0, 0]


def test_scratch_holds_the_last_two_columns(driver, script, dumped):
    """The im2col buffer is written as the library does it, so that overlaps with live data show."""
    rng = np.random.default_rng(1)
    case = make(script, rng, kernel=3, in_y=4, in_x=4, c=2, k=1, pads=(1, 1, 1, 1), stride=1)
    script.add("call conv_Ho", *case.arguments)
    script.dump(case.arguments[1], 2 * 18)
    script.dump(case.arguments[0], 32)
    scratch, x = (dumped(line) for line in driver.run(script.text()))
    padded = np.pad(x.reshape(4, 4, 2), ((1, 1), (1, 1), (0, 0)))
    np.testing.assert_array_equal(scratch[:18], padded[0:3, 2:5].reshape(-1))
    np.testing.assert_array_equal(scratch[18:], padded[0:3, 3:6].reshape(-1))


def test_cycles_are_charged_once_per_call(driver, script):
    rng = np.random.default_rng(2)
    case = make(script, rng, kernel=3, in_y=9, in_x=7, c=5, k=6, pads=(1, 1, 1, 1), stride=1)
    script.add("clocks")
    script.add("call conv_Ho", *case.arguments)
    script.add("clocks")
    before, after = (int(line.split()[1]) for line in driver.run(script.text()))
    timing = values("as-published")
    kernel = formulas.conv(timing, out_y=9, out_x=7, k_out=6, c_in=5, kernel_y=3, kernel_x=3)
    assert after - before == formulas.team_launch(timing) + kernel + formulas.team_kernel(timing)


# ---- refused calls -------------------------------------------------------------------------------------------


def refused(driver, script, name, arguments, **changes):
    positions = {"in": 0, "buffer": 1, "bias": 2, "weights": 4, "kappa": 5, "shift": 8, "in_x": 9, "in_y": 10,
                 "out_x": 12, "out_y": 13, "kernel_x": 15, "left": 19, "right": 20, "stride": 21,
                 "relu": 23}  # fmt: skip
    changed = list(arguments)
    for key, value in changes.items():
        changed[positions[key]] = value
    script.add("call", name, *changed)
    return driver.fault(script.text())


@pytest.fixture
def simple(script):
    return make(script, np.random.default_rng(4), kernel=3, in_y=6, in_x=6, c=4, k=4, pads=(1, 1, 1, 1), stride=1)


def test_window_beyond_the_padding_faults(driver, script, simple):
    assert "does not pad" in refused(driver, script, "conv_Ho", simple.arguments, right=0)


def test_pointers_outside_of_l1_fault(driver, script, simple):
    assert "are not in L1" in refused(driver, script, "conv_Ho", simple.arguments, weights=131072 - 8)


def test_null_pointer_faults(driver, script, simple):
    assert "kappa" in refused(driver, script, "conv_Ho", simple.arguments, kappa=-1)


def test_shift_above_31_faults(driver, script, simple):
    assert "shift by 32" in refused(driver, script, "conv_Ho", simple.arguments, shift=32)


def test_batch_norm_without_relu_faults(driver, script, simple):
    assert "without relu" in refused(driver, script, "conv_Ho", simple.arguments, relu=0)


def test_pointwise_refuses_a_stride(driver, script):
    case = make(script, np.random.default_rng(5), kernel=1, in_y=6, in_x=6, c=4, k=4, pads=(0, 0, 0, 0), stride=2)
    assert "ignores" in refused(driver, script, "pointwise_Ho", case.arguments)


def test_a_smaller_team_faults(driver, script, simple):
    script.add("team4 conv_Ho", *simple.arguments)
    assert "built for 8" in driver.fault(script.text())
