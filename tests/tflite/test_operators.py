"""Every translated operator on float tensors, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.load.load import model_from_proto
from match_tflite.convert import tflite_to_onnx
from match_tflite.operators import OPERATORS
from match_verify.reference import ReferenceRunner

from tests.tflite_files.builder import VALID, TfliteBuilder
from tests.tflite_files.cases import CASES
from tests.tflite_files.numpy_operators import Array


def test_every_operator_has_a_case() -> None:
    assert {case.kind for case in CASES.values()} == set(OPERATORS)


@pytest.mark.parametrize("around", [False, True], ids=["alone", "between_convolutions"])
@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_tflite_does(name: str, around: bool) -> None:
    """Alone, and where its images come as planes and go on to an operator that wants planes."""
    case = CASES[name]
    results = case.expected(*case.inputs)
    wide = results if isinstance(results, tuple) else (results,)
    expected = [array.astype(np.float32) if array.dtype == np.float64 else array for array in wide]
    b = TfliteBuilder()
    given: dict[int, Array] = {}
    inputs: list[int] = []
    for position, array in enumerate(case.inputs):
        if position in case.constants:
            inputs.append(b.constant(f"in{position}", array))
            continue
        index = b.tensor(f"in{position}", array.shape, array.dtype.name)
        given[index] = array
        inputs.append(_through_pixels(b, index, array) if around else index)
    outputs = [b.tensor(f"out{i}", array.shape, array.dtype.name) for i, array in enumerate(expected)]
    b.operator(case.kind, inputs + [-1] * len(case.left_out), outputs, case.options)
    ends = [
        _through_pixels(b, index, array) if around else index for index, array in zip(outputs, expected, strict=True)
    ]
    proto = tflite_to_onnx(b.content(list(given), ends), "net.tflite")
    model = model_from_proto(proto, "net", "net.tflite")
    names = [tensor.name for tensor in model.graph.outputs]
    positions = [position for position in range(len(case.inputs)) if position not in case.constants]
    fed = {f"in{position}": array for position, array in zip(positions, given.values(), strict=True)}
    got = ReferenceRunner(model).run(fed)
    for result, wanted in zip((got[name] for name in names), expected, strict=True):
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=2e-5, atol=2e-5)


def _through_pixels(b: TfliteBuilder, index: int, array: Array) -> int:
    """A pooling of single pixels: it changes nothing, and makes planes."""
    if array.ndim != 4 or array.dtype != np.float32:
        return index
    result = b.tensor(f"t{index}_pixels", array.shape)
    options = {"Padding": VALID, "StrideH": 1, "StrideW": 1, "FilterHeight": 1, "FilterWidth": 1}
    b.operator("MAX_POOL_2D", [index], [result], ("Pool2DOptions", options))
    return result
