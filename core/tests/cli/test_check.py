"""``match check``, ``match operators`` and ``match doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


def test_a_model_that_can_run(match: Match, make_model: MakeModel) -> None:
    done = match("check", make_model(operators=("Relu", "Sigmoid")), "-t", "example", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["verb"], document["ok"], document["error"]) == ("check", True, None)
    assert [(layer["operators"], layer["unit"]) for layer in document["layers"]] == [
        (["Relu"], "relu_unit"),
        (["Sigmoid"], "host"),
    ]
    assert document["predicted_cycles"] == sum(layer["predicted_cycles"] for layer in document["layers"])
    assert document["memory"]["ram"]["used"] == 3 * 1024
    assert list(match.directory.iterdir()) == [], "nothing is written"


def test_why_a_unit_does_not_run_a_node(match: Match, make_model: MakeModel) -> None:
    done = match("check", make_model(dtype="DOUBLE"), "-t", "example", "--json")
    assert done.code == 0, done.err
    (place,) = done.json["refused"]
    rule = {"rule": "elements are float32", "value": "elements are float64"}
    assert place == {"unit": "relu_unit", "pattern": "relu", "onnx_names": ["Relu_0"], "rules": [rule]}
    assert done.json["layers"][0]["unit"] == "host"


def test_a_model_that_cannot_run(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Sigmoid"))
    for options, code in ((("--without-unit", "host"), "MATCH-P001"), (("--memory", "ram=2kB"), "MATCH-M001")):
        done = match("check", model, "-t", "example", *options, "--json")
        assert (done.code, done.json["ok"], done.json["error"]["code"]) == (1, False, code)
        assert done.json["layers"] == []
        told = match("check", model, "-t", "example", *options, "--quiet")
        assert told.code == 1
        assert told.err.startswith(f"error: {code}")
        assert told.out.splitlines()[-1] == "net cannot run on example"


def test_the_matrix_of_operators(match: Match, make_model: MakeModel) -> None:
    done = match("operators", make_model(operators=("Relu", "Sigmoid", "Relu")), "--json")
    assert done.code == 0, done.err
    document = done.json
    assert document["operators"] == [{"operator": "Relu", "nodes": 2}, {"operator": "Sigmoid", "nodes": 1}]
    cells = {(c["target"], c["unit"], c["operator"]): (c["taken"], c["nodes"]) for c in document["cells"]}
    assert cells["example", "relu_unit", "Relu"] == (2, 2)
    assert cells["example", "relu_unit", "Sigmoid"] == (0, 1)
    assert cells["host", "host", "Sigmoid"] == (1, 1)
    lines = match("operators", make_model(operators=("Relu",))).out.splitlines()
    assert lines[0].endswith("; most on units other than the host: 1 of 1 on example")
    assert lines[1] == "example: nodes that a unit can run"
    assert lines[3].split() == ["Relu", "1", "1/1", "1/1"]


def test_a_healthy_machine(match: Match) -> None:
    done = match("doctor", "--json")
    assert done.code == 0, done.out
    found = {finding["name"]: finding["status"] for finding in done.json["findings"]}
    assert found["C compiler"] == found["target example"] == found["onnxruntime"] == "ok"


def test_a_machine_without_a_compiler(match: Match) -> None:
    done = match("doctor", "--json", CC="no-such-compiler")
    assert (done.code, done.json["ok"]) == (1, False)
    (compiler,) = (finding for finding in done.json["findings"] if finding["name"] == "C compiler")
    assert compiler["status"] == "missing" and "no-such-compiler" in compiler["detail"] and compiler["help"]
    failing = match("doctor", CC="false")
    assert failing.code == 1
    assert failing.out.startswith("something required is missing: ") and "next: " not in failing.out
