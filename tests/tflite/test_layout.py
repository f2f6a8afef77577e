"""Where axes are turned, and what nodes and tensors are called."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
from match_core.load.load import load_model
from match_tflite.convert import tflite_to_onnx
from match_tflite.plugin import match_load

from tests.tflite_files.builder import CONV, POOL, SAME, VALID, TfliteBuilder, quantised_network, saved


def converted(content: bytes) -> onnx.ModelProto:
    proto = tflite_to_onnx(content, "net.tflite")
    onnx.checker.check_model(proto)
    return proto


def operators(proto: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


def test_images_are_turned_where_they_enter_and_leave() -> None:
    assert operators(converted(quantised_network())).count("Transpose") == 2


def test_one_channel_or_one_pixel_is_not_turned() -> None:
    b = TfliteBuilder()
    x, w = b.tensor("x", (1, 4, 4, 1)), b.constant("w", np.ones((6, 4, 4, 1), np.float32))
    y, z = b.tensor("y", (1, 1, 1, 6)), b.tensor("z", (1, 6))
    b.operator("CONV_2D", [x, w], [y], ("Conv2DOptions", {**CONV, "Padding": VALID}))
    b.operator("RESHAPE", [y], [z])
    assert "Transpose" not in operators(converted(b.content([x], [z])))


def test_a_chain_stays_as_planes() -> None:
    """Element-wise operators, joining, cutting and padding work on planes, and a transposition to planes is none."""
    b = TfliteBuilder()
    shape = (1, 6, 6, 2)
    x, w = b.tensor("x", shape), b.constant("w", np.ones((2, 1, 1, 2), np.float32))
    first, second, joined = b.tensor("first", shape), b.tensor("second", shape), b.tensor("joined", (1, 6, 6, 4))
    parts = [b.tensor("left", shape), b.tensor("right", shape)]
    total, planes = b.tensor("total", shape), b.tensor("planes", (1, 2, 6, 6))
    b.operator("CONV_2D", [x, w], [first], ("Conv2DOptions", {**CONV, "Padding": SAME}))
    b.operator("LOGISTIC", [first], [second])
    b.operator("CONCATENATION", [first, second], [joined], ("ConcatenationOptions", {"Axis": 3}))
    b.operator("SPLIT", [b.constant("axis", np.array(3, np.int32)), joined], parts, ("SplitOptions", {"NumSplits": 2}))
    bias = b.constant("bias", np.ones(2, np.float32))
    b.operator("ADD", [parts[1], bias], [total], ("AddOptions", {"FusedActivationFunction": 0}))
    b.operator("TRANSPOSE", [total, b.constant("order", np.array([0, 3, 1, 2], np.int32))], [planes])
    assert operators(converted(b.content([x], [planes]))).count("Transpose") == 1


def test_names_are_the_files(tmp_path: Path) -> None:
    """Inputs and outputs keep names and shapes; nodes tell the operator, by its first result, as their source."""
    content = quantised_network()
    model = load_model(saved(tmp_path / "Net.tflite", content), front_ends=match_load())
    assert (model.name, model.source) == ("Net", "Net.tflite")
    assert model.source_sha256 == hashlib.sha256(content).hexdigest()
    assert [(t.name, list(t.shape)) for t in model.graph.inputs] == [("image", [1, 8, 6, 3])]
    assert [(t.name, list(t.shape)) for t in model.graph.outputs] == [("probabilities", [1, 10])]
    sources = {source for names in model.provenance.values() for source in names}
    made = {"stem/Relu;stem/Conv2D", "depthwise/Relu6", "add", "pad", "down", "pool", "flat", "logits", "probabilities"}
    assert sources == made


def test_a_file_is_told_by_its_bytes(tmp_path: Path) -> None:
    path = saved(tmp_path / "net.onnx", quantised_network())
    assert load_model(path, front_ends=match_load()).graph.outputs[0].name == "probabilities"


def test_names_that_are_missing_or_used_twice() -> None:
    b = TfliteBuilder()
    x, y, z = b.tensor("", (1, 4)), b.tensor("a", (1, 4)), b.tensor("a", (1, 4))
    b.operator("RELU", [x], [y])
    b.operator("ABS", [y], [z])
    proto = converted(b.content([x], [z]))
    assert [value.name for value in (*proto.graph.input, *proto.graph.output)] == ["tensor_0", "a_2"]
    assert len({node.name for node in proto.graph.node}) == 2


def test_outputs_that_are_inputs_constants_or_given_twice() -> None:
    b = TfliteBuilder()
    x, y, c = b.tensor("x", (1, 4)), b.tensor("y", (1, 4)), b.constant("c", np.ones((1, 2), np.float32))
    b.operator("RELU", [x], [y])
    proto = converted(b.content([x], [x, c, y, y]))
    names = [value.name for value in proto.graph.output]
    assert len(set(names)) == 4 and [name[0] for name in names] == ["x", "c", "y", "y"]


def test_planes_leave_as_images() -> None:
    b = TfliteBuilder()
    x, y = b.tensor("x", (1, 4, 6, 3)), b.tensor("y", (1, 2, 3, 3))
    b.operator("MAX_POOL_2D", [x], [y], ("Pool2DOptions", {**POOL, "Padding": VALID}))
    proto = converted(b.content([x], [y]))
    (output,) = proto.graph.output
    assert output.name == "y" and [d.dim_value for d in output.type.tensor_type.shape.dim] == [1, 2, 3, 3]
    assert operators(proto) == ["Transpose", "MaxPool", "Transpose"]
