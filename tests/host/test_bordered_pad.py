"""Padding by constant amounts that repeats, reflects or wraps what is inside: the same places as numpy's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from host_harness import Array, Case, import_graph, make_model
from match_host.kernels.movement.movement import build_movement

RNG = np.random.default_rng(4)
MODES = ("edge", "reflect", "wrap")
#: Shape, amounts before and after each axis, element type; the last ones are wider than what is inside, which nothing
#: reflects.
PADS: list[tuple[tuple[int, ...], tuple[tuple[int, int], ...], str]] = [
    ((1, 3, 5, 6), ((0, 0), (0, 0), (2, 1), (3, 3)), "int8"),
    ((4, 7), ((3, 0), (0, 6)), "float32"),
    ((6,), ((1, 5),), "int64"),
    ((2, 3, 4), ((1, 1), (0, 2), (3, 0)), "float16"),
    ((3, 1), ((1, 0), (0, 0)), "uint8"),
    ((2, 3), ((2, 1), (0, 5)), "int16"),
    ((4,), ((9, 14),), "float32"),
]


def _model(shape: tuple[int, ...], amounts: tuple[tuple[int, int], ...], dtype: str, mode: str) -> onnx.ModelProto:
    pads = np.array([before for before, _ in amounts] + [after for _, after in amounts], np.int64)
    pad = onnx.helper.make_node("Pad", ["x", "pads"], ["y"], mode=mode)
    return make_model([pad], {"x": np.zeros(shape, dtype)}, {"pads": pads})


@pytest.mark.parametrize("mode", MODES)
def test_places(mode: str, run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    pads = PADS[:-1] if mode == "reflect" else PADS
    made = [(RNG.integers(0, 100, shape).astype(dtype), amounts, dtype) for shape, amounts, dtype in pads]
    results = run_cases([Case(_model(x.shape, amounts, dtype, mode), [{"x": x}]) for x, amounts, dtype in made])
    for (x, amounts, _), (outputs,) in zip(made, results, strict=True):
        np.testing.assert_array_equal(outputs["y"], np.pad(x, amounts, mode=mode))


def test_what_is_cropped_is_read_by_no_border(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    model = _model(x.shape, ((-1, 2), (3, -2)), "float32", "edge")
    ((outputs,),) = run_cases([Case(model, [{"x": x}])])
    np.testing.assert_array_equal(outputs["y"], np.pad(x, ((0, 2), (3, 0)), mode="edge")[1:, :-2])


@pytest.mark.parametrize("mode", MODES)
def test_indices_have_32_bits_and_no_division(mode: str) -> None:
    graph = import_graph(_model(*PADS[0], mode))
    text = build_movement(tuple(graph.nodes), "kernel").code.definition
    assert "int64_t" not in text and "%" not in text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("size", "amounts"), [(6, (5, -8)), (6, (-10, 5)), (3, (-3, 0))])
def test_crops_beyond_an_axis_and_empty_results_are_computed(mode: str, size: int, amounts: tuple[int, int]) -> None:
    """The copy of a row would begin behind its end."""
    x, y = gs.Variable("x", np.float32, (2, size)), gs.Variable("y", np.float32, (2, size + sum(amounts)))
    pads = gs.Constant("pads", np.array([0, amounts[0], 0, amounts[1]], np.int64))
    pad = gs.Node("Pad", "pad", {"mode": mode}, [x, pads], [y])
    assert "before[" in build_movement((pad,), "kernel").code.definition


def test_wider_ones_are_computed() -> None:
    graph = import_graph(_model(*PADS[-1], "wrap"))
    assert "%" in build_movement(tuple(graph.nodes), "kernel").code.definition
