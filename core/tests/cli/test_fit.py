"""``match fit`` as a gate: what is needed, and that what it proposes really fits."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site

#: Input, output and two tensors between three operators, of which the second overwrites the first: 256 floats each.
TENSOR_BYTES = 1024


@pytest.fixture(autouse=True)
def _example(site: Site) -> None:
    site.install_example()


@pytest.fixture
def model(make_model: MakeModel) -> Path:
    return make_model(operators=("Relu", "Sigmoid", "Relu"))


def _needs(document: dict[str, Any]) -> dict[str, int]:
    return {need["budget"]: need["amount"] for need in document["needs"]}


def test_a_model_that_fits(match: Match, model: Path) -> None:
    done = match("fit", model, "-t", "example", "--budget", "ram=8kB", "--budget", "cycles=1M", "--json")
    assert (done.code, done.json["ok"], done.json["changes"]) == (0, True, []), done.err
    cycles = match("check", model, "-t", "example", "--json").json["predicted_cycles"]
    assert _needs(done.json) == {"ram": 3 * TENSOR_BYTES, "cycles": cycles}
    assert match("fit", model, "-t", "example", "--budget", f"cycles={cycles}").code == 0
    assert match("fit", model, "-t", "example", "--budget", f"cycles={cycles - 1}").code == 1


def test_the_smallest_memory_is_proposed_and_fits(match: Match, model: Path) -> None:
    done = match("fit", model, "-t", "example", "--budget", "ram=2kB", "--json")
    assert (done.code, done.json["ok"]) == (1, False)
    assert done.json["error"]["code"] == "MATCH-M001"
    assert _needs(done.json) == {"ram": 3 * TENSOR_BYTES}, "of a program that may use the whole chip"
    options = done.json["changes"][-1]["options"]
    name, amount = options[1].split("=")
    assert (options[0], name) == ("--budget", "ram")
    assert 2 * TENSOR_BYTES <= int(amount) <= 2 * TENSOR_BYTES * 1.01, "one loop over all operators needs its ends only"
    assert match("fit", model, "-t", "example", *options).code == 0


def test_several_budgets_that_are_all_too_small(match: Match, model: Path) -> None:
    budgets = ("--budget", "ram=2kB", "--budget", "cycles=10")
    done = match("fit", model, "-t", "example", *budgets, "--json")
    (change,) = done.json["changes"]
    assert [need["ok"] for need in done.json["needs"]] == [False, False]
    assert match("fit", model, "-t", "example", *change["options"]).code == 0
    told = match("fit", model, "-t", "example", *budgets, "--quiet")
    assert told.code == 1
    assert f"it would fit with {' '.join(change['options'])}" in told.out


def test_the_smallest_budgets_and_the_next_command(match: Match, model: Path) -> None:
    """Each command that is suggested fits."""
    document = match("fit", model, "-t", "example", "--budget", "ram=2kB", "--budget", "cycles=10", "--json").json
    smallest = {change["needs"][0]["budget"]: change for change in document["smallest"]}
    assert set(smallest) == {"ram", "cycles"}
    assert document["next"] == document["changes"][0]["command"]
    for change in smallest.values():
        name, verb, *arguments = shlex.split(change["command"])
        assert (name, verb, match(verb, *arguments).code) == ("match", "fit", 0)
        option, _, amount = change["options"][-1].partition("=")
        assert option != "cycles" or match("check", model, "-t", "example", "--json").json["predicted_cycles"] == int(
            amount
        )
    fits = match("fit", model, "-t", "example", "--budget", "ram=8kB", "--json").json
    assert [need["slack"] for need in fits["needs"]] == [8000 - 3 * TENSOR_BYTES]
    assert fits["smallest"] == []
    assert match(*shlex.split(fits["next"])[1:]).code == 0


@pytest.mark.parametrize("budget", ["ram", "ram=", "ram=0", "ram=fast", "flash=3kB", "latency=10", "latency=10ms"])
def test_a_budget_that_cannot_be_used(match: Match, model: Path, budget: str) -> None:
    done = match("fit", model, "-t", "example", "--budget", budget, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U034")
    assert budget in done.json["error"]["where"]


def test_a_latency_is_cycles_of_the_clock() -> None:
    from match_core.contract.hardware import Constant, Memory, Soc
    from match_report.advice.budget import parse_budget

    clock = Constant("clock", 200e6, "Hz", "made up")
    soc = Soc("chip", "", "host", ("host",), (Memory("ram", 1, 1024),), (), "ram", clock_hz=clock)
    budget = parse_budget("latency=1.5ms", soc)
    assert (budget.limit, budget.told(300_000)) == (300_000, "1.50 ms")
    assert parse_budget(budget.option(300_001).split()[1], soc).limit >= 300_001, "rounded up"
