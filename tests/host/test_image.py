"""Operators on images against ONNX Runtime and the reference evaluator, with shapes and attributes that the standard's
own tests do not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, by_reference, expected, make_model

RNG = np.random.default_rng(22)
PLANES = RNG.standard_normal((2, 3, 5, 4)).astype(np.float32)
VOLUME = RNG.standard_normal((1, 2, 3, 4, 2)).astype(np.float32)
LINE = RNG.standard_normal((2, 2, 6)).astype(np.float32)
GRID = RNG.uniform(-2.4, 2.4, (2, 4, 6, 2)).astype(np.float32)
ROIS = np.array([[0, 0, 3, 4], [-2, 1, 1.5, 2.5], [2, 3, 1, 1], [1, 1, 12, 9]], np.float32)
Oracle = Callable[[onnx.ModelProto, Mapping[str, Array]], dict[str, Array]]


def case(
    op: str,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    run: Oracle = by_reference,
    opset: int = 22,
    order: tuple[str, ...] = (),
    **attributes: object,
) -> tuple[Case, Oracle]:
    """``order``: names of the node's inputs; those of ``inputs`` and ``constants`` otherwise."""
    names = order or (*inputs, *(constants or {}))
    node = onnx.helper.make_node(op, list(names), ["y"], **attributes)
    return Case(make_model([node], inputs, constants, opset=opset, run=run), [dict(inputs)]), run


def shaped(*sizes: int) -> Array:
    return RNG.standard_normal(sizes).astype(np.float32)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


