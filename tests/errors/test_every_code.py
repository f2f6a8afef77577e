"""Errors beyond those of ``match compile`` on a bad model: other verbs, plugins, tools, limits. Their texts are golden,
and every documented code is among the golden files.

The texts are golden: ``pytest --update-golden tests/errors`` rewrites them.
"""

from __future__ import annotations

import errno
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import match_python
import numpy as np
import onnx
import pytest
from match_core.cli import main as cli
from match_core.contract.errors import MatchError
from match_core.contract.passes import Pass, Phase
from match_core.passes.order import order_passes
from match_verify.reference import ReferenceRunner
from onnx import TensorProto, helper

from core.tests.regions.engine_plugin import plugin as engine_plugin
from tests import forked
from tests.base_packages import allowing
from tests.conftest import ROOT
from tests.end_to_end.layer_specs import LayerSpec, layer_model
from tests.errors import models
from tests.errors.sites import PAIRS, SITES, site_in
from tests.tflite_files.builder import one_operator, saved
from tests.verify.float_network import float_convolution
from tests.verify.lossy import inexact, ruined

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., "subprocess.CompletedProcess[str]"]

GOLDEN = ROOT / "tests" / "golden"
#: Codes whose texts hold bytes and choices that any better plan changes; test_errors.test_memory_report reads them.
CHANGING = {"MATCH-M001"}


@dataclass(frozen=True)
class Case:
    """``make`` prepares a folder and gives the arguments; ``program``: a program for the host is compiled to ``out``
    first; ``variables`` of the environment, with FOLDER for the folder."""

    code: str
    exit_code: int
    make: Callable[[Path], list[str | Path]]
    program: bool = False
    variables: tuple[tuple[str, str], ...] = ()


def _arrays(folder: Path, **arrays: Any) -> Path:
    path = folder / "x.npz"
    np.savez(path, **arrays)
    return path


def _run(**arrays: Any) -> Callable[[Path], list[str | Path]]:
    def arguments(folder: Path) -> list[str | Path]:
        return ["run", folder / "out", "--inputs", _arrays(folder, **arrays), "--outputs", folder / "y.npz"]

    return arguments


def _trapped(folder: Path) -> list[str | Path]:
    """The program stops itself before it computes."""
    source = folder / "out" / "model.c"
    text = source.read_text(encoding="utf-8")
    broken = re.sub(r"(\n\w[^\n;]*\bmodel_run\([^;{]*\)\n\{\n)", r"\1    __builtin_trap();\n", text, count=1)
    assert broken != text
    source.write_text(broken, encoding="utf-8")
    return _run(x=np.zeros((1, 8), np.float32))(folder)


def _calibrate(counters: str) -> Callable[[Path], list[str | Path]]:
    def arguments(folder: Path) -> list[str | Path]:
        (folder / "counters.csv").write_text(counters, encoding="utf-8")
        pair = f"{folder / 'out'}={folder / 'counters.csv'}"
        return ["calibrate", folder / "model.onnx", "--counters", pair, "-o", folder / "figures.json"]

    return arguments


def _figures(preset: str, value: int, schema: str = "match.figures") -> Callable[[Path], list[str | Path]]:
    def arguments(folder: Path) -> list[str | Path]:
        row = {"unit": "host", "constant": "host_call_cycles", "value": value}
        document = {"schema": schema, "schema_version": 1, "target": "host", "preset": preset, "figures": [row]}
        (folder / "figures.json").write_text(json.dumps(document), encoding="utf-8")
        return [*_model("--figures", str(folder / "figures.json"))(folder)]

    return arguments


def _model(*arguments: str, verb: str = "verify") -> Callable[[Path], list[str | Path]]:
    return lambda folder: [verb, models.relu(folder / "model.onnx"), "-t", "host", *arguments]


def _compiled(make: Callable[[Path], Path], *options: str) -> Callable[[Path], list[str | Path]]:
    return lambda folder: ["compile", make(folder / "model.onnx"), "-o", folder / "out", *options]


