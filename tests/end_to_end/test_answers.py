"""The first and the last line of each verb, and what it recommends: every command is run, and what it reports is what
was promised."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from match_core.cli.headline import headline, show_headline
from match_core.cli.terminal import Terminal
from match_report.samples import SEED, random_array

from benchmarks.breadth_models import Graph, float_network, quantised
from tests.envelope import opened

if TYPE_CHECKING:
    import subprocess

    Match = Callable[..., "subprocess.CompletedProcess[str]"]
    Run = Callable[..., "Done"]

SHAPE = (1, 8, 16, 16)


class Done:
    """A finished command: its document, or its text."""

    def __init__(self, process: subprocess.CompletedProcess[str]) -> None:
        self.code, self.text, self.errors = process.returncode, process.stdout, process.stderr

    @property
    def json(self) -> dict[str, Any]:
        """The document that it printed."""
        return opened(self.text)


@pytest.fixture
def run(match_command: Match, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a whole command line in the folder of the models."""
    monkeypatch.chdir(tmp_path)

    def run(command: str, *more: str) -> Done:
        name, *arguments = shlex.split(command)
        assert name == "match", command
        return Done(match_command(*arguments, *more, "--quiet" if arguments[0] != "quantize" else "--json"))

    return run


def _two(graph: Graph) -> str:
    return graph.conv(graph.conv("x", 8, 16, (3, 3)), 16, 16, (3, 3))


