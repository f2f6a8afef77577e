"""Requantisation by a power of two becomes a shift."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from diana_pass_models import SHIFT, Ints, context, random_int8, results
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core import Model
from match_core.contract.model import OPSET
from match_core.ir.editor import Editor
from match_core.ir.reader import constant

from tests.examples import examples

RANDOM = np.random.default_rng(5)


def start(shape: tuple[int, ...], count: int = 1) -> tuple[Editor, list[gs.Variable]]:
    names = ("x", "z")[:count]
    given = [gs.Variable(name, np.dtype(np.int8), list(shape)) for name in names]
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    editor = Editor(Model("m", gs.Graph(nodes=[], inputs=given, outputs=[], opset=OPSET, import_domains=opsets)))
    return editor, list(editor.graph.inputs)


def constants(editor: Editor, *values: int | Ints) -> list[gs.Constant]:
    return [editor.constant(f"c{index}", np.array(value, np.int64)) for index, value in enumerate(values)]


def dense(
    multiplier: int | Ints,
    addend: int | Ints,
    divisor: int,
    bounds: tuple[int, int] = (-128, 127),
    weight: Ints | None = None,
    source: bool = False,
) -> Model:
    """MatMulInteger of 24 inputs and 6 outputs, and RequantI8."""
    editor, (x,) = start((1, 24))
    weights = np.random.default_rng(1).integers(-127, 128, (24, 6)) if weight is None else weight
    acc = editor.node(
        "MatMulInteger", [x, editor.constant("w", weights.astype(np.int8))], np.int32, (1, 6), name="fc", origin=("fc",)
    )
    given = constants(editor, multiplier, addend, divisor, *bounds)
    y = editor.node("match.arith::RequantI8", [acc, *given], np.int8, (1, 6), name="requant", origin=("fc",))
    editor.graph.outputs = [y]
    model = editor.finish()
    return Model(model.name, model.graph, provenance=model.provenance, integer_source=source)


def numbers(model: Model) -> list[Ints]:
    (node,) = [node for node in model.graph.nodes if "Requant" in node.op]
    return [np.asarray(constant(tensor)) for tensor in node.inputs if constant(tensor) is not None]


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 99),
    exponent=st.integers(0, 30),
    shift=st.integers(0, 16),
    addend=st.integers(-(2**40), 2**40),
    source=st.booleans(),
)
def test_exact_powers_of_two_keep_every_bit(seed: int, exponent: int, shift: int, addend: int, source: bool) -> None:
    limit = 1 << (exponent + 17)
    model = dense(1 << exponent, int(np.clip(addend, -limit, limit)), 1 << (exponent + shift), source=source)
    after = SHIFT.run(model, context())
    multiplier, bias, divisor, _, _ = numbers(after)
    assert multiplier == 1 and divisor == 1 << shift and abs(int(bias)) <= 1 << 17
    x = random_int8(seed, 1, 24)
    np.testing.assert_array_equal(results(after, x=x), results(model, x=x))


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 99), shift=st.integers(4, 14), off=st.integers(-900, 900), half=st.booleans())
def test_multipliers_close_to_a_power_of_two(seed: int, shift: int, off: int, half: bool) -> None:
    """What scales in float32 leave: results move where the two lie on different sides of a step, by 1 there."""
    bias = np.random.default_rng(seed).integers(-5000, 5000, (1, 6))
    step = 1 << (30 + shift)
    multiplier = (1 << 30) + off
    model = dense(multiplier, multiplier * bias + (step >> 1 if half else 0), step)
    after = SHIFT.run(model, context())
    found = numbers(after)
    np.testing.assert_array_equal(found[1], bias + ((1 << shift) // 2 if half else 0))
    x = random_int8(seed, 1, 24)
    assert np.abs(results(after, x=x) - results(model, x=x)).max() <= 1


def test_outputs_that_are_constant_get_weights_of_0() -> None:
    multiplier, addend = np.full((1, 6), 1 << 30), np.full((1, 6), 5 << 40)
    multiplier[0, 2], addend[0, 2] = 0, (-17 << 39) + 3
    model = dense(multiplier, addend, 1 << 39)
    after = SHIFT.run(model, context())
    assert numbers(after)[0] == 1
    for seed in range(5):
        x = random_int8(seed, 1, 24)
        np.testing.assert_array_equal(results(after, x=x), results(model, x=x))
    assert not np.asarray(constant(after.graph.nodes[0].inputs[1]))[:, 2].any()


def test_a_layer_whose_outputs_are_all_constant() -> None:
    model = dense(0, -5 << 20, 1 << 20)
    after = SHIFT.run(model, context())
    assert [int(value) for value in numbers(after)[:3]] == [1, -5, 1]
    np.testing.assert_array_equal(results(after, x=random_int8(1, 1, 24)), np.full((1, 6), -5))


@pytest.mark.parametrize(
    "model",
    [
        dense(3 << 20, 0, 1 << 30),
        dense(1 << 12, 0, 1 << 11),
        dense(np.array([[1, 2, 1, 1, 1, 1]]) << 20, 0, 1 << 30),
        dense((1 << 20) + 9, 0, 1 << 30),
        dense((1 << 30) + 1, 0, 1 << 39, source=True),
        dense(np.where(np.arange(6) == 2, 0, 1 << 30)[None], 0, 1 << 39, source=True),
        dense(-(1 << 20), 0, 1 << 30),
        dense(1, 77, 1 << 9),
        dense(1 << 10, 0, 3 << 10),
    ],
)
def test_other_requantisations_stay(model: Model) -> None:
    assert SHIFT.run(model, context()) is model


@pytest.mark.parametrize(("addend", "divisor", "bias"), [(1 << 29, 1 << 30, 0), (1 << 30, 1 << 31, 1), (0, 1 << 32, 0)])
def test_sums(addend: int, divisor: int, bias: int) -> None:
    editor, (a, b) = start((1, 40), 2)
    given = constants(editor, 1 << 30, 1 << 30, addend, divisor, -128, 127)
    y = editor.node("match.arith::AddRequantI8", [a, b, *given], np.int8, (1, 40), name="sum", origin=("sum",))
    editor.graph.outputs = [y]
    model = editor.finish()
    after = SHIFT.run(model, context())
    found = numbers(after)
    assert [int(value) for value in found[:4]] == [1, 1, bias, divisor >> 30]
    x, z = random_int8(1, 1, 40), random_int8(2, 1, 40)
    np.testing.assert_array_equal(results(after, x=x, z=z), results(model, x=x, z=z))


def test_sums_with_two_multipliers_stay() -> None:
    editor, (a, b) = start((1, 40), 2)
    given = constants(editor, 1 << 30, 1 << 29, 0, 1 << 30, -128, 127)
    y = editor.node("match.arith::AddRequantI8", [a, b, *given], np.int8, (1, 40), name="sum", origin=("sum",))
    editor.graph.outputs = [y]
    model = editor.finish()
    assert SHIFT.run(model, context()) is model