def _verify(make: Callable[[Path], Path]) -> Callable[[Path], list[str | Path]]:
    return lambda folder: ["verify", make(folder / "model.onnx"), "-t", "host"]


def _quantise(make: Callable[[Path], Path]) -> Callable[[Path], list[str | Path]]:
    def arguments(folder: Path) -> list[str | Path]:
        data = _arrays(folder, x=np.zeros((2, 1, 8), np.float64))
        return ["quantize", make(folder / "model.onnx"), "--data", data, "-o", folder / "y.onnx"]

    return arguments


def _calibration(folder: Path, *options: str, **files: bytes) -> list[str | Path]:
    """``match quantize`` of a float convolution of images with a folder of files, their names with _ for the dot."""
    (folder / "data").mkdir()
    for name, content in files.items():
        (folder / "data" / name.replace("_", ".")).write_bytes(content)
    made = ["quantize", float_convolution(folder / "model.onnx"), "--data", folder / "data"]
    return [*made, "-o", folder / "y.onnx", *options]


def _nan_samples(folder: Path) -> list[str | Path]:
    file = io.BytesIO()
    np.save(file, np.full((2, 3, 4, 4), np.nan, np.float32))
    return _calibration(folder, x_npy=file.getvalue())


def _without_pillow(folder: Path) -> list[str | Path]:
    (folder / "site" / "PIL").mkdir(parents=True)
    (folder / "site" / "PIL" / "__init__.py").write_text("raise ImportError('no such library')\n", encoding="utf-8")
    return _calibration(folder, x_png=b"")


def _labels(folder: Path) -> list[str | Path]:
    np.save(folder / "labels.npy", np.zeros(3, np.int64))
    return [*_model("--labels", str(folder / "labels.npy"))(folder), *_inputs(folder, x=ZEROS)]


def _inputs(folder: Path, **arrays: Any) -> list[str | Path]:
    return ["--inputs", _arrays(folder, **arrays)]


def _unreadable(folder: Path) -> list[str | Path]:
    (folder / "x.npz").write_bytes(b"no archive")
    return ["run", folder / "out", "--inputs", folder / "x.npz", "--outputs", folder / "y.npz"]


def _unimportable(folder: Path) -> list[str | Path]:
    (folder / "site").mkdir()
    (folder / "site" / "onnxruntime.py").write_text("raise ImportError('no such library')\n", encoding="utf-8")
    return _model()(folder)


def _tflite(content: bytes) -> Callable[[Path], list[str | Path]]:
    return lambda folder: ["check", saved(folder / "model.tflite", content), "-t", "host", "--quiet"]


def _without_tflite(folder: Path) -> list[str | Path]:
    (folder / "site").mkdir()
    (folder / "site" / "tflite.py").write_text("raise ImportError('no such library')\n", encoding="utf-8")
    return _tflite(one_operator("RELU"))(folder)


def _unwritable(folder: Path) -> list[str | Path]:
    arrays = _arrays(folder, x=np.zeros((1, 8), np.float32))
    return ["run", folder / "out", "--inputs", arrays, "--outputs", folder / "no" / "y.npz"]


def _dying(folder: Path) -> list[str | Path]:
    """A package that ends the process in which it is asked."""
    site_in(folder / "site").plugin("dying", "import os\n@hookimpl\ndef match_hardware():\n    os._exit(3)\n")
    return ["test-target", "pkg-dying", "-o", folder / "badge.json"]


def _without_library(folder: Path) -> list[str | Path]:
    """A package whose unit needs a library that nobody has."""
    site_in(folder / "site").plugin("engine", engine_plugin("json", libraries=("match_nobodys_library",)))
    return ["verify", models.relu(folder / "model.onnx"), "-t", "engine_chip", "--quiet"]


def _export(*options: str) -> Callable[[Path], list[str | Path]]:
    return lambda folder: ["export", folder / "out", "-o", folder / "package", *options]


