"""Results whose size depends on data, but has a largest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import model_from_proto
from match_verify.room import with_room
from onnx import TensorProto, helper, numpy_helper


def _model(limit: int | None, rows: int | str = "found", behind: bool = False) -> onnx.ModelProto:
    """Suppression among 12 boxes of 2 classes; ``limit`` None: a graph input gives it."""
    inputs = [
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 12, 4]),
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 2, 12]),
    ]
    constants = [numpy_helper.from_array(np.array([0.5], np.float32), "overlap")]
    if limit is None:
        inputs.append(helper.make_tensor_value_info("limit", TensorProto.INT64, [1]))
    else:
        constants.append(numpy_helper.from_array(np.array([limit], np.int64), "limit"))
    nodes = [helper.make_node("NonMaxSuppression", ["boxes", "scores", "limit", "overlap"], ["picked"], "nms")]
    if behind:
        nodes.append(helper.make_node("Cast", ["picked"], ["y"], "cast", to=TensorProto.INT32))
    end = helper.make_tensor_value_info("y", TensorProto.INT32, ["n", 3]) if behind else None
    end = end or helper.make_tensor_value_info("picked", TensorProto.INT64, [rows, 3])
    graph = helper.make_graph(nodes, "nms", inputs, [end], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(("limit", "rows"), [(3, 6), (12, 24), (50, 24)])
def test_suppression_has_room_for_all_that_its_limit_allows(limit: int, rows: int) -> None:
    model = model_from_proto(_model(limit), "nms", "nms.onnx")
    (output,) = model.graph.outputs
    assert list(output.shape) == [rows, 3]
    assert model.notes == (f"NonMaxSuppression nms has room for {rows} boxes; unused rows hold -1",)


def test_operators_behind_it_have_that_room_too() -> None:
    model = model_from_proto(_model(3, behind=True), "nms", "nms.onnx")
    assert list(model.graph.outputs[0].shape) == [6, 3]


def test_a_size_that_the_model_states_stays() -> None:
    model = model_from_proto(_model(3, rows=4), "nms", "nms.onnx")
    assert list(model.graph.outputs[0].shape) == [4, 3]


def test_a_limit_that_data_give_is_none() -> None:
    with pytest.raises(ModelError) as caught:
        model_from_proto(_model(None), "nms", "nms.onnx")
    assert caught.value.code == "MATCH-F014"


def test_results_are_filled_up_to_the_room() -> None:
    model = model_from_proto(_model(3), "nms", "nms.onnx")
    filled = with_room({"picked": np.ones((2, 3), np.int64)}, model.graph)["picked"]
    assert filled.shape == (6, 3)
    assert (filled[:2] == 1).all() and (filled[2:] == -1).all()
    whole = np.ones((6, 3), np.int64)
    assert with_room({"picked": whole}, model.graph)["picked"] is whole
    more = np.ones((7, 3), np.int64)
    assert with_room({"picked": more}, model.graph)["picked"] is more


def test_programs_hold_what_the_reference_finds(tmp_path: Path) -> None:
    """Few boxes overlap here, many there: free rows come and go."""
    from match_core.plugin.facade import Plugins
    from match_verify.verify import VerifyRequest, verify_model

    onnx.save(_model(5), str(tmp_path / "nms.onnx"))
    random = np.random.default_rng(3)
    corners = random.random((4, 1, 12, 2)).astype(np.float32)
    sizes = np.array([0.02, 0.5, 3.0, 30.0], np.float32)[:, None, None, None]
    boxes = np.concatenate([corners, corners + sizes], axis=3)
    scores = random.random((4, 1, 2, 12)).astype(np.float32)
    request = VerifyRequest(model=tmp_path / "nms.onnx", target="host", arrays={"boxes": boxes, "scores": scores})
    result = verify_model(request, Plugins.load())
    assert result.ok and result.bit_exact
    found = result.run.outputs["picked"]
    assert len({int((sample[:, 0] >= 0).sum()) for sample in found}) > 1
