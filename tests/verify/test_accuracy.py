"""``match verify`` on a network that a target's arithmetic ruins: caught, accepted, repaired."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.exactness import ExactRequest
from match_core.contract.model import Model
from match_core.contract.passes import Observer, Pass, Phase
from match_verify.choose import choose
from match_verify.judge import AccuracyError
from onnx import TensorProto, helper

from tests.envelope import opened
from tests.verify.lossy import SHAPE, inexact, ruined

Match = Callable[..., subprocess.CompletedProcess[str]]
DIANA = ("-t", "diana", "--quiet")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ruined(tmp_path_factory.mktemp("lossy") / "ruined.onnx")


def _document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    document: dict[str, Any] = opened(done.stdout)
    return document


def test_a_ruined_network_is_caught_and_its_layer_named(match_command: Match, model: Path) -> None:
    done = match_command("verify", model, *DIANA)
    assert done.returncode == 1
    assert "error: MATCH-V001" in done.stderr
    assert "the first layer below 20 dB is conv0: 1" in done.stderr
    assert "match verify ruined.onnx -t diana --max-loss 20" in done.stderr
    assert "--without-pass diana_power_of_two" in done.stderr
    assert "FAILED: the program is bit exact against the integer graph, but too far" in done.stdout


def test_the_same_in_json(match_command: Match, model: Path) -> None:
    done = match_command("verify", model, *DIANA, "--json")
    document = _document(done)
    assert (done.returncode, document["ok"], document["bit_exact"]) == (1, False, True)
    assert document["error"]["code"] == "MATCH-V001"
    (loss,) = document["loss"]["outputs"].values()
    assert loss["sqnr_db"] < 20 and not loss["ok"] and loss["rows"] == 4 and not loss["agreement_judged"]
    assert [layer["nodes"] for layer in document["layers"]][:2] == [["conv0"], ["conv5"]]
    assert max(document["layers"], key=lambda layer: layer["drop_db"] or 0)["nodes"] == ["conv5"]


def test_a_loss_is_accepted(match_command: Match, model: Path) -> None:
    document = _document(match_command("verify", model, *DIANA, "--accept-loss", "--layers", "--json"))
    assert document["ok"] and document["error"] is None
    assert document["loss"]["accepted"] and not document["loss"]["ok"]
    assert len(document["layers"]) == 5


def test_a_limit_of_loss_repairs_it(match_command: Match, model: Path) -> None:
    done = match_command("verify", model, *DIANA, "--max-loss", "25", "--json")
    document = _document(done)
    assert done.returncode == 0 and document["ok"], done.stderr
    choice = document["max_loss"]
    assert choice["exact"] == ["conv0", "conv5"]
    (loss,) = document["loss"]["outputs"].values()
    assert loss["sqnr_db"] >= 25 and choice["sqnr_db"] == pytest.approx(loss["sqnr_db"])
    assert document["cycles"]["units"]["digital"] > 0, "layers that lose little stay on the array"
    assert all(row["cycles_exact"] > row["cycles"] for row in choice["layers"])


def test_the_choice_is_recorded_and_can_be_given(match_command: Match, model: Path, tmp_path: Path) -> None:
    samples = np.random.default_rng(5).integers(-128, 128, (6, 1, *SHAPE)).astype(np.int8)
    np.savez(tmp_path / "x.npz", input=samples)
    folder = tmp_path / "chosen"
    done = match_command(
        "compile", model, "-t", "diana", "-o", folder, "--max-loss", "25", "--samples", tmp_path / "x.npz", "--json"
    )
    assert _document(done)["max_loss"]["exact"] == ["conv0", "conv5"]
    options = json.loads((folder / "report.json").read_text("utf-8"))["options"]
    assert (options["exact"], options["max_loss"]) == (["conv0", "conv5"], 25)
    again = match_command(
        "compile", model, "-t", "diana", "-o", tmp_path / "again", "--exact", "conv0", "--exact", "conv5", "--quiet"
    )
    assert again.returncode == 0
    same = [path.name for path in sorted(folder.glob("*.[ch]"))]
    assert same
    for name in same:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_what_exact_arithmetic_does_not_reach_is_an_error() -> None:
    """A pass that multiplies by 1.02 whatever is exact: 33.98 dB."""
    source, other = (_scaled(factor) for factor in (1.0, 1.02))
    lossy = Pass("lossy", Phase.INTEGER, lambda model, context: other, "scales", exact=None, lossy=True)

    def transform(exact: tuple[str, ...], observers: Sequence[Observer]) -> Model:
        for observer in observers:
            observer.after_pass(lossy, source, other)
        return other

    with pytest.raises(AccuracyError) as caught:
        choose(ExactRequest(source, 50.0, None, transform, lambda exact: []))
    assert caught.value.code == "MATCH-V002"
    assert caught.value.help[0] == "allow more noise: --max-loss 33.9"
    assert choose(ExactRequest(source, 33.9, None, transform, lambda exact: [])).exact == ()


def _scaled(factor: float) -> Model:
    x, y = (gs.Variable(name, np.float32, [1, 4]) for name in ("x", "y"))
    node = gs.Node("Mul", "scale", {}, [x, gs.Constant("factor", np.array([factor], np.float32))], [y])
    return Model("scaled", gs.Graph([node], [x], [y], opset=21))


def test_an_unknown_node_is_a_usage_error(match_command: Match, model: Path) -> None:
    done = match_command("verify", model, *DIANA, "--exact", "conv1", "--exact", "diana_power_of_two:conv0")
    assert done.returncode == 2
    assert "MATCH-U039" in done.stderr and "did you mean --exact conv10?" in done.stderr


def test_labels_without_samples_enough_are_not_judged(match_command: Match, tmp_path: Path) -> None:
    ends = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])]
    ends.append(helper.make_tensor_value_info("y", TensorProto.INT64, [1, 1]))
    graph = helper.make_graph([helper.make_node("ArgMax", ["x"], ["y"], axis=1)], "labels", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "l.onnx")
    document = _document(match_command("verify", tmp_path / "l.onnx", "-t", "host", "--quiet", "--json"))
    loss = document["loss"]["outputs"]["y"]
    assert (loss["sqnr_db"], loss["agreement"], loss["rows"], loss["equal"]) == (None, 1, 4, True)


def test_fast_requantisation_is_chosen_layer_by_layer(match_command: Match, tmp_path: Path) -> None:
    """``--precision fast`` on GAP9: layers whose rounding costs little stay in the units' 32-bit arithmetic."""
    model = inexact(tmp_path / "inexact.onnx")
    options = ("-t", "gap9", "--precision", "fast", "--sequential", "--quiet", "--json")
    cycles = []
    for number, limit in enumerate(("10", "60")):
        done = match_command("compile", model, "-o", tmp_path / str(number), *options, "--max-loss", limit)
        document = _document(done)
        assert document["max_loss"]["sqnr_db"] >= float(limit)
        cycles.append(document["predicted_cycles"])
    assert document["max_loss"]["exact"] == ["conv0", "conv5", "conv10"]
    assert cycles[0] < cycles[1]
