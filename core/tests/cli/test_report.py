"""``match report``: the files, and what the twin adds."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site


@pytest.fixture
def program(site: Site, match: Match, make_model: MakeModel) -> Path:
    site.install_example()
    assert match("compile", make_model(operators=("Relu", "Sigmoid", "Relu")), "-t", "example", "-o", "out").code == 0
    return match.directory / "out"


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_tables_of_what_was_modelled(match: Match, program: Path) -> None:
    done = match("report", program, "--json")
    assert done.code == 0, done.err
    assert done.json["cycles"] is None
    report = json.loads((program / "report.json").read_text())
    rows = _rows(program / "report" / "layers.csv")
    assert [int(row["predicted_cycles"]) for row in rows] == [layer["predicted_cycles"] for layer in report["layers"]]
    assert sum(int(row["predicted_cycles"]) for row in rows) == done.json["predicted_cycles"]
    assert {row["twin_cycles"] for row in rows} == {""}
    memory = _rows(program / "report" / "memory.csv")
    spans = {row["id"]: (int(row["lower"]), int(row["upper"]), int(row["size"])) for row in memory}
    assert spans == {"activation_0": (0, 2, 1024), "activation_1": (1, 3, 1024)}
    assert len({row["offset"] for row in memory}) == 1, "the second layer overwrites its input"


def test_the_twin_is_measured(match: Match, program: Path) -> None:
    data = np.linspace(-1, 1, 256, dtype=np.float32)[np.newaxis]
    np.savez(match.directory / "in.npz", x=data)
    run = match("run", program, "--inputs", "in.npz", "--outputs", "out.npz", "--json").json
    for options in (("--twin",), ("--inputs", "in.npz")):
        done = match("report", program, *options, "-o", "report", "--json")
        assert (done.code, done.json["cycles"]) == (0, run["cycles"]["total"]), done.err
        rows = _rows(match.directory / "report" / "layers.csv")
        assert [int(row["twin_cycles"]) for row in rows] == [node["cycles"] for node in run["nodes"]]
        events = json.loads((match.directory / "report" / "trace.json").read_text())["traceEvents"]
        assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {"modelled", "tasks", "clocks"}


def test_twice_gives_the_same_bytes(match: Match, program: Path) -> None:
    contents = []
    for seed in ("1", "2"):
        assert match("report", program, "--twin", "-o", "report", PYTHONHASHSEED=seed).code == 0
        contents.append({p.name: p.read_bytes() for p in sorted((match.directory / "report").iterdir())})
    assert contents[0] == contents[1]


def test_a_place_that_cannot_be_written(match: Match, program: Path) -> None:
    (match.directory / "file").write_text("mine")
    done = match("report", program, "-o", "file/report", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U045")


def test_names_are_no_formulas(match: Match) -> None:
    from match_report.spreadsheet import layers_csv

    cost = {f"{part}_cycles": 0 for part in ("compute", "transfer", "launch", "sync", "overlapped")}
    numbers = dict.fromkeys(("macs", "input_bytes", "constant_bytes", "output_bytes"), 0)
    times = dict.fromkeys(("start_cycles", "end_cycles", "predicted_cycles"), 0)
    layer = {"index": 0, "title": '=cmd|"x"', "unit": "u", "pattern": "p", "view": False, **numbers, **times}
    text = layers_csv({"measured": None, "layers": [{**layer, "schedule": {"cost": cost, "steps": 1}}]})
    assert next(csv.DictReader(io.StringIO(text)))["title"] == '\'=cmd|"x"'
