"""The one place that calls CP-SAT: answers do not depend on who watches."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from match_core.contract.observe import NullObserver
from match_core.cp_sat import solve
from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from match_core.contract.observe import Facts


class _Notes(NullObserver):
    def __init__(self) -> None:
        self.facts: list[Facts] = []

    def progress(self, facts: Facts) -> None:
        self.facts.append(facts)


def _knapsack(limit: int) -> tuple[cp_model.CpModel, list[Any]]:
    """The dearest of 24 things within a limit, as the least loss."""
    model = cp_model.CpModel()
    sizes = [37 + 11 * i % 29 for i in range(24)]
    worths = [53 + 17 * i % 31 for i in range(24)]
    taken = [model.new_bool_var(f"t{i}") for i in range(24)]
    model.add(sum(size * take for size, take in zip(sizes, taken, strict=True)) <= limit)
    model.minimize(sum(worths) - sum(worth * take for worth, take in zip(worths, taken, strict=True)))
    return model, taken


def test_a_watch_changes_nothing_and_is_told_of_every_better_answer() -> None:
    watch = _Notes()
    found = []
    for observer in (None, watch):
        model, taken = _knapsack(500)
        answer = solve(model, 2.0, observer)
        assert answer.values is not None and answer.optimal
        found.append(([answer.values.boolean_value(take) for take in taken], answer.bound, answer.seconds))
    assert found[0] == found[1]
    values = [facts["solver"] for facts in watch.facts]
    assert values == sorted(values, reverse=True) and values[-1] == found[0][1]
    assert all(int(facts["bound"]) <= int(facts["solver"]) for facts in watch.facts)


def test_nothing_is_proven_impossible() -> None:
    model, taken = _knapsack(500)
    model.add(sum(taken) >= 20)
    answer = solve(model, 2.0)
    assert answer.values is None and answer.infeasible and not answer.optimal


def test_an_interrupt_ends_a_search() -> None:
    """The handler is Python's before, during and after; CP-SAT's own would swallow the first and leave none."""
    model = cp_model.CpModel()  # 12 pigeons in 11 holes, told so that counting does not help: hours of search
    at = [[model.new_bool_var(f"{p}in{h}") for h in range(11)] for p in range(12)]
    for pigeon in at:
        model.add_bool_or(pigeon)
    for hole in zip(*at, strict=True):
        for i, one in enumerate(hole):
            for other in hole[:i]:
                model.add_bool_or(~one, ~other)
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        solve(model, 1e6, cp_model_presolve=False, symmetry_level=0, linearization_level=0)
    assert 0.4 < time.monotonic() - started < 60  # at once where the machine is free
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_pandas_is_imported_by_functions_on_series_only() -> None:
    code = """
import sys
from match_core.cp_sat import load_cp_model
module = load_cp_model()
model = module.CpModel()
model.minimize(model.new_int_var(2, 5, "x"))
print(module.CpSolver().solve(model) == module.OPTIMAL, "pandas" in sys.modules)
import pandas
series = model.new_bool_var_series("b", pandas.Index(["p", "q"]))
print(isinstance(series, pandas.Series), load_cp_model() is module)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True", "True"]
