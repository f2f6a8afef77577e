"""The functions as a user calls them: paths, bytes and protos; dicts of arrays; results that show themselves."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import match_core as match
import match_python
import numpy as np
import onnx
import pytest
from match_core.cli.choices import compile_choices
from match_core.contract.errors import MatchError
from match_python.answers import QuantizedModel
from match_python.files import label_texts, model_file
from match_python.options import Options
from match_python.program import Program
from match_verify.reference import ReferenceRunner

from tests.float_models import exported_network, images


@pytest.fixture(scope="module")
def quantised() -> QuantizedModel:
    made: QuantizedModel = match.quantize(exported_network(channels=4), {"image": images(4)}, dim={"batch": 1})
    return made


@pytest.fixture(scope="module")
def program(quantised: QuantizedModel) -> Program:
    return match_python.compile(quantised.model, "gap9", sequential=True)


def test_both_imports_offer_the_same_functions() -> None:
    for name in ("compile", "explain", "quantize", "targets", "verify"):
        assert getattr(match, name) is getattr(match_python, name)
    with pytest.raises(AttributeError, match="no_such_function"):
        match.no_such_function  # noqa: B018


def test_the_import_is_light() -> None:
    code = "import match_python, sys; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"onnx", "onnxruntime", "numpy", "pandas", "ortools"}


def test_the_options_are_those_of_the_verbs() -> None:
    assert list(Options.__annotations__) == list(inspect.signature(compile_choices).parameters)


def test_a_quantised_network_in_memory_and_as_a_file(quantised: QuantizedModel, tmp_path: Path) -> None:
    assert quantised.samples == 4 and quantised.output is None
    assert any(node.op_type == "QuantizeLinear" for node in quantised.model.graph.node)
    path = tmp_path / "int8.onnx"
    again = match_python.quantize(exported_network(channels=4), {"image": images(4)}, path, dim={"batch": 1})
    assert again.output == path and path.read_bytes() == quantised.model.SerializeToString(deterministic=True)


def test_samples_are_arrays_and_folders(quantised: QuantizedModel, tmp_path: Path) -> None:
    folder = tmp_path / "samples"
    folder.mkdir()
    for number, image in enumerate(images(4)):
        np.save(folder / f"{number}.npy", image)
    for samples in (images(4), folder):
        made = match_python.quantize(exported_network(channels=4), samples, dim={"batch": 1}, layers=False)
        assert made.model == quantised.model and made.losses == () and quantised.losses


def test_images_are_read_with_mean_and_deviation(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for number in range(2):
        pixels = np.random.default_rng(number).integers(0, 255, (16, 16, 3), np.uint8)
        image.fromarray(pixels).save(tmp_path / f"{number}.png")
    network = exported_network(channels=4)
    made = match_python.quantize(network, tmp_path, mean=[0.5, 0.4, 0.3], std=0.25, dim={"batch": 1}, layers=False)
    assert made.samples == 2 and "mean 0.5,0.4,0.3, std 0.25" in made.notes[0]


def test_the_quantiser_searches_and_leaves_layers_in_float() -> None:
    labels = np.arange(8) % 10
    made = match_python.quantize(
        exported_network(channels=4), images(8), search=True, wider="/fc/Gemm", labels=labels, dim={"batch": 1}
    )
    assert made.scheme in [trial.scheme for trial in made.trials] and len(made.trials) > 3
    assert (made.samples, made.compared) == (8, 2) and [layer.nodes[0] for layer in made.wider] == ["/fc/Gemm"]
    assert [check.count for check in made.labels] == [8]
    only = match_python.quantize(
        exported_network(channels=4), images(4), percentile=99, per_tensor=True, layers=False, dim={"batch": 1}
    )
    assert only.scheme.method == "percentile" and only.scheme.percentile == 99 and not only.scheme.per_channel


def test_a_program_has_typed_fields(program: Program) -> None:
    assert program.headline.cycles == program.predicted_cycles and program.headline.cycles_from == "model"
    assert program.headline.target_chosen == "by name" and program.headline.milliseconds == program.milliseconds
    assert program.headline.memories == program.memory and sum(program.headline.units.values()) == pytest.approx(1)
    assert program.target == "gap9" and program.predicted_cycles == sum(x.predicted_cycles for x in program.layers)
    assert program.milliseconds == pytest.approx(program.predicted_cycles / 260e3)
    assert {use.name for use in program.memory} == {"l1", "l2", "l3"}
    assert "match.lock.json" in program.files


def test_a_program_runs_with_and_without_a_sample_axis(program: Program) -> None:
    several = program.run({"image": images(2)})
    one = program.run({"image": images(2)[0]})
    assert several.outputs["scores"].shape == (2, 1, 10) and one.outputs["scores"].shape == (1, 10)
    assert np.array_equal(several.outputs["scores"][0], one.outputs["scores"]) and one.cycles > 0


def test_paths_bytes_and_protos_give_one_program(quantised: QuantizedModel, program: Program, tmp_path: Path) -> None:
    path, folder = tmp_path / "model.onnx", tmp_path / "out"
    onnx.save(quantised.model, path)
    given = match_python.compile(str(path), "gap9", folder, sequential=True)
    assert given.output == folder and (folder / "match.lock.json").is_file() and given.files == program.files
    assert model_file(path.read_bytes(), tmp_path).read_bytes() == path.read_bytes()


def test_a_report_is_written(program: Program, tmp_path: Path) -> None:
    page = program.report(tmp_path / "report")
    assert page.read_text("utf-8").startswith("<!doctype html>") or "<html" in page.read_text("utf-8")


def test_a_verification_says_what_it_compared(quantised: QuantizedModel, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", images(3))
    labels = ReferenceRunner(quantised.model).run({"image": images(3)[0]})["scores"].argmax(-1).repeat(3)
    found = match_python.verify(
        quantised.model, "gap9", tmp_path, labels={"scores": labels}, mode="lazy", sequential=True
    )
    assert found.ok and found.bit_exact and found.samples == 3 and found.error is None
    assert found.headline.cycles == found.cycles and found.headline.cycles_from == "twin"
    assert found.cycles == found.run.cycles and found.arrays["scores"].shape == (3, 1, 10)
    assert "ok" in str(found) and "bit exact" in found._repr_html_()
    (check,) = found.labels
    assert check.same == 1 and check.original.top1 == check.program.top1 >= 1 / 3
    assert found.layers and found.falls_at is None


def test_labels_are_arrays_files_or_by_output(tmp_path: Path) -> None:
    path = str(tmp_path / "y.npy")
    assert label_texts(None, tmp_path) == () and label_texts(path, tmp_path) == (path,)
    (text,) = label_texts(np.arange(3), tmp_path)
    assert np.load(text).tolist() == [0, 1, 2]
    first, second = label_texts({"scores": [1, 2], "mask": path}, tmp_path)
    assert np.load(first.removeprefix("scores=")).tolist() == [1, 2] and second == f"mask={path}"


def test_a_network_is_explained(quantised: QuantizedModel) -> None:
    found = match_python.explain(quantised.model, "gap9", flip=False)
    cycles = [layer.cycles for layer in found.layers]
    assert cycles == sorted(cycles, reverse=True) and len(cycles) <= 5 and found.headline.model == "model"
    assert found.layers[0].limit in ("compute", "transfers", "launches") and found._repr_html_()


def test_a_float_network_is_told_to_quantise() -> None:
    found = match_python.explain(exported_network(channels=4), "gap9", dim={"batch": 1}, flip=False)
    best = found.recommendations[0]
    assert best.kind == "quantise" and best.saves_cycles is not None and best.change in str(found)
    assert best.command.startswith("match quantize model.onnx ")


def test_an_explanation_names_unit_and_margin(quantised: QuantizedModel) -> None:
    found = match_python.explain(quantised.model, "gap9", node="/conv2/Conv", flip=False)
    assert found.headline.target == "gap9" and found.headline.milliseconds is not None
    assert found.unit in ("ne16", "cluster") and found.margin is not None and found.flip is None
    assert any(row["chosen"] for row in found.rows())


def test_targets_by_name_and_position() -> None:
    found = match_python.targets()
    assert found["gap9"].units == ("host", "cluster", "ne16") and found["gap9"] in list(found)
    assert len(found) == len(found[:]) and "gap9" in str(found) and dict(found["gap9"].memories)["l2"] > 0


def test_tables_escape_names_and_keep_the_colours_of_the_notebook() -> None:
    model = exported_network(channels=4)
    model.graph.node[0].name = "<script>alert(1)</script>"
    page = match_python.compile(model, "host", dim={"batch": 1})._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<th " in page
    assert "color:" not in page.replace("border-bottom", "") and "background" not in page


def test_a_frame_has_the_rows(program: Program) -> None:
    pytest.importorskip("pandas")
    frame = program.to_dataframe()
    assert len(frame) == len(program.layers) and frame["predicted cycles"].sum() == program.predicted_cycles


def test_without_pandas_only_frames_are_missing(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert program._repr_html_()
    with pytest.raises(ModuleNotFoundError):
        program.to_dataframe()


@pytest.mark.parametrize(
    ("call", "code", "part"),
    [
        (lambda m: match_python.compile(3, "gap9"), "MATCH-U090", "builtins.int"),
        (lambda m: match_python.compile(m, "gap9", precison="fast"), "MATCH-U090", "did you mean precision=?"),
        (lambda m: match_python.compile(m, "gap9", precision="faster"), "MATCH-U090", "precision='fast'"),
        (lambda m: match_python.compile(m, "gap9", memory={"l1": "much"}), "MATCH-U026", "l1=much"),
        (lambda m: match_python.compile(m, "gap99"), "MATCH-U022", "gap9"),
        (lambda m: match_python.compile("no.onnx", "gap9"), "MATCH-F001", "no.onnx"),
        (lambda m: match_python.compile(b"nothing", "gap9"), "MATCH-F002", "model.onnx"),
        (lambda m: match_python.compile(exported_network(), "gap9"), "MATCH-F013", "--dim batch=1"),
        (lambda m: match_python.verify(m, "gap9", [images(1)]), "MATCH-U090", "inputs={'input name': array}"),
        (
            lambda m: match_python.verify(m, "gap9", {"x": images(1)}, sequential=True),
            "MATCH-U041",
            "where: inputs.npz",
        ),
        (lambda m: match_python.quantize(m, {"image": images(1)}, method="best"), "MATCH-U090", "minmax"),
        (
            lambda m: match_python.quantize(m, images(1), method="entropy", percentile=99.9),
            "MATCH-U090",
            "method='percentile'",
        ),
        (lambda m: match_python.quantize(m, images(1), mean="grey"), "MATCH-U090", "mean=[0.5, 0.5, 0.5]"),
        (lambda m: match_python.quantize(exported_network(), images(1), std=0), "MATCH-U048", "--std"),
        (
            lambda m: match_python.quantize(exported_network(), images(1), mean=0.5, dim={"batch": 1}),
            "MATCH-U046",
            "samples.npy",
        ),
        (lambda m: match_python.explain(m, "gap9", node="/conv3/Conv"), "MATCH-U035", "/conv2/Conv"),
        (lambda m: match_python.quantize(m, images(1)), "MATCH-R005", "model.onnx"),
        (
            lambda m: match_python.verify(m, "gap9", images(2), labels={"y": np.zeros(2, int)}),
            "MATCH-U053",
            "--labels scores=labels.npy",
        ),
    ],
)
def test_errors_are_those_of_the_command_line(call, code, part, quantised: QuantizedModel) -> None:
    with pytest.raises(MatchError) as raised:
        call(quantised.model)
    assert raised.value.code == code and part in str(raised.value), str(raised.value)
