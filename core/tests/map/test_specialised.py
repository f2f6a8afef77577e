"""The start in which units specialise."""

from __future__ import annotations

from itertools import combinations

import pytest
from match_concurrent.mapping import rounds
from match_concurrent.mapping.choose import evaluators_of, staged
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.share_options import share_options_of
from match_concurrent.mapping.start import specialised_runs
from match_map.mapper import choose as choose_cover

from core.tests.map.concurrent_lab import evaluator_of
from core.tests.map.rows import Lab, Price, lab
from core.tests.map.test_joint_search import QUICK

UNITS = {"host": Price(10**6, 9000), "one": Price(10, 1000), "two": Price(300, 1500)}
CHAIN = {"a": ["in"], "b": ["a"], "c": ["b"], "d": ["c"]}


def stages_of(made: Lab) -> int:
    """The finish of the stages' result."""
    options = ConcurrentOptions(**{**QUICK, "parallel": "pipeline"})
    sequential = choose_cover(made.model, made.offered)
    return staged(evaluators_of(made.model, made.offered, made.scheduler, sequential, options), options)[0].finish


def test_a_start_in_which_units_specialise_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain in which the units take turns: only one of them can run the second and the fourth operator, and only the
    other one the first."""
    only = {"a": ["host", "two"], "b": ["host", "one"], "c": ["host", "one", "two"], "d": ["host", "one"]}
    made = lab(CHAIN, UNITS, rows=8, columns=6, halo=1, only=only)
    found = stages_of(made)
    monkeypatch.setattr(rounds, "apart", lambda *_: None)
    assert found <= 0.98 * stages_of(made)


def test_runs_of_operators_get_the_ideal_division_of_their_own_work() -> None:
    """In the run of "a" and "b", which one unit each can run besides the host, both work at the same time; operators
    outside of a run keep their divisions."""
    only = {"a": ["host", "two"], "b": ["host", "one"]}
    evaluator = evaluator_of(lab(CHAIN, UNITS, rows=8, columns=6, halo=1, only=only))
    network = evaluator.network
    options = [share_options_of(o, network.along(o), evaluator, cuts=True, only_known=False) for o in network.operators]
    whole = tuple((Part(operator.offers[0]),) for operator in network.operators)
    made = list(specialised_runs(whole, options, evaluator))
    changed = {tuple(n for n, d in enumerate(choice) if d != whole[n]) for choice in made}
    assert {(0, 1), (1, 2, 3), (0, 1, 2, 3)} <= changed <= {tuple(range(*ends)) for ends in combinations(range(5), 2)}
    first = next(choice for choice in made if choice[2:] == whole[2:])
    units = [{network.offered[part.offer].candidate.unit for part in division} for division in first[:2]]
    assert units == [{"two"}, {"one"}]
    for choice in made:
        assert [sum(part.size for part in division) for division in choice if division[0].dim] == [
            network.along(operator)[0].size
            for operator, division in zip(network.operators, choice, strict=True)
            if division[0].dim
        ]
