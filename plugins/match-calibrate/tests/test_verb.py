"""The verb from end to end: counters in, a figures file that compiler and twin read, a page, and coded refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
from calibration_programs import DEMO, Programs
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import units_of_program

from tests.envelope import opened
from tests.errors import models

Command = Callable[..., "CompletedProcess[str]"]
OFFLOAD = ("cluster", "cluster_offload_cycles")
TRUE = {OFFLOAD: 8000}


@pytest.fixture(scope="module")
def calibrated(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a figures file that was fitted to exact counters."""
    from match_calibrate.plugin import match_commands

    folder = tmp_path_factory.mktemp("calibrated")
    options = programs.write(programs.true_cycles(TRUE), folder)
    command = match_commands()[0].load()
    pairs = options[1::2]
    assert command([DEMO], pairs, "gap9", folder / "figures.json", None, False, True) == 0
    return folder


def test_the_file_says_what_was_fitted_and_what_was_kept(calibrated: Path) -> None:
    document = json.loads((calibrated / "figures.json").read_text("utf-8"))
    assert (document["schema"], document["target"], document["preset"]) == ("match.figures", "gap9", "engine")
    (row,) = document["figures"]
    assert (row["unit"], row["constant"], row["value"], row["in"]) == (*OFFLOAD, 8000, "cycles")
    assert document["errors"]["before"] > 0.1 and document["errors"]["after"] < 0.001
    assert document["errors"]["cross_validated"] < 0.01
    assert "cluster.sdk_add_quad_cycles" in document["kept"]["not_determined"]
    assert "cluster.sdk_wide_row_cycles" in document["kept"]["not_in_any_layer"]
    assert [run["layers"] for run in document["counters"]] == [18, 18]


def test_the_page_needs_no_network(calibrated: Path) -> None:
    page = (calibrated / "figures.html").read_text("utf-8")
    assert "default-src 'none'" in page and "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert page.count("<tr>") > 36 and "cluster.cluster_offload_cycles" in page


def test_compiler_and_twin_use_the_file(
    calibrated: Path, match_command: Command, installed: Plugins, tmp_path: Path
) -> None:
    options = ("-t", "gap9", "--sequential", "--figures", calibrated / "figures.json")
    document = opened(match_command("verify", DEMO, *options, "--json").stdout)
    assert document["ok"] and document["preset"] == "engine"
    slow = [node for node in document["nodes"] if node["unit"] != "host" and node["cycles"]]
    assert slow and all(node["cycles"] >= 8000 for node in slow)
    assert document["cycles"]["total"] == pytest.approx(document["predicted_cycles"], rel=0.02)
    assert match_command("compile", DEMO, *options, "-o", tmp_path / "build").returncode == 0
    manifest = json.loads((tmp_path / "build" / "match.lock.json").read_text("utf-8"))
    assert manifest["options"]["figures"] == [[*OFFLOAD, 8000]]
    _, apis = units_of_program(manifest, installed)
    headers = "".join(header.text for header in apis["cluster"].twin.headers)
    assert "MATCH_GAP9_CLUSTER_OFFLOAD_CYCLES 8000u" in headers  # what match run builds with


def test_the_verb_writes_file_and_page(programs: Programs, match_command: Command, tmp_path: Path) -> None:
    pairs = programs.write(programs.true_cycles(TRUE), tmp_path)
    file, page = tmp_path / "made.json", tmp_path / "made.html"
    done = match_command("calibrate", DEMO, "--target", "gap9", *pairs, "--output", file, "--page", page, "--quiet")
    assert done.returncode == 0 and file.is_file() and page.is_file(), done.stderr
    done = match_command("calibrate", DEMO, "-t", "gap9", *pairs, "-o", file, "-q")
    assert done.returncode == 0 and json.loads(file.read_text("utf-8"))["figures"]


