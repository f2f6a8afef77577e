"""The start in which units specialise."""

from __future__ import annotations

import pytest
from match_concurrent.mapping import rounds
from match_concurrent.mapping.choose import evaluators_of, staged
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_map.mapper import choose as choose_cover

from core.tests.map.rows import Lab, Price, lab
from core.tests.map.test_joint_search import QUICK


def stages_of(made: Lab) -> int:
    """The finish of the stages' result."""
    options = ConcurrentOptions(**{**QUICK, "parallel": "pipeline"})
    sequential = choose_cover(made.model, made.offered)
    return staged(evaluators_of(made.model, made.offered, made.scheduler, sequential, options), options)[0].finish


def test_a_start_in_which_units_specialise_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain in which the units take turns: only one of them can run the second and the fourth operator, and only the
    other one the first."""
    units = {"host": Price(10**6, 9000), "one": Price(10, 1000), "two": Price(300, 1500)}
    only = {"a": ["host", "two"], "b": ["host", "one"], "c": ["host", "one", "two"], "d": ["host", "one"]}
    made = lab({"a": ["in"], "b": ["a"], "c": ["b"], "d": ["c"]}, units, rows=8, columns=6, halo=1, only=only)
    found = stages_of(made)
    monkeypatch.setattr(rounds, "apart", lambda *_: None)
    assert found <= 0.98 * stages_of(made)
