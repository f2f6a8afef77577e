"""Attributes outside of what the standard allows are refused, in the graph, in subgraphs and in local functions; so are
names that are defined twice, circles, tensors whose data do not fit, and external data that are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import MatchError
from match_core.load.load import load_model
from match_core.load.read import read_proto
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from tests.errors import models

OPSET = 24
KINDS = onnx.defs.OpSchema.AttrType
#: Attributes that have no values outside of their range, by operator or for all; or that `match` refuses as a whole.
FREE = {
    "seed",  # any number
    *("ignore_index", "k", "start", "end", "starts", "ends", "value_int", "value_ints", "high", "low", "mean"),
    *("value", "value_float", "value_floats", "value_string", "value_strings", "extrapolation_value", "max", "min"),
    *("pads", "paddings", "axis", "axes", "perm", "momentum", "shape", "ngram_indexes", "pool_int64s", "pool_strings"),
    *("consumed_inputs", "equation", "activations", "type", "left_window_size", "right_window_size", "sample_size"),
    *("dtype", "to", "output_dtype", "output_datatype", "precision", "softmax_precision", "stash_type"),  # types: below
    # of control flow, which is resolved, and of operators that are refused by name
    *("body", "then_branch", "else_branch", "num_scan_inputs", "directions", "scan_input_axes", "scan_output_axes"),
    *("scan_input_directions", "scan_output_directions", "chunk_size", "update_rule", "activation", "pixel_format"),
    *("locale", "stopwords", "case_change_action", "is_case_sensitive", "delimiter", "maxsplit", "pattern"),
    *("sparse_value",),
}


def _wrong(kind: object) -> Iterator[object]:
    """Values that no attribute of that type with a range has."""
    if kind in (KINDS.INT, KINDS.INTS):
        numbers = (-(1 << 63), (1 << 63) - 1)
        yield from numbers if kind == KINDS.INT else ([number] for number in numbers)
    if kind in (KINDS.FLOAT, KINDS.FLOATS):
        numbers_ = (float("nan"), float("inf"))
        yield from numbers_ if kind == KINDS.FLOAT else ([number] for number in numbers_)
    if kind == KINDS.STRING:
        yield from ("sideways", "", b"\xff\xfe")


def _bounded() -> Iterator[tuple[str, str, object]]:
    """Every operator of the opset with each of its attributes that has a range."""
    names = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    for operator in sorted(name for name in names if onnx.defs.has(name, max_inclusive_version=OPSET)):
        schema = onnx.defs.get_schema(operator, OPSET)
        for name, attribute in schema.attributes.items():
            if name not in FREE and not schema.deprecated:
                yield operator, name, attribute.type


def _with_node(node: onnx.NodeProto, place: str) -> onnx.ModelProto:
    """The node in the graph, in a branch, or in a local function; its inputs do not matter."""
    node.input.append("x")
    node.output.append("t")
    inputs, outputs = ([helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 8))] for n in "xy")
    nodes = [node, helper.make_node("Relu", ["x"], ["y"])]
    functions = []
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("own", 1)]
    if place == "a branch":
        truth = numpy_helper.from_array(np.array(True), "truth")
        branch = helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 8))])
        nodes = [
            helper.make_node("Constant", [], ["truth"], value=truth),
            helper.make_node("If", ["truth"], ["y"], then_branch=branch, else_branch=branch),
        ]
    elif place == "a function":
        functions = [helper.make_function("own", "f", ["x"], ["y"], nodes, opsets)]
        nodes = [helper.make_node("f", ["x"], ["y"], domain="own")]
    graph = helper.make_graph(nodes, "net", inputs, outputs)
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)


def _refusal(model: onnx.ModelProto, folder: Path, load: Callable[..., object] = read_proto) -> MatchError | None:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    try:
        load(path)
    except MatchError as error:
        assert error.what and error.where and error.why and error.help
        str(error).encode()
        return error
    return None


@pytest.mark.parametrize("place", ["the graph", "a branch", "a function"])
def test_attributes_outside_of_their_range(place: str, tmp_path: Path) -> None:
    """All of the standard's operators."""
    accepted, count = [], 0
    for operator, name, kind in _bounded():
        for value in _wrong(kind):
            node = onnx.NodeProto(op_type=operator, name="odd")
            node.attribute.append(helper.make_attribute(name, value))
            error = _refusal(_with_node(node, place), tmp_path)
            count += 1
            if error is None or error.code not in ("MATCH-F002", "MATCH-F003") or repr(name) not in error.where:
                accepted.append(f"{operator}.{name} = {value!r}: {error}")
    assert accepted == [] and count > 400


VALUES: dict[str, tuple[str, str, object]] = {
    "a flag of 5": ("ReduceSum", "keepdims", 5),
    "a flag of 2": ("Mod", "fmod", 2),
    "a layout below 0": ("LSTM", "layout", -3),
    "a group of 0": ("Conv", "group", 0),
    "a stride of 0": ("Conv", "strides", [1, 0]),
    "padding below 0": ("MaxPool", "pads", [0, -1]),
    "a mode of another operator": ("Pad", "mode", "cubic"),
    "no axis that any tensor has": ("Softmax", "axis", 1000),
    "an order of 0": ("LpPool", "p", 0),
    "an interpolation that is none": ("Resize", "mode", "sharp"),
    "an unknown direction": ("GRU", "direction", "up"),
    "a block below 0": ("DequantizeLinear", "block_size", -1),
}


