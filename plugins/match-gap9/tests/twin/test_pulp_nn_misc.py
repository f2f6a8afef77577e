"""PULP-NN linear, add and pooling kernels against numpy, with the published overflows."""

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


def test_linear_out_32_reads_int32_biases(driver, script, dumped):
    rng = np.random.default_rng(22)
    cases = []
    for index in range(20):
        c, k = int(rng.integers(1, 700)), int(rng.integers(1, 40))
        x = rng.integers(0, 256, c, dtype=np.uint8)
        w = rng.integers(-128, 128, (k, c), dtype=np.int8)
        bias = rng.integers(-(1 << 31), 1 << 31, k).astype(np.int32)
        expected = wrap(w.astype(np.int64) @ x + (bias if index % 2 else 0)).astype(np.int32)
        script.top = 0
        out = script.reserve(4 * k)
        script.add("call linear_out_32", script.place(x, 1), script.place(bias) if index % 2 else -1, out,
                   script.place(w, 1), c, k)  # fmt: skip
        script.dump(out, 4 * k)
        cases.append(expected)
    expect(driver, script, dumped, cases, np.int32)


def test_add_narrows_to_uint16(driver, script, dumped):
    rng = np.random.default_rng(23)
    cases = []
    for index in range(40):
        h, w, c = (int(v) for v in rng.integers(1, 20, 3))
        a, b = (rng.integers(0, 256, (h, w, c), dtype=np.uint8) for _ in range(2))
        m1, m2 = (int(v) for v in rng.integers(0, 1 << (16 if index % 2 else 8), 2))
        shift = int(rng.integers(0, 12))
        signed = [m - 65536 if m > 32767 else m for m in (m1, m2)]
        total = (a.astype(np.int64) * signed[0] + b.astype(np.int64) * signed[1]) % WRAP
        expected = np.minimum((total >> shift) & 0xFFFF, 255).astype(np.uint8)
        script.top = 0
        out = script.reserve(a.size)
        script.add("call add", script.place(a, 1), script.place(b, 1), out, m1, m2, shift, h, w, c)
        script.dump(out, a.size)
        cases.append(expected)
    expect(driver, script, dumped, cases)
    assert any((case != 255).any() and (case == 255).any() for case in cases)


def pool_windows(x, kernel, pads, stride, fill):
    """Windows (Ho, Wo, C, Ky, Kx) of an HWC array."""
    padded = np.pad(x.astype(np.int64), ((pads[0], pads[1]), (pads[2], pads[3]), (0, 0)), constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(0, 1))
    return windows[:: stride[0], :: stride[1]]


@pytest.mark.parametrize("requant", [0, 1])
def test_avgpool_divides_before_adding(driver, script, dumped, requant):
    rng = np.random.default_rng(24)
    cases = []
    for index in range(40):
        kernel = tuple(int(v) for v in rng.integers(1, 5, 2))
        stride = tuple(int(v) for v in rng.integers(1, 4, 2))
        top, left = (int(rng.integers(0, size)) for size in kernel)
        h, w, c = int(rng.integers(kernel[0], 12)), int(rng.integers(kernel[1], 12)), int(rng.integers(1, 20))
        x = rng.integers(0, 256, (h, w, c), dtype=np.uint8)
        lam, shift = int(rng.integers(0, 1 << 10)), int(rng.integers(1, 12))
        add = int(rng.integers(-2000, 2000)) if index % 2 else int(rng.integers(0, 2000))
        total = pool_windows(x, kernel, (top, top, left, left), stride, 0).sum(axis=(3, 4))
        taps = kernel[0] * kernel[1]
        # unsigned throughout: a negative total becomes huge and clips to 255
        total = ((total * lam % WRAP // taps + add) % WRAP) >> shift if requant else total // taps
        expected = np.clip(wrap(total), 0, 255).astype(np.uint8)
        script.top = 0
        out = script.reserve(expected.size)
        script.add("call avgpool", script.place(x, 1), out, lam, shift, add, w, h, c, expected.shape[1],
                   expected.shape[0], kernel[1], kernel[0], top, top, left, left, stride[1], stride[0],
                   requant)  # fmt: skip
        script.dump(out, expected.size)
        cases.append(expected)
    expect(driver, script, dumped, cases)


def test_avgpool_refuses_asymmetric_padding(driver, script):
    script.add("call avgpool 0 1000 1 0 0 4 4 1 4 4 2 2 0 1 0 1 1 1 0")
    assert "symmetric" in driver.fault(script.text())


def test_maxpool_equals_numpy_and_destroys_its_input(driver, script, dumped):
    rng = np.random.default_rng(25)
    cases = []
    changed = 0
    for _ in range(60):
        kernel = tuple(int(v) for v in rng.integers(1, 5, 2))
        stride = tuple(int(v) for v in rng.integers(1, 4, 2))
        pads = [int(rng.integers(0, size)) for size in (kernel[0], kernel[0], kernel[1], kernel[1])]
        pads[2] = min(pads[2], stride[1] - 1)
        h, w, c = int(rng.integers(kernel[0], 12)), int(rng.integers(kernel[1], 12)), int(rng.integers(1, 20))
        x = rng.integers(0, 256, (h, w, c), dtype=np.uint8)
        expected = pool_windows(x, kernel, pads, stride, -1).max(axis=(3, 4)).astype(np.uint8)
        script.top = 0
        out, inp = script.reserve(expected.size), script.place(x, 1)
        script.add("call maxpool", inp, out, w, h, c, expected.shape[1], expected.shape[0], kernel[1], kernel[0], *pads,
                   stride[1], stride[0])  # fmt: skip
        script.dump(out, expected.size)
        script.dump(inp, x.size)
        cases.append((expected, x))
    lines = driver.run(script.text())
    for index, (expected, x) in enumerate(cases):
        np.testing.assert_array_equal(dumped(lines[2 * index]), expected.reshape(-1))
        changed += int((dumped(lines[2 * index + 1]) != x.reshape(-1)).any())
    assert changed > 20


def test_maxpool_refuses_padding_it_would_overwrite(driver, script):
    script.add("call maxpool 0 1000 8 8 4 8 8 3 3 1 1 1 1 1 1")
    assert "overwrites" in driver.fault(script.text())


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


def test_own_requant_in_place(driver, script, dumped):
    x = np.arange(256, dtype=np.uint8)
    place = script.place(x)
    script.add("call own_requant", place, place, -3, 500, 1, 256)
    script.dump(place, 256)
    expect(driver, script, dumped, [np.clip((-3 * x.astype(np.int64) + 500) >> 1, 0, 255).astype(np.uint8)])


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
