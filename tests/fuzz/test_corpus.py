"""Every kind of defect that mutated models found: a coded error, or a program that stays within its tensors."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import MatchError
from match_core.emit.write import is_ours
from match_core.io import arrays
from match_core.io.arrays import TensorSpec, read_arrays
from match_core.load.load import load_model
from onnx import TensorProto, helper, numpy_helper

from tests.conformance.batch import Failed, run_batch
from tests.conformance.programs import Program, compile_file
from tests.conformance.suite import Array, Sample
from tests.fuzz.__main__ import BATCH
from tests.fuzz.cases import make_case
from tests.fuzz.judge import FAULTS, judge
from tests.fuzz.seeds import MADE, made_seeds

Model = onnx.ModelProto


def _tensor(model: Model, name: str) -> TensorProto:
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def _node(model: Model, name: str) -> onnx.NodeProto:
    return next(node for node in model.graph.node if node.name == name)


def _put(model: Model, name: str, array: object, dtype: str = "float32") -> None:
    _tensor(model, name).CopyFrom(numpy_helper.from_array(np.asarray(array, dtype), name))


def _attribute(model: Model, node: str, name: str, value: object) -> None:
    found = _node(model, node)
    kept = [attribute for attribute in found.attribute if attribute.name != name]
    del found.attribute[:]
    found.attribute.extend([*kept, helper.make_attribute(name, value)])


def _shorten(model: Model) -> None:
    _tensor(model, "w").raw_data = _tensor(model, "w").raw_data[:-3]


def _swap_dims(model: Model) -> None:
    _tensor(model, "w").dims[0] = -4


def _enlarge(model: Model) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[3].dim_value = 1 << 40


def _mangle(model: Model) -> None:
    _node(model, "pool").attribute.append(onnx.AttributeProto(name="auto_pad", s=b"\xff\xfe", type=3))


def _lend_external(model: Model) -> None:
    """The constant of a local function lies in a file of the current directory."""
    tensor = model.functions[0].node[0].attribute[0].t
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret.bin")


def _before_the_file(model: Model) -> None:
    tensor = _tensor(model, "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "model.onnx", "offset": "-1"}.items():
        tensor.external_data.add(key=key, value=value)


def _of(node: str, name: str, value: object) -> Callable[[Model], None]:
    return lambda model: _attribute(model, node, name, value)


def _with(name: str, array: object, dtype: str = "float32") -> Callable[[Model], None]:
    return lambda model: _put(model, name, array, dtype)


#: Seed, what is done to it, and the code of the error.
REFUSED: dict[str, tuple[str, Callable[[Model], None], str]] = {
    "too few bytes": ("convolutions", _shorten, "MATCH-F003"),
    "a dimension below 0": ("convolutions", _swap_dims, "MATCH-F003"),
    "too many elements": ("convolutions", _enlarge, "MATCH-F003"),
    "text that is not UTF-8": ("convolutions", _mangle, "MATCH-F003"),
    "an unknown word": ("convolutions", _of("pool", "auto_pad", "SIDEWAYS"), "MATCH-F003"),
    "no kernel": ("convolutions", _of("conv", "kernel_shape", [0, 3]), "MATCH-F003"),
    "padding below 0": ("convolutions", _of("conv", "pads", [1, 1, -100, 1]), "MATCH-F003"),
    "a flag of 5": ("shapes", _of("mean", "keepdims", 5), "MATCH-F003"),
    "a flag of -3": ("recurrent", _of("lstm", "layout", -3), "MATCH-F003"),
    "an axis that ends the converter": ("attention", _of("norm", "axis", (1 << 63) - 1), "MATCH-F003"),
    "an axis outside of the tensor": ("attention", _of("norm", "axis", 5), "MATCH-F006"),
    "an epsilon that is no number": ("attention", _of("norm", "epsilon", float("nan")), "MATCH-F003"),
    "a scale of 0": ("quantised", _with("ws", [0.01, 0, 0.01, 0.01]), "MATCH-F003"),
    "an infinite scale": ("quantised", _with("os", np.inf), "MATCH-F003"),
    "a scale below 0": ("quantised", _with("s", -0.5), "MATCH-F003"),
    "a scale too few": ("quantised", _with("ws", [0.01, 0.01, 0.01]), "MATCH-F006"),
    "external data of a function": ("functions", _lend_external, "MATCH-F011"),
    "weights of another kernel": ("convolutions", _with("w", np.zeros((4, 2, 8, 3))), "MATCH-F006"),
    "external data before the file": ("convolutions", _before_the_file, "MATCH-F012"),
    "a short bias of a dense layer": ("convolutions", _with("e", [0] * 4), "MATCH-F006"),
    "a short bias of a recurrent layer": ("recurrent", _with("b", np.zeros((1, 7))), "MATCH-F006"),
    "recurrent weights of no direction": ("recurrent", _with("r", np.zeros((0, 12, 3))), "MATCH-F006"),
    "a reshape to another size": ("shapes", _with("starts", [3, 3], "int64"), "MATCH-F006"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_coded_error(name: str, tmp_path: Path) -> None:
    seed, change, code = REFUSED[name]
    model = MADE[seed]()
    change(model)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.bin").write_bytes(bytes(64))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    here = Path.cwd()
    os.chdir(tmp_path / "elsewhere")
    try:
        with pytest.raises(MatchError) as caught:
            load_model(path)
    finally:
        os.chdir(here)
    assert caught.value.code == code, caught.value
    assert caught.value.why and caught.value.help


def test_a_name_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(MADE["shapes"]().SerializeToString().replace(b"gather", b"\x80ather"))
    with pytest.raises(MatchError) as caught:
        load_model(path)
    assert caught.value.code == "MATCH-F002"


def _one(op: str, given: dict[str, Array], out: tuple[int, ...], **attributes: object) -> Model:
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, out)
    node = helper.make_node(op, list(given), ["y"], "node", **attributes)
    graph = helper.make_graph([node], "one", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9)


@pytest.mark.parametrize("extreme", [-(1 << 63), (1 << 63) - 1, -1, 0, 7])
@pytest.mark.parametrize("operator", ["Slice", "Pad", "ReduceSum", "DFT", "Gather", "ReverseSequence"])
def test_numbers_of_inputs_stay_within_their_tensors(operator: str, extreme: int, tmp_path: Path) -> None:
    """Under sanitizers, in blocks of exactly the size that the program asked for."""
    x, one, two = np.ones((4, 6), np.float32), np.array([extreme]), np.array([extreme, extreme])
    given: dict[str, tuple[dict[str, Array], tuple[int, ...]]] = {
        "Slice": ({"x": x, "starts": two, "ends": two, "axes": two, "steps": two}, (3, 3)),
        "Pad": ({"x": x, "pads": np.array([extreme] * 4)}, (6, 7)),
        "ReduceSum": ({"x": x, "axes": one}, (1, 6)),
        "DFT": ({"x": np.ones((1, 4, 6, 1), np.float32), "": x, "axis": np.array(extreme)}, (1, 4, 4, 2)),
        "Gather": ({"x": x, "indices": two}, (2, 6)),
        "ReverseSequence": ({"x": x, "lengths": np.array([extreme] * 6)}, (4, 6)),
    }
    values, out = given[operator]
    model = _one(operator, values, out, **({"onesided": 1} if operator == "DFT" else {}))
    if operator == "DFT":
        del model.graph.input[1]
    path = tmp_path / "extreme.onnx"
    onnx.save(model, path)
    program = compile_file(path, "extreme")
    assert isinstance(program, Program), program
    sample = Sample(tuple(values[tensor.name] for tensor in program.inputs), ())
    (tmp_path / "objects").mkdir()
    (result,) = run_batch([(program, [sample])], tmp_path, tmp_path / "objects")
    assert not isinstance(result, Failed), result


def test_a_trip_count_that_is_no_number(tmp_path: Path) -> None:
    model = MADE["control"]()
    _put(model, "trips", np.nan)
    with pytest.raises(MatchError) as caught:
        load_model(_written(model, tmp_path))
    assert caught.value.code == "MATCH-F007"


def _written(model: Model, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _member(folder: Path, header: bytes, **others: bytes) -> Path:
    path = folder / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16))
        for name, content in others.items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_an_array_larger_than_any_memory(tmp_path: Path) -> None:
    path = _member(tmp_path, b"{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000000,), }\n")
    with pytest.raises(MatchError) as caught:
        read_arrays(path)
    assert caught.value.code == "MATCH-U040"


def test_only_arrays_that_are_asked_for_are_read(tmp_path: Path) -> None:
    path = _member(tmp_path, b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n", other=b"no array")
    assert list(read_arrays(path, (TensorSpec("x", (4,), "float32"),))) == ["x"]


def test_more_arrays_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _member(tmp_path, b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n")
    monkeypatch.setattr(arrays, "MOST_BYTES", 50)
    with pytest.raises(MatchError) as caught:
        read_arrays(path)
    assert caught.value.code == "MATCH-U040" and "more than 50" in caught.value.why


def test_a_nested_manifest_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "match.lock.json").write_text("[" * 100_000, encoding="utf-8")
    assert not is_ours(tmp_path)


def test_a_fixed_sample(tmp_path: Path) -> None:
    """Mutations of the models made here; `make fuzz` tries more, of all node tests of the standard too."""
    cases = [make_case(made_seeds(), len(MADE), "sample", number) for number in range(BATCH)]
    assert [verdict for verdict in judge(cases, tmp_path) if verdict.kind in FAULTS] == []