def _grouped(graph: Graph) -> str:
    """The host runs the second convolution, and no change but one brings it to another unit."""
    return graph.conv(graph.conv("x", 8, 16, (3, 3)), 16, 16, (3, 3), group=2)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A float network, the same with a batch that is not fixed, and quantised ones."""
    folder = tmp_path_factory.mktemp("models")
    float_model = float_network(_two, SHAPE)
    onnx.save(float_model, str(folder / "float.onnx"))
    del float_model.graph.value_info[:]
    for value in (*float_model.graph.input, *float_model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch_size"
    onnx.save(float_model, str(folder / "any batch.onnx"))
    onnx.save(quantised(_two, SHAPE), str(folder / "tiny.onnx"))
    onnx.save(quantised(_grouped, SHAPE), str(folder / "grouped.onnx"))
    return folder


def test_each_verb_is_followed_by_the_next(models: Path, run: Run, tmp_path: Path) -> None:
    """From check to the report: each command is the last line of the one before it."""
    command, verbs = f"match check {models / 'tiny.onnx'} -t gap9 --precision fast", []
    while command:
        done = run(command)
        assert done.code == 0, done.errors
        lines = done.text.splitlines()
        assert lines[0].startswith("tiny on gap9: 0.") and " ms at 260 MHz (" in lines[0]
        assert "ne16 " in lines[1] and "l1 " in lines[1] and " of 114 KiB" in lines[1]
        assert max(map(len, lines[:3])) <= 80
        verbs.append(shlex.split(command)[1])
        command = lines[-1].removeprefix("next: ") if lines[-1].startswith("next: ") else ""
    assert verbs == ["check", "verify", "compile", "report"]
    manifest = json.loads((tmp_path / "build" / "tiny" / "match.lock.json").read_text("utf-8"))
    assert manifest["options"]["precision"] == "fast"
    np.savez(tmp_path / "x.npz", x=np.zeros(SHAPE, np.float32))
    ran = run("match run build/tiny --inputs x.npz --outputs y.npz")
    assert "on the twin" in ran.text.splitlines()[0]
    assert ran.text.splitlines()[-1] == "next: match report build/tiny --inputs x.npz"


def test_the_document_has_the_same(models: Path, run: Run) -> None:
    document = run(f"match check {models / 'tiny.onnx'} -t gap9", "--json").json
    told = document["headline"]
    assert (told["model"], told["target"], told["target_chosen"]) == ("tiny", "gap9", "by name")
    assert told["cycles"] == document["predicted_cycles"] and told["cycles_from"] == "model"
    assert told["milliseconds"] == pytest.approx(told["cycles"] / 260e3)
    assert sum(told["units"].values()) == pytest.approx(1)
    assert {memory["name"]: memory["used_bytes"] for memory in told["memories"]} == {
        name: use["used"] for name, use in document["memory"].items()
    }


def test_a_float_network_is_to_be_quantised(models: Path, run: Run, tmp_path: Path) -> None:
    """With the same samples as the model of it, quantisation saves exactly what was promised."""
    done = run(f"match check {models / 'float.onnx'} -t gap9", "--json").json
    (advice,) = done["recommendations"]
    assert (advice["kind"], advice["command"]) == ("quantise", done["next"])
    arrays = random_array(np.random.default_rng(SEED), np.dtype(np.float32), (4, *SHAPE))
    np.savez(tmp_path / "X.npz", x=arrays)
    assert run(advice["command"]).code == 0
    after = run(f"match check {models / 'float_int8.onnx'} -t gap9", "--json").json
    assert after["predicted_cycles"] == done["predicted_cycles"] - advice["saves_cycles"] == done["quantised_cycles"]
    assert advice["saves_percent"] == pytest.approx(100 * advice["saves_cycles"] / done["predicted_cycles"])


def test_a_batch_that_is_not_fixed(models: Path, run: Run, tmp_path: Path) -> None:
    """The help is the whole command with the batch as 1, and what follows keeps it."""
    done = run(f"match check {shlex.quote(str(models / 'any batch.onnx'))} -t gap9", "--json")
    command = done.json["error"]["help"][0]
    assert command.startswith("match check ") and command.endswith("--dim batch_size=1")
    again = run(command)
    assert again.code == 0, again.errors
    following = again.json["next"]
    assert following.endswith("--dim batch_size=1")
    np.savez(tmp_path / "X.npz", x=np.ones((2, *SHAPE), np.float32))
    assert run(following).code == 0


def test_the_costliest_layers(models: Path, run: Run) -> None:
    """Each recommendation is what its command reports."""
    document = run(f"match explain {models / 'grouped.onnx'} -t gap9", "--json").json
    total, layers = document["headline"]["cycles"], document["layers"]
    assert [layer["cycles"] for layer in layers] == sorted((layer["cycles"] for layer in layers), reverse=True)
    first = layers[0]
    assert (first["node"], first["unit"], first["limit"]) == ("conv_2", "host", "compute")
    assert first["help"]["kind"] == "unit" and 0 < first["saves_cycles"] <= first["cycles"]
    kinds = {advice["kind"]: advice for advice in document["recommendations"]}
    assert set(kinds) == {"unit", "precision", "inputs"}
    saved = [advice["saves_cycles"] for advice in document["recommendations"]]
    assert saved == sorted(saved, reverse=True) and min(saved) > 0
    after = run(kinds["precision"]["command"], "--json").json["predicted_cycles"]
    assert after == total - kinds["precision"]["saves_cycles"]
    unit = kinds["unit"]
    assert "there is one group, but there are 2 groups" in unit["cause"]
    assert document["next"] == unit["command"]
    explained = run(unit["command"], "--json").json
    change = explained["flip"]["change"]
    assert (change["parameter"], change["before"], change["after"]) == ("groups", "2", "1")
    assert change["cycles_before"] - change["cycles_after"] == unit["saves_cycles"]
    assert explained["next"] == f"{unit['command'].partition(' -t')[0]} --apply layer.onnx -t gap9"


def test_a_layer_that_a_unit_nearly_took(models: Path, run: Run, tmp_path: Path) -> None:
    """The saving of another unit is what its command reports, and the layer that it writes takes that many cycles."""
    document = run(f"match check {models / 'grouped.onnx'} -t gap9", "--json").json
    advice = next(entry for entry in document["recommendations"] if entry["kind"] == "unit")
    assert advice["change"] == "groups 2 -> 1 moves conv_2 from host to ne16"
    explained = run(advice["command"], "--json").json
    change = explained["flip"]["change"]
    assert advice["saves_cycles"] == change["cycles_before"] - change["cycles_after"] > 0
    applied = run(explained["next"])
    assert applied.code == 0 and (tmp_path / "layer.onnx").is_file(), applied.errors
    alone = run("match check layer.onnx -t gap9", "--json").json
    assert alone["predicted_cycles"] == change["cycles_after"]
    assert change["unit_after"] in {layer["unit"] for layer in alone["layers"]}


@pytest.mark.parametrize(
    ("options", "kind"),
    [("", "inputs"), ("--without-unit ne16 --without-unit cluster", "disabled"), ("--only-unit host", "disabled")],
)
def test_an_option_saves_what_its_recommendation_says(options: str, kind: str, models: Path, run: Run) -> None:
    document = run(f"match check {models / 'tiny.onnx'} -t gap9 {options}", "--json").json
    (advice,) = (entry for entry in document["recommendations"] if entry["kind"] == kind)
    after = run(advice["command"], "--json").json
    assert after["predicted_cycles"] == document["predicted_cycles"] - advice["saves_cycles"]
    assert 0 < advice["saves_cycles"] <= document["predicted_cycles"] and advice["cause"]


def test_a_float_network_fits_in_8_bits(models: Path, run: Run, tmp_path: Path) -> None:
    """It is refused; quantised with the same samples, it takes the cycles that were promised."""
    document = run(f"match check {models / 'float.onnx'} -t gap9 --memory l2=44kB", "--json").json
    assert document["error"] is not None and document["layers"] == []
    (advice,) = document["recommendations"]
    promised = int(advice["change"].rpartition(" takes ")[2].removesuffix(" cycles").replace(",", ""))
    np.savez(tmp_path / "X.npz", x=random_array(np.random.default_rng(SEED), np.dtype(np.float32), (4, *SHAPE)))
    done = run(advice["command"])
    assert done.code == 0, done.errors
    assert done.json["next"] == f"match operators {models / 'float_int8.onnx'}"
    after = run(f"match check {models / 'float_int8.onnx'} -t gap9 --memory l2=44kB", "--json").json
    assert after["predicted_cycles"] == promised and after["error"] is None


def test_changes_that_make_budgets_hold(models: Path, run: Run) -> None:
    """Each suggestion of fit is a command that succeeds and reports what was said."""
    check = run(f"match check {models / 'tiny.onnx'} -t gap9", "--json").json
    cycles, used = check["predicted_cycles"], check["memory"]["l2"]["used"]
    command = f"match fit {models / 'tiny.onnx'} -t gap9 --sequential --budget cycles={cycles - 1} --budget l2={used}"
    document = run(command, "--json").json
    assert not document["ok"]
    changes = (*document["changes"], *document["smallest"])
    assert {"--quantized-io", "--precision", "--budget"} <= {change["options"][0] for change in changes}
    assert document["next"] in [change["command"] for change in changes]
    for change in changes:
        done = run(change["command"], "--json")
        assert done.code == 0, change["command"]
        needs = {need["budget"]: need["amount"] for need in done.json["needs"]}
        assert all(needs[need["budget"]] == need["amount"] for need in change["needs"] if need["budget"] in needs)


@pytest.mark.parametrize("name", ["float.onnx", "grouped.onnx"])
def test_commands_below_fallbacks_run(name: str, models: Path, run: Run, tmp_path: Path) -> None:
    """As check, compile and verify print them."""
    np.savez(tmp_path / "X.npz", x=np.ones((2, *SHAPE), np.float32))
    text = run(f"match verify {models / name} -t gap9").text
    commands = [line.removeprefix("    help: ") for line in text.splitlines() if line.startswith("    help: match ")]
    assert commands
    for command in commands:
        done = run(command)
        assert done.code == 0, done.errors


def test_budgets_that_hold(models: Path, run: Run, tmp_path: Path) -> None:
    document = run(f"match fit {models / 'tiny.onnx'} -t gap9 --budget l2=60k --budget latency=1ms", "--json").json
    assert document["ok"] and [need["slack"] for need in document["needs"]] == [
        need["limit"] - need["amount"] for need in document["needs"]
    ]
    assert run(document["next"]).code == 0
    manifest = json.loads((tmp_path / "build" / "tiny" / "match.lock.json").read_text("utf-8"))
    assert manifest["options"]["memory"] == {"l2": 60000}


def _report(clock: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    memories = [{"name": f"ram{i}", "used_bytes": size, "available_bytes": 3 * size} for i, size in enumerate(SIZES)]
    layers = [{"unit": "host", "predicted_cycles": 3}, {"unit": "npu", "predicted_cycles": 7000}]
    report = {"name": "n", "target": {"name": "chip", "clock_hz": clock}, "measured": None, "predicted_cycles": 7003}
    return {**report, "layers": layers, "memories": memories, **changes}


SIZES = (0, 999, 1000, 1024 * 1023, 7 * 1024**3)


def test_what_is_not_known_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """No time without a published clock; no unit below half a percent."""
    for clock in (None, {"value": 1e9, "estimate": True}):
        told = headline(_report(clock), None)
        assert (told["milliseconds"], told["target_chosen"]) == (None, "only one installed")
        show_headline(Terminal(), told)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "n on chip (the only target installed): 7,003 cycles, modelled"
        assert lines[1] == "  npu 100%; ram0 0 bytes of 0 bytes, ram1 999 bytes of 2.927 KiB,"
        assert lines[2] == "  ram2 1000 bytes of 2.93 KiB, ram3 1023 KiB of 2.997 MiB, ram4 7 GiB of 21 GiB"


def test_the_twin_counts_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Threads count no cycles on the twin."""
    clock = {"value": 5e8, "estimate": False}
    told = headline(_report(clock, measured={"cycles": 500_000, "units": {"npu": 400_000}}), "chip")
    assert (told["cycles"], told["milliseconds"], told["units"]) == (500_000, 1.0, {"npu": 0.8})
    none = headline(_report(clock, measured={"cycles": 0, "units": {}}), "chip")
    assert (none["cycles"], none["cycles_from"]) == (7003, "model")
