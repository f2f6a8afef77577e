"""A search ends where its result exceeds the limit by more than refinement and overlap may gain."""

from __future__ import annotations

from typing import Any

import pytest
from match_concurrent.mapping import rounds as searching
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_map.mapper import choose

from core.tests.map.concurrent_lab import CHAIN, QUICK, TWO
from core.tests.map.rows import lab


def watched(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arguments of all calls of a function of the rounds, while these go on."""
    calls: list[Any] = []
    function = getattr(searching, name)

    def called(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **options)

    monkeypatch.setattr(searching, name, called)
    return calls


@pytest.mark.parametrize(("part", "refined"), [(0.999, True), (0.9, False)])
def test_results_in_vain_are_not_refined(part: float, refined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same result, a little or far above the limit: parts that are similar to the chosen ones are requested only
    where they may bring it below."""
    made = lab(CHAIN, TWO, rows=16, columns=8, halo=15)
    given = (made.model, made.offered, made.scheduler, choose(made.model, made.offered), ConcurrentOptions(**QUICK))
    whole = choose_concurrent(*given)
    assert whole is not None
    near = watched("_near", monkeypatch)
    found = choose_concurrent(*given, limit_cycles=int(whole.finish_cycles * part))
    assert found is not None and bool(near) == refined
    assert found.finish_cycles >= whole.finish_cycles


@pytest.mark.parametrize(("part", "solved"), [(1.05, True), (0.9, False)])
def test_windows_are_not_solved_for_results_in_vain(part: float, solved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lab(CHAIN, TWO, rows=16, columns=8, halo=15)
    given = (made.model, made.offered, made.scheduler, choose(made.model, made.offered), ConcurrentOptions(**QUICK))
    whole = choose_concurrent(*given)
    assert whole is not None
    windows = watched("solve_windows", monkeypatch)
    choose_concurrent(*given, limit_cycles=int(whole.finish_cycles * part))
    assert bool(windows) == solved
