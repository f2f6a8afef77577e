"""Quantisers at the ends of the graph: inputs and outputs become 8-bit tensors of the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from match_core.contract.model import Model
from match_core.contract.passes import PassContext
from match_core.contract.quantisation import Quantisation
from match_core.passes.pipeline import run_passes
from match_quant.quantised_ends import run
from match_verify.reference import ReferenceRunner
from numpy.typing import DTypeLike, NDArray
from quantised import parameters

from tests.all_passes import core_passes

ModelOf = Callable[[str, Mapping[str, NDArray[np.generic]]], Model]
CONSTANTS = {**parameters("x", 0.04, -3, np.int8), **parameters("y", 0.06, 7, np.uint8)}
ENDS = """g (float[1,64] x) => (float[1,64] y) {
    q = QuantizeLinear (x, xs, xz)  f = DequantizeLinear (q, xs, xz)  n = Neg (f)
    r = QuantizeLinear (n, ys, yz)  y = DequantizeLinear (r, ys, yz) }"""


def types(model: Model) -> dict[str, str]:
    """Element types of inputs and outputs by name."""
    return {tensor.name: np.dtype(tensor.dtype).name for tensor in (*model.graph.inputs, *model.graph.outputs)}


def test_both_ends(model_of: ModelOf, host_only: PassContext) -> None:
    model = model_of(ENDS, CONSTANTS)
    changed = run(model, replace(host_only, quantized_io=True))
    assert types(changed) == {"x": "int8", "y": "uint8"}
    assert [node.op for node in changed.graph.nodes] == ["DequantizeLinear", "Neg", "QuantizeLinear"]
    ends = changed.quantised_ends
    assert ends == {"x": Quantisation(float(np.float32(0.04)), -3), "y": Quantisation(float(np.float32(0.06)), 7)}
    assert changed.notes == (
        "x: an 8-bit input or output of the program, scale 0.04, zero point -3",
        "y: an 8-bit input or output of the program, scale 0.06, zero point 7",
    )
    x = np.random.default_rng(3).standard_normal((1, 64)).astype(np.float32) * 4
    want = ReferenceRunner(model).run({"x": x})["y"]
    got = ReferenceRunner(changed).run({"x": ends["x"].stored(x, np.int8)})["y"]
    np.testing.assert_array_equal(ends["y"].real(got), want)
    np.testing.assert_array_equal(ends["y"].stored(want, np.uint8), got)


def test_no_float_is_left(model_of: ModelOf, accelerated: PassContext) -> None:
    constants = {**CONSTANTS, **parameters("y", 0.06, 7, np.int8)}
    wanted = replace(accelerated, quantized_io=True)
    lowered = run_passes(model_of(ENDS, constants), core_passes(wanted.soc, wanted.units), wanted)
    assert [node.op for node in lowered.graph.nodes] == ["OffsetI8ToU8", "LutU8", "OffsetU8ToI8"]
    assert set(lowered.quantised_ends) == {"x", "y"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param(
            """g (float[1,64] x) => (float[1,64] y, float[1,64] z) {
            q = QuantizeLinear (x, xs, xz)  f = DequantizeLinear (q, xs, xz)  y = Neg (f)  z = Abs (x) }""",
            {"x": "float32", "y": "float32", "z": "float32"},
            id="another reader of the input",
        ),
        pytest.param(
            """g (float[1,64] x) => (int8[1,64] y) { y = QuantizeLinear (x, xs, xz) }""",
            {"x": "float32", "y": "int8"},
            id="the input would be the output",
        ),
        pytest.param(
            """g (int8[1,64] x) => (float[1,64] y) { y = DequantizeLinear (x, xs, xz) }""",
            {"x": "int8", "y": "float32"},
            id="the output would be the input",
        ),
        pytest.param(
            """g (float[1,64] x) => (float[1,64] y, float[1,64] z) {
            q = QuantizeLinear (x, xs, xz)  f = DequantizeLinear (q, xs, xz)  n = Neg (f)
            r = QuantizeLinear (n, xs, xz)  y = DequantizeLinear (r, xs, xz)  z = DequantizeLinear (r, xs, xz) }""",
            {"x": "int8", "y": "int8", "z": "float32"},
            id="one tensor behind two outputs",
        ),
        pytest.param(
            """g (float[1,64] x) => (float[1,64] y) {
            q = QuantizeLinear <axis = 1> (x, many, zeros)  f = DequantizeLinear <axis = 1> (q, many, zeros)
            y = Neg (f) }""",
            {"x": "float32", "y": "float32"},
            id="a scale per channel",
        ),
        pytest.param(
            """g (float[1,64] x) => (float[1,64] y) {
            q = QuantizeLinear (x, xs, xz)  f = DequantizeLinear (q, xs, xz)  n = Neg (f)
            r = QuantizeLinear (n, xs, xz)  y = DequantizeLinear (r, xs, xz)  s = Abs (y) }""",
            {"x": "int8", "y": "int8"},
            id="the float output is read too",
        ),
    ],
)
def test_what_is_taken_and_what_stays(
    text: str, left: dict[str, str], model_of: ModelOf, host_only: PassContext
) -> None:
    constants = {**CONSTANTS, "many": np.full(64, 0.1, np.float32), "zeros": np.zeros(64, np.int8)}
    changed = run(model_of(text, constants), replace(host_only, quantized_io=True))
    assert types(changed) == left
    assert len(ReferenceRunner(changed).output_names) == len(changed.graph.outputs)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_integers_of_floats(dtype: DTypeLike) -> None:
    """Half to even, saturating; what the integers stand for gives them again."""
    quantisation = Quantisation(0.5, 3)
    limits = np.iinfo(np.dtype(dtype))
    every = np.arange(limits.min, limits.max + 1).astype(dtype)
    np.testing.assert_array_equal(quantisation.stored(quantisation.real(every), dtype), every)
    values = np.array([0.25, 0.75, -0.25, np.inf, -np.inf, np.nan, 1e30], np.float32)
    wanted = [3, 5, 3, limits.max, limits.min, 3, limits.max]
    np.testing.assert_array_equal(quantisation.stored(values, dtype), wanted)
