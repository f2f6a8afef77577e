"""PULP-NN depthwise kernels against numpy. Where the published padding phases go wrong the twin must refuse."""

from __future__ import annotations

import numpy as np
import pytest

WRAP = 1 << 32


def requantise(acc, k, lam, shift):
    wrapped = (acc * k + lam + (WRAP >> 1)) % WRAP - (WRAP >> 1)
    return np.clip(wrapped >> shift, 0, 255).astype(np.uint8)


def depthwise(x, w, pads, stride):
    """Sums (Ho, Wo, C) of CHW uint8 and (C, Ky, Kx) int8."""
    top, bottom, left, right = pads
    padded = np.pad(x.astype(np.int64), ((0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[1:], axis=(1, 2))[:, ::stride, ::stride]
    return np.einsum("cyxij,cij->yxc", windows, w.astype(np.int64))


def published_columns(pads, stride, in_x, kernel, out_x, less_4):
    """Per output column the (left, right) zeros that the published kernel places, or None if it leaves the row.

    Written from the loops of the sources, independently of the twin's C: three do/while phases over i_out_x.
    """
    _, _, left, right = pads
    zeros: list[tuple[int, int]] = []
    x = 0
    if left > 0:
        while True:
            zeros.append((left - x * stride, 0))
            x += 1
            if not x * stride < left:
                break
    while True:
        zeros.append((0, 0))
        x += 1
        limit = out_x * stride - right if less_4 else (out_x - right) * stride
        if not x * stride < limit:
            break
    while x < out_x:
        if less_4:
            zeros.append((0, 1 + x * stride - out_x * stride + right))
        else:
            zeros.append((0, max(-(in_x - x * stride - 1) + kernel // 2, 0)))
        x += 1
    return zeros if len(zeros) == out_x else None


def is_exact(pads, stride, in_x, kernel_x, out_x, less_4):
    zeros = published_columns(pads, stride, in_x, kernel_x, out_x, less_4)
    if zeros is None:
        return False
    left = pads[2]
    needed = [(max(left - x * stride, 0), max(x * stride - left + kernel_x - in_x, 0)) for x in range(out_x)]
    return zeros == needed


def overflows(pads, kernel_x):
    """Whether a core's column buffer runs into its neighbour's in the generic kernel."""
    words = -(-kernel_x // 4) * 4
    return words + (pads[2] if pads[1] == 0 else 0) > 2 * kernel_x


def make(script, rng, *, kernel, in_y, in_x, channels, pads, stride, less_4, bias=False):
    ky, kx = kernel
    x = rng.integers(0, 256, (channels, in_y, in_x), dtype=np.uint8)
    w = rng.integers(-128, 128, (channels, ky, kx), dtype=np.int8)
    biases = rng.integers(-128, 128, channels, dtype=np.int8)
    acc = depthwise(x, w, pads, stride) + (biases if bias else 0)
    out_y, out_x = acc.shape[:2]
    kappa = rng.integers(1, 60000, channels, dtype=np.int32)
    lam = rng.integers(-(1 << 18), 1 << 18, channels, dtype=np.int32)
    expected = requantise(acc, kappa.astype(np.int64), lam, 14)
    script.top = 0
    slack = -kx % 4 if less_4 else 0
    buffer_bytes = 8 * (kx * (in_y + pads[0] + pads[1]) + kx + slack)
    arguments = [script.place(x, 1), script.reserve(buffer_bytes)]
    arguments.append(script.place(biases, 1) if bias else -1)
    out = script.reserve(expected.size)
    arguments += [out, script.place(w, 1), -1, script.place(kappa), script.place(lam), 1, 14]
    arguments += [in_x, in_y, channels, out_x, out_y, channels, kx, ky, *pads, stride, stride, 1, 1]
    return arguments, out, expected


@pytest.mark.parametrize("less_4", [False, True])
def test_depthwise_equals_numpy_where_the_phases_are_right(driver, script, dumped, less_4):
    rng = np.random.default_rng(11)
    cases = []
    while len(cases) < 80:
        kernel = tuple(int(v) for v in rng.choice([1, 2, 3, 5], 2))
        pads = tuple(int(rng.integers(0, size)) for size in (kernel[0], kernel[0], kernel[1], kernel[1]))
        stride = int(rng.choice([1, 2]))
        in_y, in_x = (int(v) for v in rng.integers(1, 12, 2))
        out_y = (in_y + pads[0] + pads[1] - kernel[0]) // stride + 1
        out_x = (in_x + pads[2] + pads[3] - kernel[1]) // stride + 1
        if out_y < 1 or out_x < 1 or (not less_4 and (kernel[0] * kernel[1] < 4 or overflows(pads, kernel[1]))):
            continue
        if not is_exact(pads, stride, in_x, kernel[1], out_x, less_4):
            continue
        arguments, out, expected = make(
            script, rng, kernel=kernel, in_y=in_y, in_x=in_x, channels=int(rng.integers(1, 20)), pads=pads,
            stride=stride, less_4=less_4, bias=len(cases) % 4 == 0,
        )  # fmt: skip
        script.add("call", "depthwise_less_4" if less_4 else "depthwise_generic", *arguments)
        script.dump(out, expected.size)
        cases.append((arguments, expected))
    for line, (arguments, expected) in zip(driver.run(script.text()), cases, strict=True):
        np.testing.assert_array_equal(dumped(line), expected.reshape(-1), err_msg=str(arguments))


@pytest.mark.parametrize("less_4", [False, True])
def test_depthwise_refuses_every_wrong_phase(driver, new_script, less_4):
    rng = np.random.default_rng(12)
    refused = 0
    for stride, left, right, in_x in np.ndindex(2, 3, 3, 7):
        stride, in_x, kernel, pads = stride + 1, in_x + 1, 3, (1, 1, left, right)
        out_x = (in_x + left + right - kernel) // stride + 1
        if out_x < 1 or is_exact(pads, stride, in_x, kernel, out_x, less_4):
            continue
        script = new_script()
        arguments, _, _ = make(
            script, rng, kernel=(3, 3), in_y=4, in_x=in_x, channels=2, pads=pads, stride=stride, less_4=less_4
        )
        script.add("call", "depthwise_less_4" if less_4 else "depthwise_generic", *arguments)
        message = driver.fault(script.text())
        assert "zeros" in message or "columns for an output" in message
        refused += 1
    assert refused > 20


def test_the_usual_layers_are_exact():
    """Symmetric padding 1 with 3x3 works for widths from 3 (stride 2: 4); padding on the right only does not."""
    assert all(is_exact((1, 1, 1, 1), 1, width, 3, width, False) for width in range(3, 40))
    assert not is_exact((1, 1, 1, 1), 1, 2, 3, 2, False)
    assert all(is_exact((1, 1, 1, 1), 2, width, 3, (width - 1) // 2 + 1, False) for width in range(4, 40))
    assert not is_exact((1, 1, 1, 1), 2, 3, 3, 2, False)
    assert not is_exact((0, 1, 0, 1), 2, 8, 3, 4, False)
    assert not is_exact((1, 1, 0, 1), 1, 8, 3, 7, False)


def test_generic_refuses_fewer_than_4_taps(driver, script):
    arguments, _, _ = make(
        script, np.random.default_rng(1), kernel=(1, 3), in_y=4, in_x=6, channels=2, pads=(0, 0, 1, 1), stride=1,
        less_4=False,
    )  # fmt: skip
    script.add("call depthwise_generic", *arguments)
    assert "fewer" in driver.fault(script.text())


def test_generic_refuses_a_buffer_that_runs_over(driver, script):
    arguments, _, _ = make(
        script, np.random.default_rng(1), kernel=(5, 1), in_y=8, in_x=6, channels=2, pads=(0, 0, 0, 0), stride=1,
        less_4=False,
    )  # fmt: skip
    script.add("call depthwise_generic", *arguments)
    assert "neighbour" in driver.fault(script.text())
