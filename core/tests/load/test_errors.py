"""Every fault of a model file gives its own code, says where, and helps."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from match_core.contract.errors import MatchError, ModelError, UsageError
from match_core.load.load import load_model
from onnx import TensorProto, helper

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'


def refused(path: Path, code: str, kind: type[MatchError] = ModelError) -> MatchError:
    with pytest.raises(kind) as caught:
        load_model(path)
    error = caught.value
    assert error.code == code
    assert error.what and error.where and error.why
    assert "Traceback" not in str(error)
    return error


def test_missing_file(tmp_path):
    error = refused(tmp_path / "no.onnx", "MATCH-F001", UsageError)
    assert "no such file" in error.why
    assert error.exit_code == 2


def test_a_directory_is_no_model(tmp_path):
    assert "directory" in refused(tmp_path, "MATCH-F001", UsageError).why


@pytest.mark.parametrize("content", [b"", b"hello", b"\x08\x08", b"PK\x03\x04" + bytes(100), bytes(1000)])
def test_not_onnx(tmp_path, content):
    path = tmp_path / "x.onnx"
    path.write_bytes(content)
    assert str(len(content)) in refused(path, "MATCH-F002").why


def test_truncated_model(saved):
    path = saved(f"{HEAD} g (float[1,4] x) => (float[1,4] y) {{ a = Relu(x) y = Neg(a) }}")
    path.write_bytes(path.read_bytes()[:-7])
    refused(path, "MATCH-F002")


def test_invalid_graph(saved):
    error = refused(saved(f"{HEAD} g (float[1,4] x) => (float[1,4] y) {{ y = Relu(nowhere) }}"), "MATCH-F003")
    assert "nowhere" in error.why


@pytest.mark.parametrize("version", [29, 1000])
def test_opset_out_of_range(tmp_path, version):
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8).SerializeToString()
    )
    assert f"opset {version}" in refused(path, "MATCH-F004").why


def test_contradicting_shapes(saved):
    text = f"{HEAD} g (float[1,4] x, float[1,5] z) => (float[1,4] y) {{ [bad] y = Add(x, z) }}"
    assert "bad" in refused(saved(text), "MATCH-F006").why


def test_control_flow(saved):
    text = f"""{HEAD} g (float[1] x, bool c) => (float[n] y) {{
        [choice] y = If(c) <then_branch = t () => (float[1] a) {{ a = Constant <value = float[1] {{1.0}}> () }},
                   else_branch = e () => (float[2] b) {{ b = Constant <value = float[2] {{2.0, 3.0}}> () }}> }}"""
    error = refused(saved(text), "MATCH-F007")
    assert "'choice'" in error.where
    assert "[1] and [2]" in error.why


def test_strings(saved):
    refused(saved(f"{HEAD} g (string[1] x) => (string[1] y) {{ y = Identity(x) }}"), "MATCH-F008")


def test_sparse_constants(tmp_path):
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [0])
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
        sparse_initializer=[helper.make_sparse_tensor(values, indices, [4])],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    refused(path, "MATCH-F008")


@pytest.mark.parametrize(
    ("domains", "call", "name"),
    [
        ('"" : 17, "acme" : 1', "acme.Magic(x)", "acme::Magic"),
        ('"" : 17, "com.microsoft" : 1', "com.microsoft.Attention(x)", "com.microsoft::Attention"),
    ],
)
def test_unknown_operators(saved, domains, call, name):
    text = f"<ir_version: 8, opset_import: [{domains}]> g (float[1,4] x) => (float[1,4] y) {{ [odd] y = {call} }}"
    error = refused(saved(text), "MATCH-F009")
    assert name in error.what
    assert "'odd'" in error.where


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("RandomUniformLike <seed = 1.0> (x)", "random"),
        ("Bernoulli (x)", "random"),
        ("RandomNormal <shape = [1, 4]> ()", "random"),
    ],
)
def test_operators_that_no_program_holds(saved, call, told):
    error = refused(saved(f"{HEAD} g (float[1,4] x) => (float[1,4] y) {{ [odd] y = {call} }}"), "MATCH-F019")
    assert told in error.what
    assert "'odd'" in error.where


def test_dynamic_inputs_name_their_sizes(saved):
    text = f"{HEAD} g (float[N, 3, height, 32] image) => (float[N, 3, height, 32] y) {{ y = Relu(image) }}"
    error = refused(saved(text), "MATCH-F013")
    assert "'image'" in error.where
    assert "N, height not fixed" in error.why
    assert error.help[0] == "fix the sizes: --dim N=1 --dim height=N"


def test_sizes_that_depend_on_data(saved):
    error = refused(saved(f"{HEAD} g (float[4] x) => (int64[1,n] y) {{ [where] y = NonZero(x) }}"), "MATCH-F014")
    assert "'where'" in error.where


def test_batches(saved):
    pool = "MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)"
    text = f"{HEAD} g (float[65,3,8,8] x) => (float[65,3,4,4] y) {{ [pool] y = {pool} }}"
    error = refused(saved(text), "MATCH-F015")
    assert "batch size is 65" in error.why


def test_messages_hold_no_control_characters_of_names(tmp_path):
    """Names are shown with repr: a line break in a name cannot forge a line of the message."""
    node = helper.make_node("Magic", ["x"], ["y"], name="a\nMATCH-F999: forged", domain="acme")
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.ModelProto.SerializeToString(helper.make_model(graph, opset_imports=opsets, ir_version=8)))
    assert not any(line.startswith("MATCH-F999") for line in str(refused(path, "MATCH-F009")).splitlines())


@pytest.mark.parametrize(
    ("operator", "opset", "why", "advice"),
    [
        ("ConvV2", 13, "no opset of ONNX's default domain has such an operator", "did you mean Conv?"),
        ("GridSample", 13, "opset 13 has no such operator; it appears in opset 16", "export with opset 16"),
    ],
)
def test_an_operator_that_the_opset_lacks(operator: str, opset: int, why: str, advice: str, tmp_path: Path) -> None:
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node(operator, ["x"], ["y"], "odd")], "g", ends[:1], ends[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(tmp_path / "odd.onnx"))
    error = refused(tmp_path / "odd.onnx", "MATCH-F009")
    assert (error.where, error.why) == (f"odd.onnx, node 'odd' ({operator})", why)
    assert error.help[0] == advice


def test_names_of_a_body_that_is_not_in_the_file_stay_inside(tmp_path: Path) -> None:
    """The standard's body of DynamicQuantizeLinear has nodes of its own."""
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 4])
    ends = (("q", onnx.TensorProto.UINT8, [1, 4]), ("s", onnx.TensorProto.FLOAT, []), ("z", onnx.TensorProto.UINT8, []))
    node = onnx.helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "ranges")
    outputs = [onnx.helper.make_tensor_value_info(*end) for end in ends]
    graph = onnx.helper.make_graph([node], "g", [x], outputs)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(tmp_path / "dynamic.onnx"))
    loaded = load_model(tmp_path / "dynamic.onnx")
    assert len(loaded.graph.nodes) > 1
    assert set(loaded.provenance.values()) == {("ranges",)}
