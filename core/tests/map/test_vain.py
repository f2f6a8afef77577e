"""A search ends where its result exceeds the limit by more than refinement and overlap may gain."""

from __future__ import annotations

from typing import Any

import pytest
from match_concurrent.mapping import rounds as searching
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_map.mapper import choose

from core.tests.map.rows import lab
from core.tests.map.test_concurrent import CHAIN, QUICK, TWO


@pytest.mark.parametrize(("part", "refined"), [(0.999, True), (0.9, False)])
def test_results_in_vain_are_not_refined(part: float, refined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same result, a little or far above the limit: parts that are similar to the chosen ones are requested only
    where they may bring it below."""
    made = lab(CHAIN, TWO, rows=16, columns=8, halo=15)
    given = (made.model, made.offered, made.scheduler, choose(made.model, made.offered), ConcurrentOptions(**QUICK))
    whole = choose_concurrent(*given)
    assert whole is not None
    near: list[Any] = []
    found_near = searching._near

    def watched(*arguments: Any) -> Any:
        near.append(arguments)
        return found_near(*arguments)

    monkeypatch.setattr(searching, "_near", watched)
    found = choose_concurrent(*given, limit_cycles=int(whole.finish_cycles * part))
    assert found is not None and bool(near) == refined
    assert found.finish_cycles >= whole.finish_cycles


@pytest.mark.parametrize(("part", "solved"), [(1.05, True), (0.9, False)])
def test_windows_are_not_solved_for_results_in_vain(part: float, solved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lab(CHAIN, TWO, rows=16, columns=8, halo=15)
    given = (made.model, made.offered, made.scheduler, choose(made.model, made.offered), ConcurrentOptions(**QUICK))
    whole = choose_concurrent(*given)
    assert whole is not None
    windows: list[Any] = []
    solve = searching.solve_windows

    def watched(*arguments: Any) -> Any:
        windows.append(arguments)
        return solve(*arguments)

    monkeypatch.setattr(searching, "solve_windows", watched)
    choose_concurrent(*given, limit_cycles=int(whole.finish_cycles * part))
    assert bool(windows) == solved