@pytest.mark.parametrize("place", ["the graph", "a branch", "a function"])
@pytest.mark.parametrize("name", VALUES)
def test_one_value_outside(name: str, place: str, tmp_path: Path) -> None:
    operator, attribute, value = VALUES[name]
    error = _refusal(_with_node(helper.make_node(operator, [], [], "odd", **{attribute: value}), place), tmp_path)
    assert error is not None and error.code == "MATCH-F003" and repr(attribute) in error.where


TYPES: dict[str, AttributeProto] = {
    "text for a number": helper.make_attribute("axis", "one"),
    "numbers for a number": helper.make_attribute("axis", [1, 2]),
    "a float for a number": helper.make_attribute("axis", 1.5),
    "no type": AttributeProto(name="axis", i=1),
    "two types": AttributeProto(name="axis", i=1, f=2.0, type=AttributeProto.FLOAT),
    "an unknown name": helper.make_attribute("axle", 1),
    "a graph": helper.make_attribute("axis", helper.make_graph([], "g", [], [])),
}


@pytest.mark.parametrize("place", ["the graph", "a branch", "a function"])
@pytest.mark.parametrize("name", TYPES)
def test_attributes_of_another_type(name: str, place: str, tmp_path: Path) -> None:
    node = onnx.NodeProto(op_type="Softmax", name="odd")
    node.attribute.append(TYPES[name])
    error = _refusal(_with_node(node, place), tmp_path, load_model)
    assert error is not None and error.code in ("MATCH-F002", "MATCH-F003")


def _named(change: Callable[[onnx.ModelProto], None]) -> Callable[[Path], onnx.ModelProto]:
    def make(folder: Path) -> onnx.ModelProto:
        made = onnx.load(str(models.chain(folder / "chain.onnx", "Relu", "Abs", "Neg")))
        change(made)
        return made

    return make


def _constant(model: onnx.ModelProto, **fields: object) -> TensorProto:
    model.graph.initializer.append(numpy_helper.from_array(np.ones(8, np.float32), "w"))
    tensor = model.graph.initializer[0]
    for name, value in fields.items():
        setattr(tensor, name, value)
    return tensor


def _output_twice(model: onnx.ModelProto) -> None:
    model.graph.node[2].output[0] = "t0"
    model.graph.node[2].output.append("y")


def _external(model: onnx.ModelProto, **entries: str) -> None:
    tensor = _constant(model, data_location=TensorProto.EXTERNAL)
    tensor.ClearField("raw_data")
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def _circle(model: onnx.ModelProto) -> None:
    model.graph.node[0].input[0] = "t1"


def _dims(model: onnx.ModelProto, *dims: int) -> None:
    tensor = _constant(model)
    del tensor.dims[:]
    tensor.dims.extend(dims)


FILES: dict[str, tuple[Callable[[onnx.ModelProto], None], str]] = {
    "two tensors of one name": (_output_twice, "MATCH-F003"),
    "two constants of one name": (lambda m: (_constant(m), _constant(m))[0] and None, "MATCH-F003"),
    "two inputs of one name": (lambda m: m.graph.input.append(m.graph.input[0]), "MATCH-F003"),
    "two outputs of one name": (lambda m: m.graph.output.append(m.graph.output[0]), "MATCH-F003"),
    "a circle": (_circle, "MATCH-F003"),
    "a node that reads itself": (lambda m: m.graph.node[1].input.__setitem__(0, "t1"), "MATCH-F003"),
    "data that are too short": (lambda m: _constant(m, raw_data=b"123") and None, "MATCH-F003"),
    "data that are too long": (lambda m: _constant(m, raw_data=bytes(100)) and None, "MATCH-F003"),
    "an unknown element type": (lambda m: _constant(m, data_type=99) and None, "MATCH-F003"),
    "no element type": (lambda m: _constant(m, data_type=0) and None, "MATCH-F003"),
    "a dimension below 0": (lambda m: _dims(m, -8), "MATCH-F003"),
    "two dimensions below 0": (lambda m: _dims(m, -2, -4), "MATCH-F003"),
    "more elements than indices": (lambda m: _dims(m, 1 << 31, 1), "MATCH-F003"),
    "a product beyond 64 bits": (lambda m: _dims(m, 1 << 40, 1 << 40), "MATCH-F003"),
    "external data in an absolute path": (lambda m: _external(m, location="/etc/passwd"), "MATCH-F010"),
    "external data above": (lambda m: _external(m, location="../secret.bin"), "MATCH-F010"),
    "external data without a name": (lambda m: _external(m, location=""), "MATCH-F010"),
    "external data with a zero byte": (lambda m: _external(m, location="a\0b"), "MATCH-F010"),
    "external data that are a folder": (lambda m: _external(m, location="folder"), "MATCH-F011"),
    "external data with a long name": (lambda m: _external(m, location="x" * 300), "MATCH-F011"),
    "external data behind the file": (lambda m: _external(m, location="chain.onnx", offset="9999999"), "MATCH-F012"),
    "external data beyond 64 bits": (lambda m: _external(m, location="chain.onnx", offset=str(1 << 70)), "MATCH-F012"),
    "a length of external data below 0": (lambda m: _external(m, location="chain.onnx", length="-5"), "MATCH-F012"),
    "an offset that is no number": (lambda m: _external(m, location="chain.onnx", offset="1e3"), "MATCH-F012"),
    "an offset of many digits": (lambda m: _external(m, location="chain.onnx", offset="9" * 5000), "MATCH-F012"),
    "fewer external data than the shape": (lambda m: _external(m, location="chain.onnx", length="4"), "MATCH-F003"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_states(name: str, tmp_path: Path) -> None:
    change, code = FILES[name]
    (tmp_path / "folder").mkdir()
    error = _refusal(_named(change)(tmp_path), tmp_path, load_model)
    assert error is not None and error.code == code, error
