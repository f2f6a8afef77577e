"""``match compile``, ``run`` and ``verify`` on the example target."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from match_core.cli import main as cli
from match_verify.accuracy import NOT_JUDGED

from tests.program_files import program_files

if TYPE_CHECKING:
    from core.tests.cli.conftest import Done, MakeModel, Match
    from core.tests.plugin.distributions import Site

#: Large enough for the accelerator to be worth its start.
SHAPE = (1, 256)
STAGES = ("load", "transform", "match", "schedule", "map", "plan", "emit")
DATA = np.linspace(-1, 1, 256, dtype=np.float32)[np.newaxis]


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


def _refused(done: Done, code: str, exit_code: int) -> dict[str, Any]:
    error: dict[str, Any] = done.json["error"]
    assert (error["code"], error["exit_code"], done.code) == (code, exit_code, exit_code)
    assert all(error[part] for part in ("what", "where", "why", "help"))
    return error


def test_compile_json(match: Match, make_model: MakeModel) -> None:
    done = match("compile", make_model(operators=("Relu", "Sigmoid")), "-t", "example", "-o", "out", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["verb"], document["ok"]) == ("compile", True)
    assert (document["name"], document["target"], document["output"]) == ("net", "example", "out")
    assert sorted(document["files"]) == sorted(program_files(match.directory / "out"))
    assert "match.lock.json" in document["files"]
    relu, sigmoid = document["nodes"]
    assert (relu["onnx_names"], relu["unit"], relu["pattern"]) == (["Relu_0"], "relu_unit", "relu")
    assert relu["predicted_cycles"] == 94  # 30 to start, 256 elements at 4 per cycle
    assert (sigmoid["onnx_names"], sigmoid["unit"]) == (["Sigmoid_1"], "host")
    assert document["predicted_cycles"] == relu["predicted_cycles"] + sigmoid["predicted_cycles"]
    assert document["memory"]["ram"]["available"] == 262144
    assert document["memory"]["ram"]["used"] == 3 * 1024  # the tensor between the two, the input and the output


def test_compile_tells_its_stages_on_stderr_and_the_result_on_stdout(match: Match, make_model: MakeModel) -> None:
    done = match("compile", make_model(), "-o", "out")
    assert done.code == 0
    lines = done.err.splitlines()
    assert tuple(line.split()[0] for line in lines) == STAGES
    assert all(line.split()[2] == "s" for line in lines)
    assert "relu_unit" in done.out
    assert done.out.splitlines()[-2].endswith("files written to out")


def test_quiet_compile_says_nothing_on_stderr(match: Match, make_model: MakeModel) -> None:
    assert match("compile", make_model(), "-o", "out", "--quiet").err == ""


def test_compile_twice_gives_the_same_bytes(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Sigmoid", "Relu"))
    contents = []
    for seed in ("1", "2"):
        assert match("compile", model, "-o", "out", PYTHONHASHSEED=seed, MATCH_TEST=seed).code == 0
        contents.append(program_files(match.directory / "out"))
    assert contents[0] == contents[1]


def test_a_foreign_directory_is_left_alone(match: Match, make_model: MakeModel) -> None:
    (match.directory / "out").mkdir()
    (match.directory / "out" / "thesis.txt").write_text("mine")
    _refused(match("compile", make_model(), "-o", "out", "--json"), "MATCH-U010", 2)
    assert [path.name for path in (match.directory / "out").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["-t", "exampl"], "MATCH-U022"),
        (["--only-unit", "npu"], "MATCH-U020"),
        (["--without-unit", "npu"], "MATCH-U020"),
        (["--without-unit", "host", "--without-unit", "relu_unit"], "MATCH-U021"),
    ],
)
def test_wrong_names_are_usage_errors(match: Match, make_model: MakeModel, options: list[str], code: str) -> None:
    _refused(match("compile", make_model(), "-o", "out", "--json", *options), code, 2)
    assert list(match.directory.iterdir()) == []


def _fails(match: Match, model: Path, exit_code: int, *options: str) -> dict[str, Any]:
    """The failure as JSON and as text agree, and nothing is left behind."""
    arguments: tuple[str | Path, ...] = ("compile", model, "-t", "example", "-o", "out", *options)
    as_json, as_text = match(*arguments, "--json"), match(*arguments, "-q")
    error: dict[str, Any] = as_json.json["error"]
    assert as_json.code == as_text.code == error["exit_code"] == exit_code
    assert as_text.out == ""
    assert as_text.err.startswith(f"error: {error['code']}: {error['what']}\n")
    assert all(error[part] for part in ("what", "where", "why", "help"))
    assert list(match.directory.iterdir()) == []
    return error


def test_a_missing_model(match: Match, tmp_path: Path) -> None:
    _fails(match, tmp_path / "absent.onnx", 2)


def test_a_file_that_is_no_model(match: Match, tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("this is not a protocol buffer")
    _fails(match, tmp_path / "text.onnx", 1)


def test_a_dynamic_shape(match: Match, make_model: MakeModel) -> None:
    _fails(match, make_model(shape=(1, "length")), 1)


def test_an_operator_that_nobody_runs(match: Match, make_model: MakeModel) -> None:
    error = _fails(match, make_model(operators=("Relu", "Bernoulli")), 1)
    assert "Bernoulli" in str(error)


def test_a_model_that_does_not_fit(match: Match, make_model: MakeModel) -> None:
    error = _fails(match, make_model(operators=("Relu", "Softmax", "Relu"), shape=(1, 100_000)), 1)
    assert "ram" in str(error)


def test_a_broken_target_package(match: Match, site: Site, make_model: MakeModel) -> None:
    site.plugin("npu", "raise RuntimeError('no driver')", version="7.1")
    done = match("compile", make_model(), "-t", "npu", "-o", "out")
    assert done.code == 3
    assert "pkg-npu 7.1" in done.err
    assert "RuntimeError: no driver" in done.err
    assert done.err.count("no driver") == 1, "told once"
    assert list(match.directory.iterdir()) == []


def test_a_broken_foreign_package_does_not_stop_a_compilation(match: Match, site: Site, make_model: MakeModel) -> None:
    site.plugin("npu", "raise RuntimeError('no driver')")
    done = match("compile", make_model(), "-o", "out", "--json", "-q")
    assert done.code == 0
    assert done.json["ok"] is True
    assert len(done.err.splitlines()) == 1


@pytest.fixture
def program(match: Match, make_model: MakeModel) -> Path:
    assert match("compile", make_model(operators=("Relu", "Relu")), "-o", "out").code == 0
    return match.directory / "out"


def test_run_on_samples(match: Match, program: Path) -> None:
    np.savez(match.directory / "x.npz", x=np.stack([DATA, -DATA]))
    done = match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["verb"], document["ok"]) == ("run", True)
    assert document["cycles"]["total"] == 188  # two times 30 + 256 / 4
    assert document["cycles"]["units"] == {"relu_unit": 188}
    assert [node["onnx_names"] for node in document["nodes"]] == [["Relu_0"], ["Relu_1"]]
    with np.load(match.directory / "y.npz") as outputs:
        assert outputs["y"].tobytes() == np.maximum(np.stack([DATA, -DATA]), 0).tobytes()


def test_run_on_a_single_sample_gives_a_single_output(match: Match, program: Path) -> None:
    np.savez(match.directory / "x.npz", x=DATA)
    done = match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-2] == "outputs written to y.npz"
    with np.load(match.directory / "y.npz") as outputs:
        assert outputs["y"].shape == SHAPE


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        (None, "MATCH-U040"),
        ({"z": DATA}, "MATCH-U041"),
        ({"x": DATA[:, :255]}, "MATCH-U042"),
        ({"x": DATA.astype(np.float64) / 3}, "MATCH-U043"),
        ({"x": np.zeros((0, *SHAPE), np.float32)}, "MATCH-U044"),
    ],
)
def test_wrong_inputs(match: Match, program: Path, arrays: dict[str, Any] | None, code: str) -> None:
    if arrays is not None:
        np.savez(match.directory / "x.npz", **arrays)
    _refused(match("run", "out", "--inputs", "x.npz", "--outputs", "y.npz", "--json"), code, 2)
    assert not (match.directory / "y.npz").exists()


def test_a_directory_that_is_no_program(match: Match, tmp_path: Path) -> None:
    np.savez(match.directory / "x.npz", x=DATA)
    done = match("run", tmp_path, "--inputs", "x.npz", "--outputs", "y.npz", "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "MATCH-U030"


def test_outputs_that_cannot_be_written(match: Match, program: Path) -> None:
    np.savez(match.directory / "x.npz", x=DATA)
    done = match("run", "out", "--inputs", "x.npz", "--outputs", "no/such/y.npz", "--json")
    _refused(done, "MATCH-U045", 2)


def test_verify_json(match: Match, make_model: MakeModel) -> None:
    np.savez(match.directory / "x.npz", x=np.stack([DATA, -DATA, DATA * 3]))
    model = make_model(operators=("Relu", "Abs", "Relu"))
    done = match("verify", model, "-t", "example", "--inputs", "x.npz", "--json", "--sanitize")
    assert done.code == 0, done.err
    document = done.json
    assert document["verb"] == "verify"
    assert document["ok"] is True
    assert document["bit_exact"] is True
    assert sorted(document["max_abs_lsb"]) == sorted(document["mean_abs_lsb"]) == sorted(document["bound"]) == ["y"]
    assert document["max_abs_lsb"]["y"] == 0
    assert document["cycles"]["total"] > 0
    assert sorted(document["cycles"]["units"]) == ["host", "relu_unit"]
    assert document["predicted_cycles"] == sum(node["predicted_cycles"] for node in document["nodes"])
    assert [node["onnx_names"] for node in document["nodes"]] == [["Relu_0"], ["Abs_1"], ["Relu_2"]]
    assert all({"onnx_names", "unit", "cycles", "predicted_cycles"} <= set(node) for node in document["nodes"])
    assert document["memory"]["ram"]["available"] == 262144
    assert [path.name for path in match.directory.iterdir()] == ["x.npz"]


def test_verify_in_a_mode_with_a_timeline(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Abs"))
    done = match("verify", model, "--mode", "lazy", "--timeline", "trace.json", "--json")
    assert done.code == 0, done.err
    events = json.loads((match.directory / "trace.json").read_text())["traceEvents"]
    ends = [event["ts"] + event["dur"] for event in events if event["ph"] == "X"]
    assert max(ends) == done.json["cycles"]["total"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--mode", "slow"), "MATCH-U029"),
        (("--mode", "lazy:npu"), "MATCH-U029"),
        (("--mode", "threads", "--timeline", "trace.json"), "MATCH-U001"),
    ],
)
def test_modes_that_verify_refuses(match: Match, make_model: MakeModel, options: tuple[str, ...], code: str) -> None:
    _refused(match("verify", make_model(), "--json", *options), code, 2)


def test_verify_text(match: Match, make_model: MakeModel) -> None:
    done = match("verify", make_model(operators=("Relu", "Abs")), "-q")
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.out.splitlines()[-2] == "ok: the program is bit exact against the integer graph"


@pytest.mark.parametrize(
    ("options", "units"),
    [
        ((), {"host", "relu_unit"}),
        (("--without-unit", "relu_unit"), {"host"}),
        (("--only-unit", "host"), {"host"}),
        (("--only-unit", "relu_unit"), {"host", "relu_unit"}),
    ],
)
def test_units_can_be_chosen(match: Match, make_model: MakeModel, options: tuple[str, ...], units: set[str]) -> None:
    done = match("verify", make_model(operators=("Relu", "Softmax")), "--json", *options)
    assert done.code == 0, done.err
    assert {node["unit"] for node in done.json["nodes"]} == units
    assert done.json["ok"] is True


def test_a_program_that_needs_no_memory_of_its_own(match: Match, make_model: MakeModel) -> None:
    done = match("verify", make_model(), "--only-unit", "host", "--json")
    assert done.code == 0, done.err
    assert done.json["bit_exact"] is True
    assert done.json["memory"]["ram"] == {"used": 2048, "available": 262144, "caller": 2048}


def test_verify_checks_its_inputs(match: Match, make_model: MakeModel) -> None:
    np.savez(match.directory / "x.npz", x=DATA.astype(np.float64) / 3)
    _refused(match("verify", make_model(), "--inputs", "x.npz", "--json"), "MATCH-U043", 2)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_failed_verification_is_exit_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    document = {
        "ok": False,
        "bit_exact": False,
        "bound": {"y": "bit exact"},
        "max_abs_lsb": {"y": 2.0},
        "mean_abs_lsb": {"y": 0.25},
        "loss": {"accepted": False, "outputs": {"y": {"sqnr_db": 12.5, "agreement": None}}},
        "layers": None,
        "fallbacks": [],
        "warnings": [],
        "all_on_host": False,
        "expected": {},
        "place": "twin",
        "cycles": {"total": 5, "units": {"host": 5}},
        "instructions": None,
        "sizes": {},
        "predicted_cycles": 6,
        "queues": [],
        "declined_cycles": None,
        "uncertainty": 0.0,
        "preset": "",
        "energy": {"pj": None, "unpublished": ["host"]},
        "nodes": [{"title": "a, b", "onnx_names": ["a", "b"], "unit": "host", "cycles": 5, "predicted_cycles": 6}],
        "memory": {"ram": {"used": 3, "available": 12}},
    }
    report = {"name": "net", "target": {"name": "chip", "clock_hz": None}, "measured": None, "predicted_cycles": 6}
    report |= {"layers": [], "memories": []}
    fields = {"computed": False, "accuracy": NOT_JUDGED, "report": report, "labels": (), "first": None}
    result = SimpleNamespace(as_json=lambda: document, **fields)
    monkeypatch.setattr("match_verify.verify.verify_model", lambda *_: result)
    assert cli.run(["verify", "model.onnx", *(["--json"] if as_json else [])]) == 1
    out = capsys.readouterr().out
    assert ('"status": "failed"' in out) if as_json else ("FAILED: the program is not equal" in out)
    assert as_json or "a, b" in out
