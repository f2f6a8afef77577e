"""Softmax and LogSoftmax in all forms of their loops: against float64, and at the ends of the range."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, import_graph, make_model
from match_host.kernels.reduction.softmax import build_softmax

Run = Callable[..., list[list[dict[str, Array]]]]
RNG = np.random.default_rng(8)
TOLERANCE = {"float16": 2.0**-9, "float32": 2e-6, "float64": 1e-14}
#: Shape, axis, element type, and the text that only this form of loops has.
FORMS: dict[str, tuple[tuple[int, ...], int, str, str]] = {
    "short lines": ((5, 7), 1, "float32", "float sum = 0.0f"),
    "lines": ((3, 40), -1, "float32", "inverse"),
    "lines with a rest": ((2, 3, 131), -1, "float32", "inverse"),
    "lines of double": ((3, 40), -1, "float64", "inverse"),
    "lines of half": ((3, 40), -1, "float16", "float sum = 0.0f"),
    "across": ((2, 9, 5), 1, "float32", "top[5]"),
    "across blocks": ((2, 6, 130), 1, "float32", "i % 5 * 26"),
    "across the first axis": ((11, 12), 0, "float32", "i * 132"),
    "across halves": ((2, 9, 24), 1, "float16", "top[24]"),
    "two lines": ((3, 8, 2), 1, "float32", "i % 2"),
}


def _model(op: str, x: Array, axis: int) -> onnx.ModelProto:
    return make_model([onnx.helper.make_node(op, ["x"], ["y"], axis=axis)], {"x": x})


def _exact(op: str, x: Array, axis: int) -> Array:
    wide = x.astype(np.float64)
    moved = wide - wide.max(axis, keepdims=True)
    total = np.exp(moved).sum(axis, keepdims=True)
    return moved - np.log(total) if op == "LogSoftmax" else np.exp(moved) / total


def test_results(run_cases: Run) -> None:
    keys = [(op, name) for op in ("Softmax", "LogSoftmax") for name in FORMS]
    samples = {key: RNG.normal(0, 4, FORMS[key[1]][0]).astype(FORMS[key[1]][2]) for key in keys}
    cases = [Case(_model(op, samples[op, name], FORMS[name][1]), [{"x": samples[op, name]}]) for op, name in keys]
    for (op, name), (outputs,) in zip(keys, run_cases(cases), strict=True):
        _, axis, dtype, _ = FORMS[name]
        tolerance = TOLERANCE[dtype]
        exact = _exact(op, samples[op, name], axis)
        np.testing.assert_allclose(outputs["y"], exact, rtol=tolerance, atol=tolerance, err_msg=f"{op} {name}")


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_written(name: str) -> None:
    shape, axis, dtype, text = FORMS[name]
    graph = import_graph(_model("Softmax", np.zeros(shape, dtype), axis))
    assert text in build_softmax(tuple(graph.nodes), "kernel").code.definition


def test_ends_of_the_range(run_cases: Run) -> None:
    """Infinities and what is no number give what float64 gives, in every form."""
    x = RNG.normal(size=(6, 32)).astype(np.float32)
    x[0, 3], x[1, :], x[2, 5], x[3, 1] = np.inf, -np.inf, np.nan, -np.inf
    x[4] = 3e38 * np.sign(x[4])
    values = [(x, 1), (np.ascontiguousarray(x.T), 0), (np.ascontiguousarray(x[:, :9]), 1)]
    cases = [Case(_model("Softmax", v, axis), [{"x": v}]) for v, axis in values]
    with np.errstate(invalid="ignore"):
        for (v, axis), (outputs,) in zip(values, run_cases(cases), strict=True):
            np.testing.assert_allclose(outputs["y"], _exact("Softmax", v, axis), rtol=2e-6, atol=1e-30)
