from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.errors import ToolError
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.model import Model
from match_core.ir.reference import ReferenceRunner


def chain(*ops: str) -> Model:
    """x -> ops -> y, float[1, 4]; nodes n0, n1, ... from sources s0, s1, ..."""
    tensors = [gs.Variable(f"t{i}", dtype=np.float32, shape=[1, 4]) for i in range(len(ops) + 1)]
    tensors[0].name, tensors[-1].name = "x", "y"
    nodes = [gs.Node(op, f"n{i}", {}, [tensors[i]], [tensors[i + 1]]) for i, op in enumerate(ops)]
    graph = gs.Graph(nodes, [tensors[0]], [tensors[-1]], opset=21)
    return Model("chain", graph, provenance={f"n{i}": (f"s{i}",) for i in range(len(ops))})


def run(model: Model):
    x = np.array([[-2.0, -0.5, 0.5, 3.0]], np.float32)
    return ReferenceRunner(model).run({"x": x})


def test_replacing_keeps_outputs_names_and_provenance():
    model = chain("Relu", "Neg")
    editor = Editor(model)
    relu, neg = editor.graph.nodes
    new = editor.node("Neg", [relu.outputs[0]], np.float32, (1, 4), name="n1", origin=editor.origin(relu, neg))
    editor.replace(neg.outputs[0], new)
    result = editor.finish()
    assert [tensor.name for tensor in result.graph.outputs] == ["y"]
    assert [node.name for node in result.graph.nodes] == ["n0", "n1_2"]
    assert result.provenance == {"n0": ("s0",), "n1_2": ("s0", "s1")}
    assert np.array_equal(run(result)["y"], run(model)["y"])
    assert [node.name for node in model.graph.nodes] == ["n0", "n1"], "the argument is unchanged"


def test_an_output_that_would_be_an_input_gets_a_copy():
    editor = Editor(chain("Relu"))
    (relu,) = editor.graph.nodes
    editor.replace(relu.outputs[0], editor.graph.inputs[0])
    result = editor.finish()
    assert [node.op for node in result.graph.nodes] == ["Identity"]
    assert run(result)["y"].tolist() == [[-2.0, -0.5, 0.5, 3.0]]


def test_names_are_unique_and_deterministic():
    for _ in range(2):
        editor = Editor(chain("Relu"))
        names = [editor.constant("c", np.zeros(1)).name for _ in range(3)]
        assert names == ["c", "c_2", "c_3"]
        assert editor.variable("x", np.float32, (1,)).name == "x_2"


def test_sorting_is_stable_and_finds_cycles():
    model = chain("Relu", "Neg", "Abs")
    model.graph.nodes.reverse()
    sort_nodes(model.graph)
    assert [node.name for node in model.graph.nodes] == ["n0", "n1", "n2"]
    first, last = model.graph.nodes[0], model.graph.nodes[2]
    first.inputs[0] = last.outputs[0]
    with pytest.raises(ValueError, match="cycle"):
        sort_nodes(model.graph)


def test_dead_nodes_go_and_inputs_stay():
    editor = Editor(chain("Relu"))
    editor.node("Neg", [editor.graph.inputs[0]], np.float32, (1, 4), name="dead", origin=())
    result = editor.finish()
    assert [node.name for node in result.graph.nodes] == ["n0"]
    assert set(result.provenance) == {"n0"}


def test_reference_fetches_inner_tensors():
    model = chain("Relu", "Neg")
    got = ReferenceRunner(model, ["t1"]).run({"x": np.array([[1, -1, 2, -2]], np.float32)})
    assert got["t1"].tolist() == [[1, 0, 2, 0]]
    assert set(got) == {"y", "t1"}


def test_reference_refuses_what_onnxruntime_refuses():
    model = chain("NoSuchOperator")
    with pytest.raises(ToolError) as caught:
        ReferenceRunner(model)
    assert caught.value.code == "MATCH-R002"


def test_reference_refuses_types_that_it_has_no_arrays_of():
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT8E4M3FN, [4]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "narrow", ends[:1], ends[1:])
    with pytest.raises(ToolError) as caught:
        ReferenceRunner(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10))
    assert caught.value.code == "MATCH-R003"
    assert "'x'" in caught.value.why
