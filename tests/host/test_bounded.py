"""Operators that find as many elements as the data hold: the model states how many places there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
from host_harness import Array, Case, expected, make_model

RNG = np.random.default_rng(8)
Run = Callable[..., list[list[Mapping[str, Array]]]]


def stated(node: onnx.NodeProto, inputs: Mapping[str, Array], axis: int, places: int) -> onnx.ModelProto:
    """The model of one node whose results have so many places along an axis."""
    model = make_model([node], inputs, outputs=tuple(node.output))
    for value in model.graph.output:
        dims = value.type.tensor_type.shape.dim
        if value.name not in ("inverse",):
            dims[axis if len(dims) > axis else 0].dim_value = places
    return model


def test_fewer_are_padded_and_more_are_dropped(run_cases: Run) -> None:
    x = np.array([[3.0, 0.0, -1.0], [0.0, 2.0, 0.0]], np.float32)
    condition = np.array([True, False, True])
    found = [
        Case(stated(onnx.helper.make_node("NonZero", ["x"], ["y"]), {"x": x}, 1, places), [{"x": x}])
        for places in (5, 2)
    ]
    compress = onnx.helper.make_node("Compress", ["x", "c"], ["y"], axis=1)
    inputs = {"x": x, "c": condition}
    found += [Case(stated(compress, inputs, 1, places), [inputs]) for places in (3, 1)]
    results = [samples[0]["y"].tolist() for samples in run_cases(found)]
    assert results[0] == [[0, 0, 1, -1, -1], [0, 2, 1, -1, -1]]
    assert results[1] == [[0, 0], [0, 2]]
    assert results[2] == [[3, -1, 0], [0, 0, 0]]
    assert results[3] == [[3], [0]]


def test_different_elements(run_cases: Run) -> None:
    names = ["y", "first", "inverse", "count"]
    tables = RNG.integers(0, 2, (6, 3)).astype(np.int32)
    special = np.array([2.5, np.nan, -0.5, 2.5, np.nan, 7.0], np.float32)
    made = {
        "sorted": (special, {}),
        "as they come": (RNG.integers(-3, 3, 20), {"sorted": 0}),
        "rows": (tables, {"axis": 0}),
        "columns": (tables, {"axis": -1}),
    }
    cases = {}
    for name, (x, options) in made.items():
        node = onnx.helper.make_node("Unique", ["x"], names, **options)
        model = stated(node, {"x": x}, 0, 4) if name == "sorted" else make_model([node], {"x": x}, outputs=tuple(names))
        cases[name] = Case(model, [{"x": x}])
    for (name, case), samples in zip(cases.items(), run_cases(list(cases.values())), strict=True):
        if name == "sorted":  # ONNX Runtime takes every NaN for another one
            wanted = dict(zip(names, np.unique(special, True, True, True), strict=True))
        else:
            wanted = expected(case.model, case.samples[0])
        for output in names:
            np.testing.assert_array_equal(samples[0][output], wanted[output], err_msg=f"{name}, {output}")
    x = np.array([1, 0, 1], np.int64)
    model = stated(onnx.helper.make_node("Unique", ["x"], names), {"x": x}, 0, 4)
    ((told,),) = run_cases([Case(model, [{"x": x}])])
    assert [told[name].tolist() for name in names] == [[0, 1, 0, 0], [1, 0, -1, -1], [1, 0, 1], [1, 2, 0, 0]]


def boxes(count: int) -> dict[str, Array]:
    corners = RNG.uniform(0, 4, (2, count, 2))
    sizes = RNG.uniform(0.5, 3, (2, count, 2))
    return {
        "boxes": np.concatenate([corners, corners + sizes], axis=2).astype(np.float32),
        "scores": np.round(RNG.uniform(0, 1, (2, 3, count)), 1).astype(np.float32),
        "most": np.array([4], np.int64),
        "overlap": np.array([0.3], np.float32),
        "least": np.array([0.2], np.float32),
    }


def test_boxes(run_cases: Run) -> None:
    """With ties between scores, in both formats; rows that are free hold -1."""
    cases = []
    for centred in (0, 1):
        inputs = boxes(12)
        node = onnx.helper.make_node("NonMaxSuppression", list(inputs), ["y"], center_point_box=centred)
        cases.append(Case(stated(node, inputs, 0, 40), [inputs]))
    for case, samples in zip(cases, run_cases(cases), strict=True):
        wanted = expected(case.model, case.samples[0])["y"]
        assert 6 < len(wanted) < 40
        np.testing.assert_array_equal(samples[0]["y"][: len(wanted)], wanted)
        assert (samples[0]["y"][len(wanted) :] == -1).all()
