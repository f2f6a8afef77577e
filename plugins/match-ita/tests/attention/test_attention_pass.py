"""Attention in all its spellings: found, rewritten, and run before and after in ONNX Runtime."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from ita_attention_models import Layer, Shape, context, random_input
from match_core import Model
from match_core.passes.clean_up import CLEAN_UP
from match_ita.passes.attention import ATTENTION, SOFTMAX
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: By what cosine similarity and root mean square (LSB of the result) a variant may differ from the integer graph, for
#: logits with a standard deviation of 3.
_ITAMAX, _PRODUCTS = (0.98, 7.0), (0.998, 2.2)


def _output(model: Model, shape: Shape) -> Ints:
    (y,) = ReferenceRunner(model).run(random_input(shape)).values()
    return np.asarray(y).astype(np.int64)


def _softmax(model: Model, preset: str = "rtl") -> Model:
    target = context(preset)
    return CLEAN_UP.run(SOFTMAX.run(model, target), target)


def _products(model: Model) -> Model:
    return CLEAN_UP.run(ATTENTION.run(model, context()), context())


def _ops(model: Model) -> Counter[str]:
    return Counter(node.op for node in model.graph.nodes)


def _check(before: Ints, after: Ints, bound: tuple[float, float]) -> None:
    a, b = (values - values.mean() for values in (before, after))
    cosine = float(np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b)))
    rms = float(np.sqrt(np.mean(np.square(before - after))))
    assert cosine >= bound[0]
    assert rms <= bound[1]


_PLAIN = Shape(rows=128, width=192, heads=3)
_SPELLINGS = {
    "separate": _PLAIN,
    "batch": replace(_PLAIN, batch=True),
    "flat": replace(_PLAIN, flat=True),
    "turned twice": replace(_PLAIN, turned=True),
    "split": replace(_PLAIN, weights="split"),
    "slice, flat, batch": replace(_PLAIN, weights="slice", flat=True, batch=True),
    "gather": replace(_PLAIN, weights="gather"),
    "gather, flat": replace(_PLAIN, weights="gather", flat=True),
}


@pytest.mark.parametrize("name", _SPELLINGS)
def test_every_spelling_becomes_the_same_nodes_and_values(name: str) -> None:
    plain, shape = _softmax(Layer(_PLAIN).build()), _SPELLINGS[name]
    model = _softmax(Layer(shape).build())
    expected = {"MatMulInteger": 4, "RequantI8": 4, "Attention": 1, "Transpose": 1}
    assert {op: count for op, count in _ops(model).items() if op != "Reshape"} == expected
    np.testing.assert_array_equal(_output(model, shape).reshape(-1), _output(plain, _PLAIN).reshape(-1))


_SIZES = {
    "one head": Shape(rows=64, width=64, heads=1),
    "six heads": Shape(rows=64, width=128, heads=6),
    "241 rows": Shape(rows=241, width=192, heads=3, batch=True),
    "one row": Shape(rows=1, width=64, heads=2),
    "heads of 32": Shape(rows=128, width=128, heads=4, size=32),
    "heads of 96": Shape(rows=70, width=64, heads=2, size=96),
    "columns by head": Shape(rows=128, width=128, heads=3, weights="interleaved"),
    "multipliers per column": Shape(rows=100, width=128, heads=2, per_column=True),
    "scaled logits": Shape(rows=128, width=128, heads=2, scaled=True, zeros=(0, 0, 0)),
    "probabilities uint8": Shape(rows=64, width=128, heads=2, unsigned=True),
    "fewer keys than rows": Shape(rows=100, width=64, heads=2, keys=70, batch=True),
    "no output layer": Shape(rows=100, width=128, heads=4, size=32, projected=False, batch=True),
    "no output layer, flat": Shape(rows=64, width=128, heads=2, projected=False, flat=True),
}


@pytest.mark.parametrize("name", _SIZES)
def test_softmax_in_powers_of_two_is_near(name: str) -> None:
    shape = _SIZES[name]
    before = Layer(shape).build()
    after = _softmax(before)
    assert _ops(after)["Attention"] == 1
    assert not _ops(after).keys() & {"SoftmaxI8", "SoftmaxU8"}
    _check(_output(before, shape), _output(after, shape), _ITAMAX)
    assert "exponentials become powers of two" in after.notes[0]


@pytest.mark.parametrize("name", [name for name in _SIZES if name != "scaled logits"])
def test_products_alone_are_nearer(name: str) -> None:
    shape = _SIZES[name]
    before = Layer(shape).build()
    after = _products(before)
    (softmax,) = (node for node in after.graph.nodes if node.op.startswith("Softmax"))
    assert softmax.op == "SoftmaxI8"
    assert [int(tensor.values) for tensor in softmax.inputs[2:]] == [127, 0, 0, 127]
    (note,) = after.notes
    assert "127 levels" in note
    _check(_output(before, shape), _output(after, shape), _PRODUCTS)
    for node in after.graph.nodes:
        if node.op == "MatMulInteger" and not hasattr(node.inputs[1], "values"):
            assert len(node.inputs) == 2  # no zero points
            (requant,) = node.outputs[0].outputs
            _is_a_step(*(int(tensor.values) for tensor in requant.inputs[1:]))
            assert node.inputs[0].shape[-1] % 64 == 0
            assert node.inputs[1].shape[-1] % 64 == 0
            assert node.inputs[1].inputs[0].op == "Transpose"


def _is_a_step(multiplier: int, addend: int, divisor: int, lo: int = -128, hi: int = 127) -> None:
    """ITA's registers hold these numbers."""
    assert 0 < multiplier <= 255
    assert 1 <= divisor <= 1 << 33
    assert (addend - divisor // 2) % divisor == 0
    assert -128 <= (addend - divisor // 2) // divisor <= 127
    assert (lo, hi) == (-128, 127)


@pytest.mark.parametrize("size", [32, 64])
def test_numbers_fit_the_registers(size: int) -> None:
    after = _softmax(Layer(Shape(rows=100, heads=2, size=size, zeros=(40, -40, 20))).build())
    (node,) = (node for node in after.graph.nodes if node.op == "Attention")
    q, k, vt = node.inputs[:3]
    assert (q.shape, k.shape, vt.shape) == ([100, 128], [100, 128], [128, 128])
    numbers = [int(tensor.values) for tensor in node.inputs[3:]]
    assert numbers[3] == 65280
    _is_a_step(*numbers[:3])
    _is_a_step(*numbers[4:])
    assert dict(node.attrs) == {"heads": 2, "shift": 0, "group": 16}
    for tensor in (q, k):  # linear layers directly in front, added columns are 0
        requant = tensor.inputs[0]
        weight = requant.inputs[0].inputs[0].inputs[1].values
        assert np.any(weight[:, :size])
        assert not np.any(weight.reshape(-1, 2, 64)[:, :, size:])
    values = ReferenceRunner(after.to_onnx(), (q.name,)).run(random_input(Shape(rows=100)))[q.name]
    assert not np.any(values.reshape(-1, 2, 64)[:, :, size:])
    assert abs(float(values.mean())) < 3  # zero point 0


def test_other_arithmetic_of_the_softmax() -> None:
    # Steps of ln 2 / 32: int8 holds 5.5, so logits must be close together.
    shape = Shape(rows=64, width=128, heads=2, spread=0.5)
    before = Layer(shape).build()
    after = _softmax(before, "islped")
    (node,) = (node for node in after.graph.nodes if node.op == "Attention")
    assert node.attrs["shift"] == 5
    _check(_output(before, shape), _output(after, shape), (0.97, 4.0))
    low = _softmax(before, "quantlib")
    (node,) = (node for node in low.graph.nodes if node.op == "Attention")
    assert int(node.inputs[6].values) == 127 * 256
    _check(_output(before, shape), _output(low, shape), (0.95, 5.0))


@pytest.mark.parametrize(
    ("shape", "preset", "reason"),
    [
        (Shape(spread=3.0), "islped", "logits span 21.9, int8 in steps of 0.0217 holds 5.5"),
        (Shape(spread=0.5, rows=100), "islped", "100 keys are no multiple of 64, and added ones would get weight"),
        (Shape(rows=961), "rtl", "961 keys are more than 960"),
        (Shape(spread=1e-7), "rtl", "ITA cannot requantise q k^T"),
    ],
)
def test_refusals_have_reasons(shape: Shape, preset: str, reason: str) -> None:
    before = Layer(shape).build()
    after = _softmax(before, preset)
    assert "Attention" not in _ops(after)
    assert any(reason in note for note in after.notes), after.notes
    np.testing.assert_array_equal(_output(after, shape), _output(before, shape))


def test_flat_logits_of_many_keys_have_no_weight() -> None:
    """With a sum above the numerator ITAMax gives zeros: the result is the zero point, and a note says so."""
    shape = Shape(rows=256, spread=0.02, projected=False)
    before = Layer(shape).build()
    after = _softmax(before)
    assert any("256 logits are nearly equal gets no weights" in note for note in after.notes)
    assert np.all(_output(after, shape) == -7)  # the zero point of the heads' result
    assert _output(before, shape).std() > 1
    fewer = replace(shape, rows=240)
    assert not any("no weights" in note for note in _softmax(Layer(fewer).build()).notes)
    assert np.any(_output(_softmax(Layer(fewer).build()), fewer) != -7)


def test_a_softmax_that_is_no_attention_stays() -> None:
    layer = Layer(Shape())
    x = layer.reshape(layer.editor.graph.inputs[0], (64, 64))
    layer.editor.graph.outputs = [layer.softmax(layer.linear(x, layer.matrix(64, 64), 0, "fc"))]
    model = layer.editor.finish()
    for after in (SOFTMAX.run(model, context()), ATTENTION.run(model, context())):
        assert _ops(after) == _ops(model)
        assert "the logits are not a requantised product" in after.notes[0]
