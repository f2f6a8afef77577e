"""Operators of the families that index, scatter, run along axes or take computed parameters, against the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, make_model

RNG = np.random.default_rng(5)
X = RNG.standard_normal((3, 4, 5)).astype(np.float32)
IMAGE = RNG.standard_normal((1, 4, 5, 6)).astype(np.float32)


def node(op: str, inputs: list[str], outputs: tuple[str, ...] = ("y",), **attributes: object) -> onnx.NodeProto:
    return onnx.helper.make_node(op, inputs, list(outputs), **attributes)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


#: name -> (node, inputs); all inputs are given when the program runs.
CASES: dict[str, tuple[onnx.NodeProto, Mapping[str, Array]]] = {
    "gather elements": (
        node("GatherElements", ["x", "i"], axis=1),
        {"x": X, "i": RNG.integers(-4, 4, (3, 2, 5))},
    ),
    "scatter elements": (
        node("ScatterElements", ["x", "i", "u"], axis=2),
        {"x": X, "i": np.argsort(X, 2)[:, :2, :3], "u": X[:, :2, :3] * 7},
    ),
    "scatter elements, added": (
        node("ScatterElements", ["x", "i", "u"], axis=0, reduction="add"),
        {"x": X, "i": RNG.integers(-3, 3, (2, 4, 5)), "u": X[1:]},
    ),
    "gather tuples": (node("GatherND", ["x", "i"]), {"x": X, "i": RNG.integers(0, 3, (2, 6, 2))}),
    "gather tuples per sample": (
        node("GatherND", ["x", "i"], batch_dims=1),
        {"x": X, "i": RNG.integers(0, 4, (3, 2, 1))},
    ),
    "scatter tuples": (
        node("ScatterND", ["x", "i", "u"], reduction="max"),
        {"x": X, "i": np.array([[0, 1], [2, 3], [0, 1]]), "u": X[:, 2, :] * 3},
    ),
    "lower triangle": (node("Trilu", ["x", "k"], upper=0), {"x": X, "k": np.array(-1)}),
    "one hot": (
        node("OneHot", ["i", "d", "v"], axis=1),
        {"i": np.array([[1, -2], [7, 0]]), "d": np.array(4), "v": np.array([2, 5], np.float32)},
    ),
    "top k": (node("TopK", ["x", "k"], ("y", "z"), axis=1, largest=0), {"x": np.round(X), "k": integers(3)}),
    "running sum": (node("CumSum", ["x", "a"], reverse=1, exclusive=1), {"x": X, "a": np.array(-2)}),
    "hardmax": (node("Hardmax", ["x"], axis=1), {"x": np.round(X)}),
    "norm": (node("LpNormalization", ["x"], axis=0, p=1), {"x": X}),
    "batch of products": (node("Einsum", ["x", "z"], equation="bij,bkj->bik"), {"x": X, "z": X[:, :2] + 1}),
    "diagonal sum": (node("Einsum", ["x"], equation="...ii->..."), {"x": X[:, :, :4]}),
    "slice": (
        node("Slice", ["x", "s", "e", "a", "t"]),
        {"x": X, "s": integers(-1, 1), "e": integers(-9, 5), "a": integers(1, -1), "t": integers(-2, 2)},
    ),
    "reflected padding": (node("Pad", ["x", "p"], mode="reflect"), {"x": X, "p": integers(1, 0, 3, 2, 1, -1)}),
    "padding by a computed value": (
        node("Pad", ["x", "p", "v"]),
        {"x": X, "p": integers(0, 2, -1, 0, 1, 2), "v": np.array(3.5, np.float32)},
    ),
    "tile": (node("Tile", ["x", "r"]), {"x": X, "r": integers(2, 1, 3)}),
    "transposed convolution": (
        node("ConvTranspose", ["x", "w", "b"], group=2, strides=[2, 3], dilations=[2, 1], pads=[1, 0, 2, 1]),
        {
            "x": IMAGE,
            "w": RNG.standard_normal((4, 3, 3, 2)).astype(np.float32),
            "b": RNG.standard_normal(6).astype(np.float32),
        },
    ),
    **{
        f"{op} over computed axes": (node(op, ["x", "a"], keepdims=keep), {"x": X, "a": integers(-1, 0)})
        for op, keep in (("ReduceSum", 0), ("ReduceMax", 1), ("ReduceMean", 0), ("ReduceL2", 1), ("ReduceProd", 0))
    },
}


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, tuple[Case, dict[str, Array]]]:
    cases = {}
    for name, (item, values) in CASES.items():
        cases[name] = Case(make_model([item], values, outputs=list(item.output)), [values])
    got = run_cases(list(cases.values()))
    return {name: (case, samples[0]) for (name, case), samples in zip(cases.items(), got, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_reference(name: str, results: dict[str, tuple[Case, dict[str, Array]]]) -> None:
    case, got = results[name]
    for output, wanted in expected(case.model, case.samples[0]).items():
        assert got[output].dtype == wanted.dtype
        np.testing.assert_allclose(got[output], wanted, rtol=1e-5, atol=1e-5)


def test_indices_outside_of_the_data_stay_inside(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    good = {"x": X, "i": integers(0, 0).reshape(2, 1)}
    bad = {"x": X, "i": integers(2**40, -(2**40)).reshape(2, 1)}
    model = make_model([node("GatherND", ["x", "i"])], good)
    ((first, second),) = run_cases([Case(model, [good, bad])])
    np.testing.assert_array_equal(first["y"], X[[0, 0]])
    np.testing.assert_array_equal(second["y"], X[[2, 0]])