def grids() -> dict[str, tuple[Case, Oracle]]:
    found = {}
    for mode, padding, corners in product(("nearest", "linear", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        own = {"mode": mode, "padding_mode": padding, "align_corners": corners}
        found[f"grid {mode} {padding} {corners}"] = case("GridSample", {"x": PLANES, "g": GRID}, **own)
        places = RNG.uniform(-1.5, 1.5, (1, 2, 2, 3, 3)).astype(np.float32)
        if mode != "cubic" or padding == "border":
            found[f"grid of a volume {mode} {padding} {corners}"] = case(
                "GridSample", {"x": VOLUME, "g": places}, **own
            )
    many = RNG.uniform(-1.1, 1.1, (2, 9, 10, 2)).astype(np.float32)
    for mode in ("nearest", "linear"):
        found[f"grid of many results {mode}"] = case("GridSample", {"x": PLANES, "g": many}, mode=mode)
    found["grid, one row"] = case(
        "GridSample", {"x": PLANES[:, :, :1], "g": GRID}, padding_mode="reflection", align_corners=1, run=expected
    )
    quarters = (np.round(GRID * 4) / 4).astype(np.float16)  # the reference finds coordinates in half precision
    found["grid of half precision"] = case("GridSample", {"x": PLANES.astype(np.float16), "g": quarters})
    found["grid of doubles"] = case("GridSample", {"x": PLANES.astype(np.float64), "g": GRID})
    found["grid of bytes"] = case("GridSample", {"x": (PLANES * 30).astype(np.int8), "g": GRID}, mode="nearest")
    found["grid by its old names"] = case(
        "GridSample", {"x": PLANES, "g": GRID}, mode="bicubic", opset=16, run=expected
    )
    for corners in (0, 1):
        found[f"affine {corners}"] = case(
            "AffineGrid", {"t": shaped(2, 2, 3)}, {"s": integers(2, 3, 4, 5)}, align_corners=corners
        )
        found[f"affine volume {corners}"] = case(
            "AffineGrid", {"t": shaped(1, 3, 4)}, {"s": integers(1, 1, 2, 3, 4)}, align_corners=corners
        )
    return found


def regions() -> dict[str, tuple[Case, Oracle]]:
    found = {}
    batch = integers(0, 1, 1, 0)
    for mode, coordinates, ratio in product(("avg", "max"), ("half_pixel", "output_half_pixel"), (0, 3)):
        found[f"regions {mode} {coordinates} {ratio}"] = case(
            "RoiAlign",
            {"x": PLANES, "r": ROIS, "b": batch},
            mode=mode,
            coordinate_transformation_mode=coordinates,
            sampling_ratio=ratio,
            output_height=3,
            output_width=2,
            spatial_scale=0.75,
            run=by_reference if ratio else expected,
        )
    found["largest in regions"] = case(
        "MaxRoiPool",
        {"x": PLANES, "r": np.concatenate([batch[:, None].astype(np.float32), ROIS], axis=1)},
        pooled_shape=[2, 3],
        spatial_scale=0.5,
        opset=11,
        run=expected,
    )
    return found


def others() -> dict[str, tuple[Case, Oracle]]:
    found = {
        "columns, overlapping": case(
            "Col2Im",
            {"x": shaped(2, 18, 4)},
            {"i": integers(5, 6), "b": integers(3, 3)},
            strides=[2, 3],
            pads=[1, 1, 0, 0],
        ),
        "columns, block given": case(
            "Col2Im",
            {"x": shaped(1, 12, 9), "b": integers(2, 3)},
            {"i": integers(5, 6)},
            dilations=[2, 2],
            pads=[0, 0, 0, 1],
            order=("x", "i", "b"),
        ),
        "columns of one axis": case(
            "Col2Im",
            {"x": (shaped(1, 6, 4) * 9).astype(np.int32)},
            {"i": integers(8), "b": integers(3)},
            strides=[2],
            pads=[0, 1],
        ),
        "neighbours, even": case("LRN", {"x": shaped(5, 5, 2, 3)}, size=4, alpha=0.3, beta=0.6, bias=1.5),
        "neighbours, usual": case("LRN", {"x": shaped(2, 7, 3, 1)}, size=5, alpha=0.2, run=expected),
        "determinants": case("Det", {"x": shaped(2, 3, 5, 5)}),
        "determinants with zeros": case("Det", {"x": np.array([[[0, 2], [3, 0]], [[1, 2], [2, 4]]], np.float32)}),
        "determinant of one": case("Det", {"x": shaped(3, 1, 1)}),
        "deformed": case(
            "DeformConv",
            {
                "x": shaped(2, 4, 5, 6),
                "w": shaped(6, 2, 3, 2),
                "o": shaped(2, 24, 3, 3) * 2,
                "b": shaped(6),
                "m": shaped(2, 12, 3, 3),
            },
            group=2,
            offset_group=2,
            strides=[2, 2],
            dilations=[1, 2],
            pads=[1, 1, 1, 0],
        ),
        "deformed, without bias": case(
            "DeformConv",
            {"x": shaped(1, 2, 4, 4), "w": shaped(1, 2, 1, 1), "o": shaped(1, 2, 4, 4), "m": shaped(1, 1, 4, 4)},
            order=("x", "w", "o", "", "m"),
        ),
        "centre, negative axes": case("CenterCropPad", {"x": PLANES}, {"s": integers(8, 3)}, axes=[-1, -3], opset=18),
        "centre, all of int16": case(
            "CenterCropPad", {"x": (PLANES * 9).astype(np.int16)}, {"s": integers(3, 3, 2, 7)}, opset=18
        ),
        "cache in the middle": case(
            "TensorScatter", {"p": shaped(2, 6, 3), "u": shaped(2, 2, 3), "i": integers(4, 1)}, axis=1, opset=24
        ),
        "cache, round": case(
            "TensorScatter",
            {"p": shaped(2, 3, 6, 2), "u": shaped(2, 3, 4, 2), "i": integers(4, 5)},
            mode="circular",
            opset=24,
        ),
        "cache from the front": case("TensorScatter", {"p": shaped(1, 4, 2), "u": shaped(1, 3, 2)}, opset=24),
    }
    return found


CASES = {**grids(), **regions(), **others()}


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, Array]:
    got = run_cases([case for case, _ in CASES.values()])
    return {name: samples[0]["y"] for name, samples in zip(CASES, got, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_oracle(name: str, results: dict[str, Array]) -> None:
    (case, run), got = CASES[name], results[name]
    wanted = run(case.model, case.samples[0])["y"]
    assert got.dtype == wanted.dtype
    tolerance = 2e-3 if got.dtype == np.float16 else 2e-5
    np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=tolerance, atol=tolerance)


def test_hostile_places_stay_inside(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    """The sanitizers end the program where an access leaves a tensor or a number its type."""
    bad = (float("nan"), float("inf"), -1e30, 3e38)
    batch = integers(9, -9, 2**40, 0)
    given = [
        *(
            (name, {"g": np.full_like(GRID, value)})
            for name in CASES
            if name.startswith("grid linear")
            for value in bad
        ),
        *(
            (name, {"r": np.full_like(ROIS, value), "b": batch})
            for name in CASES
            if name.startswith("regions")
            for value in bad
        ),
        *(("largest in regions", {"r": np.full((4, 5), value, np.float32)}) for value in bad),
        *(("deformed", {"o": np.full((2, 24, 3, 3), value, np.float32)}) for value in bad),
        *(("columns, block given", {"b": integers(a, b)}) for a, b in ((0, 0), (-3, 9), (12, 12), (2**40, 1), (3, 2))),
        *(("cache in the middle", {"i": integers(a, b)}) for a, b in ((2**62, -(2**62)), (-1, 6))),
        *(("cache, round", {"i": integers(a, b)}) for a, b in ((2**62, -(2**62)), (-1, 6))),
    ]
    hostile = [Case(CASES[name][0].model, [{**CASES[name][0].samples[0], **change}]) for name, change in given]
    for (name, _), (got,) in zip(given, run_cases(hostile), strict=True):
        assert got["y"].size, name