def _changed(folder: Path) -> list[str | Path]:
    with (folder / "out" / "model.c").open("a", encoding="utf-8") as source:
        source.write("/* mine */\n")
    return _export("--as", "zephyr")(folder)


def _with_sdk(folder: Path) -> list[str | Path]:
    """The cluster computes a layer."""
    model = folder / "model.onnx"
    onnx.save(layer_model(LayerSpec(64, 10)), str(model))
    assert forked.match(["compile", model, "-t", "gap9", "-o", folder / "out", "--quiet"]).returncode == 0
    return _export("--as", "zephyr")(folder)


ZEROS = np.zeros((2, 1, 8), np.float32)
CASES = {
    "not_convertible": Case("MATCH-F005", 1, _compiled(models.broadcast_gemm, "-t", "host")),
    "weights_cut_off": Case("MATCH-F012", 1, _compiled(models.short_weights, "-t", "host")),
    "functions_too_deep": Case("MATCH-F016", 1, _compiled(models.deep_functions, "-t", "host")),
    "loop_too_long": Case("MATCH-F018", 1, _compiled(models.long_loop, "-t", "host")),
    "random_numbers": Case("MATCH-F019", 1, _compiled(models.random_numbers, "-t", "host")),
    "tflite_not_installed": Case("MATCH-F020", 1, _without_tflite, variables=(("PYTHONPATH", "FOLDER/site"),)),
    "tflite_damaged": Case("MATCH-F021", 1, _tflite(one_operator("RELU")[:150])),
    "tflite_operator": Case("MATCH-F022", 1, _tflite(one_operator("BIDIRECTIONAL_SEQUENCE_LSTM"))),
    "tflite_tensor": Case("MATCH-F023", 1, _tflite(one_operator("RELU", shape=(1, -1)))),
    "no_runtime": Case("MATCH-R001", 1, _unimportable, variables=(("PYTHONPATH", "FOLDER/site"),)),
    "not_quantisable": Case("MATCH-R004", 1, _quantise(models.wide_convolution)),
    "already_quantised": Case("MATCH-R005", 1, _quantise(ruined)),
    "no_pillow": Case("MATCH-R006", 1, _without_pillow, variables=(("PYTHONPATH", "FOLDER/site"),)),
    "folder_without_samples": Case("MATCH-U046", 2, _calibration),
    "damaged_image": Case("MATCH-U047", 2, lambda folder: _calibration(folder, x_png=b"no image")),
    "means_of_other_channels": Case(
        "MATCH-U048", 2, lambda folder: _calibration(folder, "--mean", "0.5,0.5", x_png=b"no image")
    ),
    "samples_not_finite": Case("MATCH-U049", 2, _nan_samples),
    "labels_of_other_samples": Case("MATCH-U053", 2, _labels),
    "no_compiler": Case("MATCH-T001", 1, _run(x=ZEROS), program=True, variables=(("CC", "no-such-compiler"),)),
    "compiler_refuses": Case("MATCH-T002", 1, _run(x=ZEROS), program=True, variables=(("CC", "false"),)),
    "program_fails": Case("MATCH-T003", 1, _trapped, program=True),
    "package_dies": Case("MATCH-T004", 1, _dying, variables=(("PYTHONPATH", "FOLDER/site"),)),
    "library_not_installed": Case("MATCH-T005", 1, _without_library, variables=(("PYTHONPATH", "FOLDER/site"),)),
    "several_targets": Case("MATCH-U023", 2, _compiled(models.relu)),
    "no_target": Case("MATCH-U024", 2, _compiled(models.relu), variables=tuple(allowing().items())),
    "unknown_mode": Case("MATCH-U029", 2, _model("--mode", "slow")),
    "no_program": Case("MATCH-U030", 2, _run(x=ZEROS)),
    "no_report": Case("MATCH-U032", 2, lambda folder: ["report", folder]),
    "wrong_limit": Case(
        "MATCH-U033", 2, lambda folder: ["diff", folder / "out", folder / "out", "--limit", "l7=1kB"], program=True
    ),
    "wrong_budget": Case("MATCH-U034", 2, _model("--budget", "l2=lots", verb="fit")),
    "unknown_node": Case(
        "MATCH-U035", 2, lambda folder: ["explain", models.relu(folder / "model.onnx"), "relu7", "-t", "host"]
    ),
    "unknown_exact_node": Case("MATCH-U039", 2, _model("--exact", "relu7")),
    "accuracy_lost": Case(
        "MATCH-V001", 1, lambda folder: ["verify", ruined(folder / "model.onnx"), "-t", "diana", "--quiet"]
    ),
    "accuracy_out_of_reach": Case(
        "MATCH-V002", 1, lambda folder: [*_compiled(inexact, "-t", "gap9")(folder), "--max-loss", "200"]
    ),
    "unreadable_arrays": Case("MATCH-U040", 2, _unreadable, program=True),
    "missing_input": Case("MATCH-U041", 2, _run(z=ZEROS), program=True),
    "wrong_shape": Case("MATCH-U042", 2, _run(x=np.zeros((2, 1, 9), np.float32)), program=True),
    "different_samples": Case(
        "MATCH-U044", 2, lambda folder: [*_verify(models.two_inputs)(folder), *_inputs(folder, x=ZEROS, z=ZEROS[:1])]
    ),
    "wrong_type": Case("MATCH-U043", 2, _run(x=np.zeros((2, 1, 8), np.complex64)), program=True),
    "outputs_unwritable": Case("MATCH-U045", 2, _unwritable, program=True),
    "no_target_name": Case("MATCH-U050", 2, lambda folder: ["new-target", "7up", "-o", folder / "package"]),
    "folder_taken": Case(
        "MATCH-U051", 2, lambda folder: ["new-target", "sprout", "-o", models.relu(folder / "model.onnx").parent]
    ),
    "no_kind": Case("MATCH-U054", 2, lambda folder: ["new-target", "sprout", "--kind", "tile"]),
    "no_package": Case("MATCH-U052", 2, lambda folder: ["test-target", "match-nobody"]),
    "no_such_state": Case("MATCH-U080", 2, _model("--state", "x=nothing")),
    "no_figures_file": Case("MATCH-U070", 2, _figures("generic", 5, schema="match.report")),
    "figures_of_another_target": Case("MATCH-U071", 2, _figures("none", 5)),
    "figure_out_of_range": Case("MATCH-U072", 2, _figures("generic", -5)),
    "no_counters": Case("MATCH-U073", 2, _calibrate("nonsense"), program=True),
    "counters_without_program": Case("MATCH-U074", 2, _calibrate("layer,cycles\nnobody,100\n"), program=True),
    "too_few_counters": Case("MATCH-U075", 2, _calibrate("index,cycles\n0,100\n"), program=True),
    "exported_program_changed": Case("MATCH-U104", 2, _changed, program=True),
    "export_needs_sdk": Case("MATCH-U105", 2, _with_sdk),
    "wrong_release": Case("MATCH-U106", 2, _export("--as", "cmake", "--release", "one"), program=True),
    "counters_contradict": Case("MATCH-U076", 2, _calibrate("layer,cycles\nactivation,100\ntotal,5\n"), program=True),
}


