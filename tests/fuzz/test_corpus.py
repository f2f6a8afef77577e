"""Every kind of defect that mutated models found: a coded error, or a program that stays within its tensors."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
from match_core.contract.errors import MatchError
from match_core.emit.write import is_ours
from match_core.io.arrays import TensorSpec
from match_core.load.load import load_model
from match_report import npz
from match_report.npz import read_arrays
from onnx import TensorProto, helper, numpy_helper

from tests.conformance.batch import Failed, run_batch
from tests.conformance.programs import Program, compile_file
from tests.conformance.suite import Array, Sample
from tests.fuzz.__main__ import BATCH
from tests.fuzz.cases import Case, make_case
from tests.fuzz.explained import explanation, output_steps
from tests.fuzz.files import FileCase, file_case
from tests.fuzz.judge import FAULTS, judge
from tests.fuzz.networks import NETWORKS
from tests.fuzz.references import differs, random_samples
from tests.fuzz.seeds import MADE, made_seeds
from tests.fuzz.ties import only_ties, tie

Model = onnx.ModelProto
#: Batches of the fixed sample, about a minute of processor time in all.
PARTS = 4


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


def _outlive(model: Model) -> None:
    model.opset_import[0].version = 1 << 31


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
    "an opset beyond every number": ("convolutions", _outlive, "MATCH-F003"),
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
    "a zero point of int32": ("quantised", _with("bz", [0, 1, 0, 0], "int32"), "MATCH-F003"),
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


def test_one_axis_for_time_and_samples(tmp_path: Path) -> None:
    given = {"x": np.ones((2, 4), np.float32), "lengths": np.array([1, 2])}
    with pytest.raises(MatchError) as caught:
        load_model(_written(_one("ReverseSequence", given, (2, 4), batch_axis=0), tmp_path))
    assert (caught.value.code, caught.value.why) == ("MATCH-F006", "time_axis and batch_axis are both 0")


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
    monkeypatch.setattr(npz, "MOST_BYTES", 50)
    with pytest.raises(MatchError) as caught:
        read_arrays(path)
    assert caught.value.code == "MATCH-U040" and "more than 50" in caught.value.why


def test_a_nested_manifest_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "match.lock.json").write_text("[" * 100_000, encoding="utf-8")
    assert not is_ours(tmp_path)


def _equation(text: str) -> Model:
    return _one("Einsum", {"x": np.ones((3, 4), np.float32)}, (4, 3), equation=text)


def test_an_equation_with_spaces(tmp_path: Path) -> None:
    """Inference of shapes does not end behind a space between labels."""
    load_model(_written(_equation(" x y -> y x "), tmp_path))


@pytest.mark.parametrize("text", ["x,,->\x01", "x->y->z", "x..y", "1 2", "a" * 5000 + "!"])
def test_no_equation(text: str, tmp_path: Path) -> None:
    with pytest.raises(MatchError) as caught:
        load_model(_written(_equation(text), tmp_path))
    assert caught.value.code == "MATCH-F003" and "no equation" in caught.value.why


def _results(model: Model, values: dict[str, Array], folder: Path) -> tuple[Array, ...]:
    """The outputs of the program, which runs under sanitizers."""
    path = _written(model, folder)
    program = compile_file(path, "odd")
    assert isinstance(program, Program), program
    sample = Sample(tuple(values[tensor.name] for tensor in program.inputs), ())
    (folder / "objects").mkdir()
    (result,) = run_batch([(program, [sample])], folder, folder / "objects")
    assert not isinstance(result, Failed), result
    return result[0]


@pytest.mark.parametrize("step", [1 << 62, (1 << 63) - 1, -(1 << 63), 7])
def test_a_step_of_frames_stays_within_the_signal(step: int, tmp_path: Path) -> None:
    values = {"x": np.ones((1, 32, 1), np.float32), "step": np.array(step), "window": np.ones(8, np.float32)}
    (found,) = _results(_one("STFT", values, (1, 4, 5, 2)), values, tmp_path)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_lengths_of_samples_stay_within_the_steps(direction: str, tmp_path: Path) -> None:
    """Longer ones are the number of steps, those below 0 are 0."""
    random = np.random.default_rng(1)
    shapes = {"x": (3, 4, 2), "w": (1, 8, 2), "r": (1, 8, 2), "b": (1, 16)}
    values: dict[str, Array] = {name: random.normal(size=size).astype(np.float32) for name, size in shapes.items()}
    results = []
    for number, lengths in enumerate(([5, 1 << 30, -(1 << 31), 2], [3, 3, 0, 2])):
        given = {**values, "lengths": np.array(lengths, np.int32)}
        folder = tmp_path / str(number)
        folder.mkdir()
        model = _one("LSTM", given, (3, 1, 4, 2), hidden_size=2, direction=direction)
        results.append(_results(model, given, folder)[0])
    assert np.array_equal(*results)


def test_odd_exponents_that_float32_rounds(tmp_path: Path) -> None:
    """2^31 - 1 is odd: a negative base stays negative."""
    values: dict[str, Array] = {
        "x": np.array([-1, -2, -1], np.float32),
        "n": np.array([(1 << 31) - 1, (1 << 31) - 1, (1 << 31) - 2], np.int32),
    }
    (found,) = _results(_one("Pow", values, (3,)), values, tmp_path)
    assert found.tolist() == [-1, -np.inf, 1]


def test_sums_of_exponentials_near_the_largest_number(tmp_path: Path) -> None:
    values: dict[str, Array] = {"x": np.array([[3e38, 1, -5], [800, 800, -np.inf]], np.float32), "axes": np.array([1])}
    (found,) = _results(_one("ReduceLogSumExp", values, (2, 1)), values, tmp_path)
    assert np.allclose(found.reshape(-1), [3e38, 800 + np.log(2)])


def test_logarithms_of_softmax_near_the_largest_number(tmp_path: Path) -> None:
    values: dict[str, Array] = {"x": np.array([[3e38, 3e38, 1], [0, 2.5, -1e30]], np.float32)}
    (found,) = _results(_one("LogSoftmax", values, (2, 3), axis=1), values, tmp_path)
    wanted = [[-np.log(2), -np.log(2), -3e38], [-2.5 - np.log1p(np.exp(-2.5)), -np.log1p(np.exp(-2.5)), -1e30]]
    assert np.allclose(found, wanted, rtol=1e-6)


def test_maxima_of_nothing_but_nan(tmp_path: Path) -> None:
    values: dict[str, Array] = {"x": np.array([[[[np.nan, np.nan, 1, np.nan], [-np.inf] * 4]]], np.float32)}
    (found,) = _results(_one("MaxPool", values, (1, 1, 2, 2), kernel_shape=[1, 2], strides=[1, 2]), values, tmp_path)
    assert np.array_equal(found.reshape(-1), [np.nan, 1, -np.inf, -np.inf], equal_nan=True)


def _explained(model: Model, values: dict[str, Array], folder: Path) -> str:
    return explanation(_written(model, folder), [values])


def test_results_are_explained_by_rules_only(tmp_path: Path) -> None:
    small, large = np.ones((2, 2), np.float32), np.full((2, 2), 1e37, np.float32)
    double = _one("Add", {"x": small, "z": small}, (2, 2))
    assert _explained(double, {"x": small, "z": small}, tmp_path) == ""
    assert _explained(double, {"x": large, "z": large}, tmp_path) == "overflow"
    constant = MADE["convolutions"]()
    feed: dict[str, Array] = {"x": np.ones((1, 2, 6, 6), np.float32)}
    assert _explained(constant, feed, tmp_path) == ""
    _put(constant, "d", np.full((5, 4), 3e37))
    assert _explained(constant, feed, tmp_path) == "overflow"
    _put(constant, "b", [np.nan] * 4)
    assert _explained(constant, feed, tmp_path) == ""
    assert _explained(NETWORKS["layers"](), {"x": np.ones((4, 1, 2), np.float32)}, tmp_path) == "lengths"
    zero = helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], [0.0])
    narrow = _one("QuantizeLinear", {"x": small, "s": np.array(0.5, np.float32)}, (2, 2))
    narrow.graph.node[0].input.append("z")
    narrow.graph.initializer.append(zero)
    assert _explained(narrow, {"x": small, "s": np.array(0.5, np.float32)}, tmp_path) == ""
    narrow.graph.initializer[0].CopyFrom(helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], [1.0]))
    assert _explained(narrow, {"x": small, "s": np.array(0.5, np.float32)}, tmp_path) == "narrow zero points"


def test_the_residual_network_differs_by_a_step_at_most() -> None:
    (step,) = output_steps(NETWORKS["residual"]()).values()
    assert step == pytest.approx(0.1)
    one = (np.array([8.8, 1.0]),)
    assert differs([(np.array([8.7, 1.0]),)], [one], [step]) == ""
    assert "8.6" in differs([(np.array([8.6, 1.0]),)], [one], [step])


def test_ties_are_one_step_in_the_middle(tmp_path: Path) -> None:
    assert tie(np.array([27.49999823, -25.50000009, 0.5]))
    assert not tie(np.array([27.49, 0.5]))
    model = NETWORKS["residual"]()
    _put(model, "c0", 0.5)
    path = _written(model, tmp_path)
    program = compile_file(path, "residual")
    assert isinstance(program, Program)
    assert only_ties(path, random_samples(program, 171), tmp_path)


def test_cases_depend_on_seed_and_number_only() -> None:
    twice = [[make_case(made_seeds(), len(MADE), "again", number) for number in range(60)] for _ in range(2)]
    assert twice[0] == twice[1]
    assert {type(case) for case in twice[0]} == {Case, FileCase}


#: Files that no verb may fail on without a code.
FILES = ("x.npz", "program/match.lock.json", "program/report.json", "board.toml", "figures.json")


def test_a_fixed_sample_of_files(tmp_path: Path) -> None:
    cases = [case for n in range(40) if (case := file_case(n, Random(f"files/{n}"))).seed in FILES]
    assert {case.seed for case in cases} == set(FILES)
    assert [verdict for verdict in judge(cases, tmp_path) if verdict.kind in FAULTS] == []


@pytest.mark.parametrize("part", range(PARTS))
def test_a_fixed_sample(part: int, tmp_path: Path) -> None:
    """Mutations of the networks made here; `make fuzz` tries more, of all node tests of the standard too."""
    made = (make_case(made_seeds(), len(MADE), "sample", number) for number in range(part * BATCH, (part + 1) * BATCH))
    cases = [case for case in made if isinstance(case, Case)]
    assert [verdict for verdict in judge(cases, tmp_path) if verdict.kind in FAULTS] == []
