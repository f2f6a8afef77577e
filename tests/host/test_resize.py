"""Resize in all modes against the reference evaluator, with scales that the model states or is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, by_reference, expected, make_model
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from match_host.kernels.image.resize_axis import (
    COORDINATES,
    ROUNDINGS,
    Modes,
    ResizeAxis,
    coordinates_of,
    nearest_table,
    tap_table,
)

from tests.examples import examples

#: What opsets 11 and 12 had and the reference evaluator does not know.
OLD = "tf_half_pixel_for_nn"
CURRENT = tuple(name for name in COORDINATES if name != OLD)
RNG = np.random.default_rng(19)
IMAGE = RNG.standard_normal((1, 2, 5, 7)).astype(np.float32)
VOLUME = RNG.standard_normal((1, 1, 3, 4, 5)).astype(np.float32)
ROI = np.array([0, 0, 0.1, -0.2, 1, 1, 0.9, 0.7], np.float32)


def scales(*values: float) -> Array:
    return np.array(values, np.float32)


def sizes(*values: int) -> Array:
    return np.array(values, np.int64)


def case(x: Array, given: Mapping[str, Array], constant: bool, **attributes: object) -> Case:
    """``given`` are roi, scales and sizes; as constants of the model or as its inputs."""
    names = ["x", *(name if name in given else "" for name in ("roi", "scales", "sizes"))]
    while not names[-1]:
        names.pop()
    node = onnx.helper.make_node("Resize", names, ["y"], **attributes)
    inputs = {"x": x} if constant else {"x": x, **given}
    model = make_model([node], inputs, given if constant else {}, run=by_reference)
    return Case(model, [inputs])


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for constant, coordinates in product((True, False), CURRENT):
        kind = "constant" if constant else "computed"
        roi = {"roi": ROI} if coordinates == "tf_crop_and_resize" else {}
        own = {"coordinate_transformation_mode": coordinates, "extrapolation_value": 3.5}
        up, down = {**roi, "scales": scales(1, 1, 2.3, 1.4)}, {**roi, "scales": scales(1, 1, 0.6, 0.45)}
        for rounding in ROUNDINGS[: 1 if constant else None]:  # tables have a test of their own
            found[f"{kind} {coordinates} nearest {rounding}"] = case(
                IMAGE, up, constant, mode="nearest", nearest_mode=rounding, **own
            )
        for mode in ("linear", "cubic"):
            found[f"{kind} {coordinates} {mode} up"] = case(IMAGE, up, constant, mode=mode, **own)
            found[f"{kind} {coordinates} {mode} smoothed"] = case(IMAGE, down, constant, mode=mode, antialias=1, **own)
        found[f"{kind} {coordinates} exclude"] = case(
            IMAGE, down, constant, mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5, **own
        )
    for constant in (True, False):
        kind = "constant" if constant else "computed"
        for policy, mode in product(("not_larger", "not_smaller", "stretch"), ("nearest", "linear")):
            found[f"{kind} {policy} {mode}"] = case(
                IMAGE, {"sizes": sizes(9, 4)}, constant, mode=mode, axes=[3, 2], keep_aspect_ratio_policy=policy
            )
        found[f"{kind} volume"] = case(VOLUME, {"scales": scales(1, 1, 2, 0.5, 1.3)}, constant, mode="linear")
        found[f"{kind} channels"] = case(IMAGE, {"sizes": sizes(1, 3, 5, 7)}, constant, mode="linear")
        for dtype in (np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float16, np.float64):
            x = (IMAGE * 90).clip(np.iinfo(dtype).min if np.dtype(dtype).kind in "iu" else -90, 90).astype(dtype)
            found[f"{kind} cubic of {np.dtype(dtype).name}"] = case(
                x, {"scales": scales(1, 1, 1.7, 0.7)}, constant, mode="cubic"
            )
    found["whole factors"] = case(IMAGE, {"scales": scales(1, 1, 3, 2)}, True, mode="nearest")
    found["every second"] = case(
        IMAGE[:, :, :4, :6],
        {"sizes": sizes(1, 2, 2, 3)},
        True,
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    return found


CASES = cases()


@pytest.fixture(scope="module")
def results(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> dict[str, Array]:
    got = run_cases(list(CASES.values()))
    return {name: samples[0]["y"] for name, samples in zip(CASES, got, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_reference(name: str, results: dict[str, Array]) -> None:
    case, got = CASES[name], results[name]
    wanted = by_reference(case.model, case.samples[0])["y"]
    assert got.dtype == wanted.dtype
    one = 1 if got.dtype.kind in "iu" else 0  # a tie that float32 sees on the other side
    np.testing.assert_allclose(
        got.astype(float), wanted.astype(float), rtol=2e-3 if got.dtype == np.float16 else 1e-5, atol=1e-5 + one
    )


def test_repeated_and_skipped_elements_are_plain_copies() -> None:
    from host_harness import Program

    for name in ("whole factors", "every second"):
        (text,) = Program(0, CASES[name]).functions
        assert "input_2" not in text


def test_truth_values_are_taken_from_the_nearest(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    bytes_case = case((IMAGE > 0).astype(np.uint8), {"scales": scales(1, 1, 1.7, 0.7)}, True, mode="nearest")
    wanted = by_reference(bytes_case.model, bytes_case.samples[0])["y"]
    for value in (bytes_case.model.graph.input[0], bytes_case.model.graph.output[0]):
        value.type.tensor_type.elem_type = onnx.TensorProto.BOOL
    ((got,),) = run_cases([Case(bytes_case.model, [{"x": IMAGE > 0}])])
    np.testing.assert_array_equal(got["y"], wanted.astype(bool))


@pytest.mark.parametrize("constant", [True, False])
def test_coordinates_of_opset_11(constant: bool, run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    given = {"roi": np.zeros(0, np.float32), "scales": scales(1, 1, 0.6, 1.5)}
    node = onnx.helper.make_node(
        "Resize", ["x", *given], ["y"], coordinate_transformation_mode=OLD, nearest_mode="floor"
    )
    inputs, constants = (
        ({"x": IMAGE}, given) if constant else ({"x": IMAGE, "scales": given["scales"]}, {"roi": given["roi"]})
    )
    model = make_model([node], inputs, constants, opset=11)
    ((got,),) = run_cases([Case(model, [inputs])])
    np.testing.assert_array_equal(got["y"], expected(model, inputs)["y"])


def test_hostile_scales_stay_inside(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    bad = [float("nan"), float("inf"), -1.0, 0.0, 1e-30]
    found = []
    for mode, antialias in (("nearest", 0), ("linear", 0), ("cubic", 1)):
        good = case(IMAGE, {"scales": scales(1, 1, 2, 1.5)}, False, mode=mode, antialias=antialias)
        samples = [{"x": IMAGE, "scales": scales(value, 1, value, value)} for value in bad]
        found.append(Case(good.model, samples))
    for samples in run_cases(found):  # the sanitizers end the program otherwise
        assert all(item["y"].shape == (1, 2, 10, 10) for item in samples)


@given(
    st.integers(1, 12),
    st.floats(0.05, 5),
    st.sampled_from(CURRENT[:5]),
    st.sampled_from(("nearest", "linear", "cubic")),
    st.sampled_from(ROUNDINGS),
    st.booleans(),
    st.booleans(),
)
@example(5, 4.5, "half_pixel_symmetric", "nearest", "round_prefer_floor", False, False)
@example(3, 3.0, "asymmetric", "cubic", "round_prefer_floor", True, True)
@settings(max_examples=examples(90), deadline=None)
def test_tables_equal_the_reference(
    size: int, scale: float, kind: str, mode: str, rounding: str, antialias: bool, exclude: bool
) -> None:
    scale = float(np.float32(scale))
    out = int(scale * size)
    assume(out > 0)
    antialias = antialias and mode != "nearest"
    modes = Modes(mode, kind, rounding, antialias, exclude, -0.75, 0.0)
    axis = ResizeAxis(0, 0, size, out, scale, False, (0.0, 1.0))
    x = np.random.default_rng(size).standard_normal(size)
    if mode == "nearest":
        first = nearest_table(axis, modes)
        got = np.where(first < 0, 0, x[first])
    else:
        taps = tap_table(axis, modes)
        places = taps.first[:, None] + np.arange(taps.weights.shape[1])
        assert places.min() >= 0
        assert places.max() < size
        got = (x[places] * taps.weights).sum(axis=1)
    model = case(
        x,
        {"scales": scales(scale)},
        True,
        mode=mode,
        coordinate_transformation_mode=kind,
        nearest_mode=rounding,
        antialias=int(antialias),
        exclude_outside=int(exclude),
    ).model
    at = coordinates_of(axis, modes)
    away = np.abs(at - np.round(at))
    # beside a whole coordinate the reference takes the element before or behind, as its sums are rounded
    plain = (away == 0) | (away > 1e-9) if mode == "nearest" else np.ones(out, bool)
    # the reference has some weights in single precision; if it leaves some out, it divides by the sum of the others
    tolerance = 2e-5 if exclude else 2e-6
    np.testing.assert_allclose(got[plain], by_reference(model, {"x": x})["y"][plain], rtol=tolerance, atol=tolerance)
