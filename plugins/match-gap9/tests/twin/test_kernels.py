"""The PULP-NN dense layer, with the published overflows, and the package's own kernels against numpy."""

from __future__ import annotations

import numpy as np
import pytest

WRAP = 1 << 32


def wrap(value):
    return (value + (WRAP >> 1)) % WRAP - (WRAP >> 1)


def expect(driver, script, dumped, cases, dtype=np.uint8):
    for line, expected in zip(driver.run(script.text()), cases, strict=True):
        np.testing.assert_array_equal(dumped(line, dtype), expected.reshape(-1))


def test_linear_equals_numpy(driver, script, dumped):
    rng = np.random.default_rng(21)
    cases = []
    for index in range(40):
        c, k, shift = int(rng.integers(1, 700)), int(rng.integers(1, 40)), int(rng.integers(0, 20))
        x = rng.integers(0, 256, c, dtype=np.uint8)
        w = rng.integers(-128, 128, (k, c), dtype=np.int8)
        bias = rng.integers(-128, 128, k, dtype=np.int8)
        kappa, lam = (rng.integers(-(1 << 20), 1 << 20, k, dtype=np.int32) for _ in range(2))
        acc = w.astype(np.int64) @ x + (bias if index % 2 else 0)
        expected = np.clip(wrap(acc * kappa + lam) >> shift, 0, 255).astype(np.uint8)
        script.top = 0
        out = script.reserve(k)
        script.add("call linear", script.place(x, 1), script.place(bias, 1) if index % 2 else -1, out,
                   script.place(w, 1), script.place(kappa), script.place(lam), 1, shift, c, k, 1, 1)  # fmt: skip
        script.dump(out, k)
        cases.append(expected)
    expect(driver, script, dumped, cases)


def pool_windows(x, kernel, pads, stride, fill):
    """Windows (Ho, Wo, C, Ky, Kx) of an HWC array."""
    padded = np.pad(x.astype(np.int64), ((pads[0], pads[1]), (pads[2], pads[3]), (0, 0)), constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(0, 1))
    return windows[:: stride[0], :: stride[1]]


# ---- the package's own kernels -------------------------------------------------------------------------------


def test_own_add_requant(driver, script, dumped):
    rng = np.random.default_rng(26)
    cases = []
    for _ in range(30):
        n, shift = int(rng.integers(1, 500)), int(rng.integers(0, 20))
        a, b = (rng.integers(0, 256, n, dtype=np.uint8) for _ in range(2))
        ma, mb = (int(v) for v in rng.integers(-(1 << 20), 1 << 20, 2))
        bias = int(rng.integers(-(1 << 28), 1 << 28))
        expected = np.clip((ma * a.astype(np.int64) + mb * b.astype(np.int64) + bias) >> shift, 0, 255)
        script.top = 0
        out = script.reserve(n)
        script.add("call own_add", script.place(a, 1), script.place(b, 1), out, ma, mb, bias, shift, n)
        script.dump(out, n)
        cases.append(expected.astype(np.uint8))
    expect(driver, script, dumped, cases)


def test_own_transpose_pads(driver, script, dumped):
    rng = np.random.default_rng(27)
    cases = []
    for _ in range(20):
        h, w, c = (int(v) for v in rng.integers(1, 12, 3))
        pads = [int(v) for v in rng.integers(0, 3, 4)]
        value = int(rng.integers(0, 256))
        x = rng.integers(0, 256, (h, w, c), dtype=np.uint8)
        widths = ((pads[0], pads[1]), (pads[2], pads[3]), (0, 0))
        expected = np.pad(x, widths, constant_values=value).transpose(2, 0, 1)
        script.top = 0
        out = script.reserve(expected.size)
        script.add("call own_transpose", script.place(x, 1), out, h, w, c, *pads, value)
        script.dump(out, expected.size)
        cases.append(expected)
    expect(driver, script, dumped, cases)


@pytest.mark.parametrize("kind", ["own_avgpool", "own_maxpool"])
def test_own_pools_take_any_window(driver, script, dumped, kind):
    rng = np.random.default_rng(28)
    cases = []
    for _ in range(60):
        kernel = tuple(int(v) for v in rng.integers(1, 6, 2))
        stride = tuple(int(v) for v in rng.integers(1, 4, 2))
        pads = [int(rng.integers(0, size)) for size in (kernel[0], kernel[0], kernel[1], kernel[1])]
        h, w, c = int(rng.integers(1, 12)), int(rng.integers(1, 12)), int(rng.integers(1, 20))
        if h + pads[0] + pads[1] < kernel[0] or w + pads[2] + pads[3] < kernel[1]:
            continue
        x = rng.integers(0, 256, (h, w, c), dtype=np.uint8)
        value = int(rng.integers(0, 256))
        m, bias, shift = int(rng.integers(1, 4000)), int(rng.integers(-(1 << 20), 1 << 20)), int(rng.integers(0, 16))
        windows = pool_windows(x, kernel, pads, stride, value if kind == "own_avgpool" else 0)
        if kind == "own_avgpool":
            expected = np.clip((windows.sum(axis=(3, 4)) * m + bias) >> shift, 0, 255).astype(np.uint8)
        else:
            expected = windows.max(axis=(3, 4)).astype(np.uint8)
        script.top = 0
        out = script.reserve(expected.size)
        script.add("call", kind, script.place(x, 1), out, w, h, c, expected.shape[1], expected.shape[0], kernel[1],
                   kernel[0], pads[0], pads[2], stride[1], stride[0], value, m, bias, shift)  # fmt: skip
        script.dump(out, expected.size)
        cases.append(expected)
    assert len(cases) > 30
    expect(driver, script, dumped, cases)