@pytest.mark.parametrize("name", CASES)
def test_error_of_a_verb(name: str, tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    case = CASES[name]
    if case.program:
        model = models.relu(tmp_path / "model.onnx")
        done = match_command("compile", model, "-t", "host", "-o", tmp_path / "out", "--quiet")
        assert done.returncode == 0, done.stderr
    arguments = case.make(tmp_path)
    variables = {key: value.replace("FOLDER", str(tmp_path)) for key, value in case.variables}
    done = match_command(*map(str, arguments), **variables)
    assert done.returncode == case.exit_code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    golden(f"{name}.txt", _told(done.stderr, case.code).replace(str(tmp_path), "FOLDER"))


@pytest.mark.parametrize("code", SITES)
def test_error_of_a_plugin(code: str, tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    """The target of the broken package is refused, or its faults are warned of, with the code."""
    site = site_in(tmp_path / "site")
    SITES[code](site)
    model = models.relu(tmp_path / "model.onnx")
    variables = {"PYTHONPATH": str(site.path), **site.environment}
    done = match_command("compile", str(model), "-t", "broken", "-o", str(tmp_path / "out"), "--quiet", **variables)
    assert done.returncode in (2, 3), done.stdout + done.stderr
    assert code in done.stderr
    golden(f"{code}.txt", done.stderr.replace(str(tmp_path), "FOLDER"))


def test_error_of_overlapping_candidates(
    tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]
) -> None:
    site = site_in(tmp_path / "site")
    site.plugin("pairs", PAIRS)
    model = models.chain(tmp_path / "model.onnx", "Relu", "Abs", "Neg")
    options = ("-t", "pairs", "--without-unit", "host", "-o", tmp_path / "out", "--quiet")
    done = match_command("compile", model, *options, PYTHONPATH=str(site.path), **site.environment)
    assert done.returncode == 1, done.stdout + done.stderr
    golden("overlapping_candidates.txt", done.stderr.replace(str(tmp_path), "FOLDER"))


def test_error_of_the_library(golden: Callable[[str, str], None]) -> None:
    """Faults that no command line reaches with the packages of this repository: passes that contradict each other, a
    graph that ONNX Runtime refuses."""

    def made(name: str, phase: Phase = Phase.CLEAN, **declared: tuple[str, ...]) -> Pass:
        return Pass(name, phase, lambda model, _: model, "", **declared)

    for name, passes in (
        ("two_passes_of_one_name", [made("a"), made("a")]),
        ("circle_of_passes", [made("a", after=("c",)), made("b", after=("a",)), made("c", after=("b",))]),
        ("pass_before_an_earlier_phase", [made("early"), made("late", Phase.FINAL, before=("early",))]),
    ):
        with pytest.raises(MatchError) as caught:
            order_passes(passes)
        golden(f"{name}.txt", f"{caught.value}\n")
    unknown = helper.make_model(
        helper.make_graph(
            [helper.make_node("Nothing", ["x"], ["y"], domain="nobody")],
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1,))],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1,))],
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("nobody", 1)],
        ir_version=8,
    )
    with pytest.raises(MatchError) as caught:
        match_python.compile(unknown, "host", precison="fast")
    golden("argument_of_a_function.txt", f"{caught.value}\n")
    with pytest.raises(MatchError) as caught:
        ReferenceRunner(unknown)
    golden("runtime_refuses.txt", f"{caught.value}\n")


