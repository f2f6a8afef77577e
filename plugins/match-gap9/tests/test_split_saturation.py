"""The pass that moves inner saturation bounds into a Clip: same bits before and after."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.model import OPSET, Model
from match_core.contract.passes import PassContext
from match_core.ir.editor import Editor
from match_gap9.hardware import hardware
from match_gap9.split_saturation import run
from match_verify.reference import ReferenceRunner


def requant_model(low: int, high: int) -> Model:
    """int32 [1, 4, 3, 3] to uint8 with these bounds."""
    x = gs.Variable("x", np.dtype(np.int32), [1, 4, 3, 3])
    graph = gs.Graph(
        nodes=[], inputs=[x], outputs=[], opset=OPSET, import_domains=[onnx.helper.make_opsetid("", OPSET)]
    )
    editor = Editor(Model("m", graph))
    values = {"multiplier": 3, "addend": 40, "divisor": 16, "lo": low, "hi": high}
    constants = [editor.constant(name, np.array(value, np.int64)) for name, value in values.items()]
    inputs = [editor.graph.inputs[0], *constants]
    result = editor.node("match.arith::RequantU8", inputs, np.uint8, [1, 4, 3, 3], name="requant", origin=("conv",))
    editor.graph.outputs = [result]
    return editor.finish()


@pytest.mark.parametrize(("low", "high"), [(128, 255), (0, 200), (17, 30)])
def test_results_stay_equal_and_bounds_become_whole(low: int, high: int) -> None:
    soc_units = hardware()
    before = requant_model(low, high)
    after = run(before, PassContext(soc_units.socs[0], soc_units.units))
    x = np.random.default_rng(0).integers(-3000, 3000, (1, 4, 3, 3)).astype(np.int32)
    (expected,), (got,) = (ReferenceRunner(model).run({"x": x}).values() for model in (before, after))
    np.testing.assert_array_equal(got, expected)
    assert [node.op for node in after.graph.nodes] == ["RequantU8", "Clip"]
    assert [int(tensor.values) for tensor in after.graph.nodes[0].inputs[-2:]] == [0, 255]
    assert after.origin(after.graph.nodes) == ("conv",)


def test_whole_bounds_stay_as_they_are() -> None:
    soc_units = hardware()
    after = run(requant_model(0, 255), PassContext(soc_units.socs[0], soc_units.units))
    assert [node.op for node in after.graph.nodes] == ["RequantU8"]
