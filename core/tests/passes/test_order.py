from __future__ import annotations

from itertools import permutations

import pytest
from match_core.contract.errors import PluginError
from match_core.contract.passes import Pass, Phase
from match_core.passes.order import order_passes

from tests.all_passes import core_passes


def made(name: str, phase: Phase = Phase.CLEAN, **declared: tuple[str, ...]) -> Pass:
    return Pass(name, phase, lambda model, context: model, "", **declared)


def names(passes) -> list[str]:
    return [item.name for item in order_passes(passes)]


def test_phase_then_declarations_then_name():
    passes = [
        made("d", Phase.FLOAT),
        made("c"),
        made("b", after=("c",)),
        made("a", before=("c",), after=("not there",)),
        made("e", Phase.INTEGER),
    ]
    for order in permutations(passes):
        assert names(order) == ["a", "c", "b", "d", "e"]


def test_two_passes_of_one_name():
    with pytest.raises(PluginError) as caught:
        order_passes([made("a"), made("a")])
    assert caught.value.code == "MATCH-X101"


def test_cycles_are_told_with_their_members():
    passes = [made("a", after=("c",)), made("b", after=("a",)), made("c", after=("b",)), made("d", after=("a",))]
    for order in permutations(passes):
        with pytest.raises(PluginError) as caught:
            order_passes(order)
        assert caught.value.code == "MATCH-X102"
        assert caught.value.where == "a -> c -> b -> a"


def test_a_pass_cannot_run_before_an_earlier_phase():
    with pytest.raises(PluginError) as caught:
        order_passes([made("early"), made("late", Phase.FINAL, before=("early",))])
    assert caught.value.code == "MATCH-X102"


def test_the_cores_passes(accelerated, host_only):
    both = core_passes(accelerated.soc, accelerated.units)
    assert len({item.name for item in both}) == len(both)
    assert [item.phase for item in both] == sorted(item.phase for item in both)
    assert all(item.description for item in both)
    assert core_passes(host_only.soc, host_only.units) == both
