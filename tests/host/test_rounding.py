"""Requantisation in all its forms, and quantisation, at the ends of their ranges: exact integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from host_harness import Array, Case, make_model

node = onnx.helper.make_node
I64 = np.int64
ENDS = {np.int8: (-128, 127), np.uint8: (0, 255)}
#: Largest and smallest sums, and their neighbours.
SUMS = np.array([-(2**31), -(2**31) + 1, -(2**16) - 1, -5, -1, 0, 1, 4, 2**16, 2**31 - 1], np.int32)


def _requant(x: Array, m: int | list[int], b: int | list[int], shift: int, result: type) -> tuple[Case, Array]:
    low, high = ENDS[result]
    op = "RequantI8" if result is np.int8 else "RequantU8"
    constants = {
        "M": np.array(m, I64),
        "B": np.array(b, I64),
        "D": np.array(1 << shift, I64),
        "lo": np.array(low, I64),
        "hi": np.array(high, I64),
    }
    nodes = [node(op, ["x", *constants], ["y"], domain="match.arith")]
    model = make_model(nodes, {"x": x}, constants)
    ms, bs = (np.broadcast_to(np.array(v, object), x.shape) for v in (m, b))
    exact = [
        min(max((int(a) * int(c) + int(d)) >> shift, low), high)
        for a, c, d in zip(x.reshape(-1).tolist(), ms.reshape(-1).tolist(), bs.reshape(-1).tolist(), strict=True)
    ]
    return Case(model, [{"x": x}]), np.array(exact, result).reshape(x.shape)


#: Multiplier, addend, shift.
NUMBERS = [
    (2**31 - 1, 2**40, 38),
    (2**31 - 1, -(2**62) + 5, 33),
    (1 << 30, 1 << 31, 32),
    (1 << 30, 1 << 31, 31),
    (12345, -777, 16),  # the quotient of the largest sums takes more than 32 bits
    (3, 1, 0),
    (2**40, 2**20, 45),  # a multiplier of more than 32 bits
    (2**31 - 1, 2**62 + 2**61, 40),  # the sum passes 2^63 only where it wraps around
    (1, 0, 62),
]


def test_requantisation_of_sums(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    pairs = []
    for m, b, shift in NUMBERS:
        x = np.array([x for x in SUMS.tolist() if -(2**63) <= x * m + b < 2**63], np.int32)
        pairs += [_requant(x, m, b, shift, result) for result in ENDS]
    cases, wanted = zip(*pairs, strict=True)
    for (outputs,), exact in zip(run_cases(cases), wanted, strict=True):
        np.testing.assert_array_equal(outputs["y"], exact)


def test_requantisation_per_channel_and_of_bytes(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    rng = np.random.default_rng(3)
    pairs = []
    for shift in (20, 31, 32, 37):
        m = rng.integers(1, 2**31, 5).tolist()
        b = rng.integers(-(2**50), 2**50, 5).tolist()
        sums = rng.integers(-(2**31), 2**31, (7, 5), dtype=np.int64).astype(np.int32)
        m, b = (
            (m, b) if shift != 20 else (rng.integers(1, 2**22, 5).tolist(), rng.integers(-(2**29), 2**29, 5).tolist())
        )
        for x in (sums, rng.integers(-128, 128, (7, 5)).astype(np.int8), rng.integers(0, 256, (7, 5)).astype(np.uint8)):
            pairs += [_requant(x, m, b, shift, result) for result in ENDS]
    cases, wanted = zip(*pairs, strict=True)
    for (outputs,), exact in zip(run_cases(cases), wanted, strict=True):
        np.testing.assert_array_equal(outputs["y"], exact)


def test_quantisation_at_ties_and_beyond(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    ties = np.arange(-70000, 70000, 0.5, dtype=np.float32)
    beyond = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 8388607.5, -0.0, 1e-45], np.float32)
    x = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), beyond])
    cases, wanted = [], []
    for stored in (np.uint8, np.int8, np.uint16, np.int16):
        least, most = int(np.iinfo(stored).min), int(np.iinfo(stored).max)
        for zero_point in (least, (least + most) // 2, most):
            constants = {"s": np.array(1.0, np.float32), "z": np.array(zero_point, stored)}
            model = make_model([node("QuantizeLinear", ["x", "s", "z"], ["y"])], {"x": x}, constants)
            cases.append(Case(model, [{"x": x}]))
            held = np.clip(np.rint(x.astype(np.float64)) + zero_point, least, most)
            wanted.append(np.where(np.isnan(x), least, held).astype(stored))
    for (outputs,), exact in zip(run_cases(cases), wanted, strict=True):
        np.testing.assert_array_equal(outputs["y"], exact)