def test_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    from match_core.plugin.facade import Plugins

    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.delenv("MATCH_TRACEBACK", raising=False)
    monkeypatch.setattr(Plugins, "load", fail)
    assert cli.run(["targets"]) == 70
    golden("internal_error.txt", capsys.readouterr().err)


def test_error_of_a_full_disk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    """Wherever it happens: here while packages are loaded."""
    from match_core.plugin.facade import Plugins

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/match-twin-1/harness.c")

    monkeypatch.setattr(Plugins, "load", fail)
    assert cli.run(["targets"]) == 1
    golden("no_room.txt", capsys.readouterr().err)


def test_every_documented_code_has_a_golden_text() -> None:
    documented = set(re.findall(r"^## (MATCH-[A-Z]\d{3})$", (ROOT / "docs" / "errors.md").read_text("utf-8"), re.M))
    texts = "\n".join(path.read_text("utf-8") for path in GOLDEN.glob("test_error*/*.txt"))
    texts += (GOLDEN / "test_internal_error" / "internal_error.txt").read_text("utf-8")
    told = set(re.findall(r"MATCH-[A-Z]\d{3}", texts))
    assert documented - told - CHANGING == set()


def _told(text: str, code: str) -> str:
    """The error of a verb's stderr, without progress."""
    start = text.index(f"error: {code}: ")
    return text[start:]
