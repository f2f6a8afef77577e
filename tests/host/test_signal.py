"""Fourier transforms of any length, frames of them, windows and mel filters, against the standard's evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from host_harness import Array, Case, make_model
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(3)
#: One, powers of two, products of small primes, primes.
LENGTHS = (1, 2, 8, 12, 13, 30, 35, 64)


def reference(case: Case) -> Array:
    return np.asarray(ReferenceEvaluator(case.model).run(None, dict(case.samples[0]))[0])


def signal(*shape: int, dtype: type = np.float32) -> Array:
    return RNG.normal(size=shape).astype(dtype)


def dft(x: Array, axis: int, computed: bool = False, **options: int) -> Case:
    """A transform along an axis that is constant, or that the model is given when it runs."""
    node = onnx.helper.make_node("DFT", ["x", "", "axis"], ["y"], **options)
    inputs, place = {"x": x}, {"axis": np.array(axis, np.int64)}
    if computed:
        inputs |= place
    return Case(make_model([node], inputs, {} if computed else place), [inputs])


def cases() -> dict[str, Case]:
    found = {}
    for length in LENGTHS:
        real, whole = signal(2, length, 3, 1), signal(2, length, 3, 2)
        found[f"real {length}"] = dft(real, 1)
        found[f"complex {length}"] = dft(whole, 1)
        found[f"back {length}"] = dft(whole, -3, inverse=1)
        found[f"half {length}"] = dft(real, 1, onesided=1)
        if length % 2 == 0:
            found[f"half back {length}"] = dft(signal(2, length // 2 + 1, 3, 2), 1, onesided=1, inverse=1)
        found[f"computed axis {length}"] = dft(signal(length, length, 2), 1, computed=True)
    found["double"] = dft(signal(1, 20, 2, dtype=np.float64), 1)
    found["half precision"] = dft(signal(1, 16, 1, dtype=np.float16), 1)
    found["longer"] = _given_length(signal(1, 10, 1), 16)
    found["shorter"] = _given_length(signal(1, 10, 2), 7)
    found["frames"] = _stft(signal(2, 50, 1), 5, 12, None)
    found["frames with window"] = _stft(signal(1, 64, 1), 8, None, signal(16))
    found["frames of complex numbers"] = _stft(signal(1, 40, 2), 7, 9, signal(9), onesided=0)
    return found


def _given_length(x: Array, length: int) -> Case:
    node = onnx.helper.make_node("DFT", ["x", "n", "axis"], ["y"])
    constants = {"n": np.array(length, np.int64), "axis": np.array(1, np.int64)}
    return Case(make_model([node], {"x": x}, constants), [{"x": x}])


def _stft(x: Array, step: int, length: int | None, window: Array | None, **options: int) -> Case:
    constants: dict[str, Array] = {"step": np.array(step, np.int64)}
    if window is not None:
        constants["window"] = window
    if length is not None:
        constants["length"] = np.array(length, np.int64)
    names = [name if name in constants else "" for name in ("window", "length")]
    node = onnx.helper.make_node("STFT", ["x", "step", *names], ["y"], **options)
    return Case(make_model([node], {"x": x}, constants), [{"x": x}])


def test_transforms(run_cases: Callable[..., list[list[Mapping[str, Array]]]]) -> None:
    found = cases()
    results = run_cases(list(found.values()))
    for (name, case), samples in zip(found.items(), results, strict=True):
        wanted = reference(case)
        scale = max(1.0, float(np.abs(wanted).max()))
        bound = 2.0**-10 if wanted.dtype == np.float16 else 2e-6
        assert np.abs(samples[0]["y"] - wanted).max() <= bound * scale, name


def test_windows_and_filters(run_cases: Callable[..., list[list[Mapping[str, Array]]]]) -> None:
    found = {}
    for op in ("BlackmanWindow", "HammingWindow", "HannWindow"):
        for size, periodic in ((1, 1), (9, 0), (16, 1)):
            inputs = {"n": np.array(size, np.int64)}
            model = make_model([onnx.helper.make_node(op, ["n"], ["y"], periodic=periodic)], inputs)
            found[f"{op} {size}"] = Case(model, [inputs])
    given = dict(
        zip("abcde", (np.int64(8), np.int64(64), np.int64(8000), np.float32(0), np.float32(3000)), strict=True)
    )
    mel = onnx.helper.make_node("MelWeightMatrix", list(given), ["y"])
    inputs = {name: np.array(value) for name, value in given.items()}
    found["mel"] = Case(make_model([mel], inputs), [inputs])
    results = run_cases(list(found.values()))
    for (name, case), samples in zip(found.items(), results, strict=True):
        wanted = reference(case)
        np.testing.assert_allclose(samples[0]["y"], wanted, rtol=1e-5, atol=1e-6, err_msg=name)
