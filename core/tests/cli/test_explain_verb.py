"""``match explain`` on the example target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


def test_what_was_considered_and_the_margin(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu", "Sigmoid"))
    done = match("explain", model, "Relu_0", "-t", "example", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["operator"], document["folded"], document["without_pattern"]) == ("Relu", False, [])
    chosen = [entry for entry in document["considered"] if entry["chosen"]]
    assert [(entry["unit"], entry["predicted_cycles"]) for entry in chosen] == [("relu_unit", 94)]
    assert sum(chosen[0]["cost"].values()) == 94
    margin = document["margin"]
    assert margin["unit"] == "host"
    without = match("check", model, "-t", "example", "--without-unit", "relu_unit", "--json").json
    assert margin["cycles_without"] == without["predicted_cycles"] > margin["cycles"]


def test_the_change_is_applied(match: Match, make_model: MakeModel) -> None:
    model = make_model(operators=("Relu",))
    done = match("explain", model, "Relu_0", "-t", "example", "--apply", "layer.onnx", "--json")
    change = done.json["flip"]["change"]
    assert (change["unit_before"], change["unit_after"]) == ("relu_unit", "host")
    changed = match("check", "layer.onnx", "-t", "example", "--json").json
    assert [layer["unit"] for layer in changed["layers"]] == ["host"]
    assert changed["predicted_cycles"] == change["cycles_after"]


def test_a_node_that_nothing_else_runs(match: Match, make_model: MakeModel) -> None:
    done = match("explain", make_model(operators=("Sigmoid",)), "Sigmoid_0", "-t", "example", "--no-flip", "--quiet")
    assert done.code == 0
    assert done.out.splitlines()[-3:-1] == [
        "units without a pattern for it: relu_unit",
        "margin: no other unit runs it",
    ]


def test_an_unknown_node(match: Match, make_model: MakeModel) -> None:
    done = match("explain", make_model(operators=("Relu", "Sigmoid")), "relu0", "-t", "example", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U035")
    assert "Relu_0" in done.json["error"]["help"][0]


def test_a_place_that_cannot_be_written(match: Match, make_model: MakeModel) -> None:
    done = match("explain", make_model(), "Relu_0", "-t", "example", "--apply", "no/such/folder.onnx", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U045")
