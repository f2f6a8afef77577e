"""Transposed convolutions: every result reads the taps that hit an element, and no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from host_harness import Array, Case, expected, make_model
from match_host.kernels.products.conv_transpose import build_conv_transpose

Run = Callable[..., list[list[dict[str, Array]]]]
RNG = np.random.default_rng(5)

#: Sizes of space, of the kernel, and attributes.
SHAPES: dict[str, tuple[Sequence[int], Sequence[int], dict[str, object]]] = {
    "one tap": ((4, 5), (1, 1), {}),
    "fewer taps than places between elements": ((3, 4), (2, 1), {"strides": [3, 2]}),
    "as many taps": ((4, 3), (2, 3), {"strides": [2, 3]}),
    "more taps": ((4, 5), (5, 7), {"strides": [2, 3], "pads": [2, 0, 1, 3]}),
    "one place apart": ((5, 4), (3, 2), {"pads": [1, 0, 1, 1]}),
    "more padding than a stride": ((6, 6), (4, 4), {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    "places that no tap reaches": ((3, 3), (2, 2), {"strides": [3, 3], "output_padding": [2, 1]}),
    "size of the result": ((4, 4), (3, 3), {"strides": [2, 2], "output_shape": [8, 7]}),
    "same size": ((5, 4), (3, 4), {"strides": [2, 1], "auto_pad": "SAME_LOWER"}),
    "one element": ((1, 1), (3, 2), {"strides": [2, 2]}),
    "line": ((9,), (16,), {"strides": [8], "pads": [4, 4]}),
    "line with dilation": ((7,), (3,), {"strides": [2], "dilations": [3], "pads": [2, 1]}),
    "volume": ((3, 2, 3), (2, 3, 2), {"strides": [2, 1, 2], "pads": [0, 1, 0, 1, 1, 0]}),
}


def _case(space: Sequence[int], kernel: Sequence[int], attributes: dict[str, object]) -> Case:
    values = {
        "x": RNG.standard_normal((2, 4, *space)).astype(np.float32),
        "w": RNG.standard_normal((4, 3, *kernel)).astype(np.float32),
        "b": RNG.standard_normal(6).astype(np.float32),
    }
    item = onnx.helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=2, **attributes)
    return Case(make_model([item], values, outputs=["y"]), [values])


@pytest.fixture(scope="module")
def results(run_cases: Run) -> dict[str, tuple[Case, dict[str, Array]]]:
    cases = {name: _case(*shape) for name, shape in SHAPES.items()}
    return {
        name: (case, samples[0])
        for (name, case), samples in zip(cases.items(), run_cases(list(cases.values())), strict=True)
    }


@pytest.mark.parametrize("name", SHAPES)
def test_equals_the_reference(name: str, results: dict[str, tuple[Case, dict[str, Array]]]) -> None:
    case, got = results[name]
    for output, wanted in expected(case.model, case.samples[0]).items():
        np.testing.assert_allclose(got[output], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("results", "checked"), [(5, False), (6, True)])
def test_results_that_no_tap_reaches_read_nothing(results: int, checked: bool) -> None:
    """A model file may ask for more results than there are; ONNX Runtime refuses that."""
    x, weight = gs.Variable("x", np.float32, (1, 1, 5)), gs.Constant("w", np.ones((1, 1, 1), np.float32))
    node = gs.Node("ConvTranspose", "up", {"output_shape": [results]}, [x, weight])
    node.outputs = [gs.Variable("y", np.float32, (1, 1, results))]
    text = build_conv_transpose((node,), "up").code.definition
    assert ("first_x = place_x >= 5 ? place_x - 4 : 0;" in text) == checked