def test_every_verb_that_models_takes_the_file(match_command: Command, tmp_path: Path) -> None:
    model, file = models.relu(tmp_path / "model.onnx"), tmp_path / "figures.json"
    row = {"unit": "host", "constant": "host_call_cycles", "value": 777}
    stated = {"schema": "match.figures", "schema_version": 1, "target": "host", "preset": "generic", "figures": [row]}
    file.write_text(json.dumps(stated), "utf-8")
    checked = match_command("check", model, "-t", "host", "--figures", file, "--json")
    assert opened(checked.stdout)["predicted_cycles"] > 777
    explained = match_command("explain", model, "activation", "-t", "host", "--figures", file, "--json")
    assert opened(explained.stdout)["considered"][0]["predicted_cycles"] > 777
    fitted = match_command("fit", model, "-t", "host", "--figures", file, "--budget", "ram=64k", "--json")
    assert fitted.returncode == 0, fitted.stderr


def test_a_page_escapes_what_models_are_named(calibrated: Path) -> None:
    from match_calibrate.page import html_page

    document = json.loads((calibrated / "figures.json").read_text("utf-8"))
    row = {"program": "<b>", "index": 0, "title": "</td><script>alert(1)</script>", "unit": "host", "pattern": "x"}
    row |= {"measured": 1, "before": 1, "after": 1, "error_before": 0.0, "error_after": 0.0}
    page = html_page(document, [row])
    assert "<script" not in page and "&lt;b&gt;" in page


def _refused(match_command: Command, *arguments: str | Path) -> dict[str, str]:
    done = match_command("calibrate", *arguments, "--json")
    assert done.returncode == 2, done.stderr
    error: dict[str, str] = opened(done.stdout)["error"]
    return error


def test_refusals_have_reasons(programs: Programs, match_command: Command, tmp_path: Path) -> None:
    fast = programs.folder / "fast"

    def refused(text: str, *more: str | Path, name: str = "counters.csv") -> tuple[str, str]:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        arguments = (DEMO, "--counters", f"{fast}={path}", "-o", tmp_path / "out.json", *more)
        error = _refused(match_command, *arguments)
        assert not (tmp_path / "out.json").exists() and not (tmp_path / "out.html").exists()
        return error["code"], error["why"]

    rows = [(item.index, item.cycles) for item in programs.layers[0]]
    good = "\n".join(["index,cycles", *(f"{index},{cycles:.0f}" for index, cycles in rows)])
    head = "\n".join(good.splitlines()[:5])
    code, why = refused(head)
    assert code == "MATCH-U075" and "at least 8 must" in why
    code, why = refused(f"{good}\ntotal,5000")
    assert code == "MATCH-U073"  # an index column has no totals
    titled = good.replace("index,", "layer,", 1)
    code, why = refused(f"{titled}\ntotal,5000")
    assert code == "MATCH-U076" and "the whole run 5,000" in why
    numbers = np.random.default_rng(0).permutation([cycles for _, cycles in rows])
    shuffled = "\n".join(["index,cycles", *(f"{row[0]},{n:.0f}" for row, n in zip(rows, numbers, strict=True))])
    assert refused(shuffled)[0] == "MATCH-U076"
    assert refused(f"{good}\n999,3")[0] == "MATCH-U074"
    assert refused(f"{good}\n{rows[0][0]},3")[0] == "MATCH-U074"
    code, why = refused("layer,cycles\nno such layer,3")
    assert code == "MATCH-U074" and "not in the program" in why
    code, why = refused(f"index,unit,cycles\n{rows[0][0]},ne17,3")
    assert code == "MATCH-U074" and "ne17" in why
    assert refused(good, "-t", "carfield")[0] == "MATCH-U074"


def test_another_model_or_directory(programs: Programs, match_command: Command, tmp_path: Path) -> None:
    from tests.end_to_end.models import QdqBuilder

    other = QdqBuilder(32, 16, 24, 24).conv(32, 3).save(tmp_path / "other.onnx")
    counters = f"{programs.folder / 'fast'}={programs.folder / 'fast.csv'}"
    assert _refused(match_command, other, "--counters", counters)["code"] == "MATCH-U074"
    assert _refused(match_command, DEMO, "--counters", "fast")["code"] == "MATCH-U074"
    assert _refused(match_command, DEMO, "--counters", f"{tmp_path}={tmp_path}")["code"] in ("MATCH-U030", "MATCH-U073")
