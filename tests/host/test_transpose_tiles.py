"""Transpositions large enough for squares, with and without rests: exact moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from host_harness import Array, Case, import_graph, make_model
from match_host.kernels.movement.movement import TILE, build_movement

RNG = np.random.default_rng(2)
#: Shape, order of axes, element type.
MOVES: list[tuple[tuple[int, ...], tuple[int, ...], str]] = [
    ((32, 24), (1, 0), "float32"),
    ((17, 40), (1, 0), "int8"),
    ((2, 33, 5, 70), (0, 3, 2, 1), "float16"),
    ((16, 3, 19, 4), (2, 3, 1, 0), "int64"),
    ((1, 20, 4, 18), (0, 2, 3, 1), "float32"),
]


def _model(shape: tuple[int, ...], order: tuple[int, ...], dtype: str) -> tuple[onnx.ModelProto, Array]:
    x = RNG.integers(-100, 100, shape).astype(dtype)
    return make_model([onnx.helper.make_node("Transpose", ["x"], ["y"], perm=order)], {"x": x}), x


def test_moves(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    made = [(order, *_model(shape, order, dtype)) for shape, order, dtype in MOVES]
    results = run_cases([Case(model, [{"x": x}]) for _, model, x in made])
    for (order, _, x), (outputs,) in zip(made, results, strict=True):
        np.testing.assert_array_equal(outputs["y"], x.transpose(order))


def test_large_ones_are_written_in_squares() -> None:
    for shape, order, dtype in MOVES:
        graph = import_graph(_model(shape, order, dtype)[0])
        assert f"0 += {TILE}" in build_movement(tuple(graph.nodes), "kernel").code.definition


def test_short_lines_are_written_as_they_are() -> None:
    graph = import_graph(_model((TILE, 64), (1, 0), "int8")[0])
    assert f"0 += {TILE}" not in build_movement(tuple(graph.nodes), "kernel").code.definition
