from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.errors import ToolError
from match_core.contract.model import Model
from match_core.ir.editor import Editor, sort_nodes
from match_verify.reference import ReferenceRunner


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


@pytest.mark.parametrize("kind", ["BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2FNUZ", "FLOAT4E2M1", "INT4", "UINT4"])
def test_reference_runs_types_that_onnxruntime_has_no_arrays_of(kind):
    """Values go in and come out in the model's own types; what is computed is rounded after every operator."""
    element = getattr(onnx.TensorProto, kind)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(element)
    ends = [onnx.helper.make_tensor_value_info(name, element, [2, 2]) for name in "xyz"]
    real = "FLOAT" in kind
    second = (
        onnx.helper.make_node("Add", ["x", "y"], ["z"]) if real else onnx.helper.make_node("Identity", ["x"], ["z"])
    )
    nodes = [onnx.helper.make_node("Transpose", ["x"], ["y"]), second]
    graph = onnx.helper.make_graph(nodes, "narrow", ends[:1], ends[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23)], ir_version=11)
    x = np.array([[1, 1.5], [3, 0.5]] if real else [[1, 7], [-3 if kind == "INT4" else 12, 2]]).astype(dtype)
    found = ReferenceRunner(model).run({"x": x})
    assert found["y"].dtype == found["z"].dtype == dtype
    assert found["y"].astype(np.float32).tolist() == x.T.astype(np.float32).tolist()
    wanted = (x.astype(np.float32) + x.T.astype(np.float32)).astype(dtype) if real else x
    assert found["z"].astype(np.float32).tolist() == wanted.astype(np.float32).tolist()


def test_the_standards_evaluator_runs_what_onnxruntime_has_no_kernel_of():
    step = onnx.helper.make_tensor_value_info("t", onnx.TensorProto.INT64, [])
    rate = onnx.helper.make_tensor_value_info("r", onnx.TensorProto.FLOAT, [])
    tensors = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3]) for name in "xgh"]
    results = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3]) for name in "yz"]
    domain = "ai.onnx.preview.training"
    node = onnx.helper.make_node("Adagrad", list("rtxgh"), list("yz"), domain=domain)
    graph = onnx.helper.make_graph([node], "training", [rate, step, *tensors], results)
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid(domain, 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    ones = np.ones(3, np.float32)
    feed = {"r": np.float32(0.5), "t": np.int64(1), "x": ones, "g": ones, "h": 3 * ones}
    found = ReferenceRunner(model).run({name: np.asarray(value) for name, value in feed.items()})
    assert found["z"].tolist() == [4, 4, 4]
    np.testing.assert_allclose(found["y"], 0.75, rtol=1e-6)


def test_no_image_and_no_library_for_images_are_coded_errors():
    ends = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.UINT8, s) for n, s in (("x", [9]), ("y", [2, 2, 3]))]
    graph = onnx.helper.make_graph([onnx.helper.make_node("ImageDecoder", ["x"], ["y"])], "image", ends[:1], ends[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10)
    with pytest.raises(ToolError) as caught:
        ReferenceRunner(model).run({"x": np.arange(9, dtype=np.uint8)})
    assert caught.value.code == "MATCH-R002"
