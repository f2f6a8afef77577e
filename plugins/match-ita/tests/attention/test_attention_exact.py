"""Attention of integer networks: ITA's own where it is the same bit for bit, untouched elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from ita_attention_models import Layer, Shape, context, random_input
from match_core import Model
from match_core.contract.passes import Phase
from match_core.load.load import load_model
from match_core.passes.clean_up import CLEAN_UP
from match_core.passes.order import order_passes
from match_ita.passes.attention import ATTENTION, SOFTMAX
from match_verify.reference import ReferenceRunner

from tests.all_passes import core_passes

_QUANTLIB = Path("/work/shared/data/quantlib")


class IntegerLayer(Layer):
    """Requantisation in ITA's numbers without zero points, the softmax of QuantLib."""

    def __init__(self, shape: Shape, group: int = 16, qk_add: int = -20) -> None:
        super().__init__(shape)
        self.group, self.qk_add = group, qk_add

    def requant(self, acc: gs.Tensor, slope: object, offset: object, name: str) -> gs.Variable:
        """8-bit multiplier; the logits have an offset."""
        shift = 14
        add = self.qk_add if name == "qk" else 0
        multiplier = max(1, round(float(np.mean(slope)) * (1 << shift)))
        numbers = {"M": multiplier, "B": (1 << shift - 1) + add * (1 << shift), "D": 1 << shift, "lo": -128, "hi": 127}
        given = [self.editor.constant(f"{name}_{key}", np.array(value, np.int64)) for key, value in numbers.items()]
        return self.node("match.arith::RequantI8", [acc, *given], tuple(acc.shape), name=f"{name}_requant")

    def softmax(self, logits: gs.Tensor) -> gs.Variable:
        """ShiftSoftmaxU8."""
        numerator = self.editor.constant("numerator", np.array(127 * 256, np.int64))
        op, given = "match.arith::ShiftSoftmaxU8", [logits, numerator]
        return self.node(op, given, tuple(logits.shape), np.uint8, name="softmax", group=self.group)


def _layer(rows: int = 64, size: int = 64, group: int = 16, qk_add: int = -20) -> tuple[Model, Shape]:
    shape = Shape(rows=rows, width=128, heads=2, size=size, zeros=(0, 0, 0), unsigned=True)
    return IntegerLayer(shape, group, qk_add).build(), shape


def _results(model: Model, shape: Shape) -> np.ndarray:
    (y,) = ReferenceRunner(model).run(random_input(shape)).values()
    return np.asarray(y)


@pytest.mark.parametrize(("rows", "size"), [(64, 64), (128, 32), (192, 192)])
def test_the_same_arithmetic_is_itas(rows: int, size: int) -> None:
    model, shape = _layer(rows, size)
    target = context("quantlib")
    after = CLEAN_UP.run(ATTENTION.run(SOFTMAX.run(model, target), target), target)
    assert [node.op for node in after.graph.nodes].count("Attention") == 1
    assert not after.notes
    expected = _results(model, shape)
    assert len(np.unique(expected)) > 20
    np.testing.assert_array_equal(_results(after, shape), expected)


@pytest.mark.parametrize(
    ("model", "preset", "reason"),
    [
        (_layer()[0], "rtl", "the target's has 0, 65280 and 16"),
        (_layer()[0], "islped", "the target's has 5, 65280 and 16"),
        (_layer(group=64)[0], "quantlib", "64 columns at once"),
        (_layer(qk_add=-1070)[0], "quantlib", "add=-1070"),
        (_layer(rows=48)[0], "quantlib", "48 keys of 64 columns: ITA needs a multiple of 64"),
    ],
    ids=["shift", "numerator", "group", "offset", "keys"],
)
def test_other_arithmetic_is_left_alone(model: Model, preset: str, reason: str) -> None:
    target = context(preset)
    after = ATTENTION.run(SOFTMAX.run(model, target), target)
    assert [node.op for node in after.graph.nodes] == [node.op for node in model.graph.nodes]
    (note,) = after.notes
    assert reason in note


@pytest.mark.skipif(not _QUANTLIB.is_dir(), reason="networks of QuantLib are not on this machine")
@pytest.mark.parametrize("name", ["Models/CCT/Int/ICCT_ITA", "Kernels/Integer/Attention", "Models/EEGFormer"])
def test_networks_of_quantlib_keep_their_values(name: str) -> None:
    target = context("quantlib")
    model = load_model(_QUANTLIB / name / "network.onnx")
    for item in order_passes([*core_passes(target.soc, target.units), SOFTMAX, ATTENTION]):
        if item.phase <= Phase.TARGET:
            model = item.run(model, target)
    with np.load(_QUANTLIB / name / "inputs.npz") as stored:
        arrays = [stored[key] for key in stored.files]
    with np.load(_QUANTLIB / name / "outputs.npz") as stored:
        expected = [stored[key] for key in stored.files]
    feeds = {
        tensor.name: array.astype(tensor.dtype).reshape(tensor.shape)
        for tensor, array in zip(model.graph.inputs, arrays, strict=True)
    }
    for got, values in zip(ReferenceRunner(model).run(feeds).values(), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(got).astype(np.int64).reshape(-1), values.astype(np.int64).reshape(-1))
