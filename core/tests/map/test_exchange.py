"""The last changes of a choice, of one operator or of two at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from match_concurrent.mapping.evaluate import Evaluation, Evaluator
from match_concurrent.mapping.exchange import exchanged
from match_concurrent.mapping.improve import improve
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.share_options import share_options_of

from core.tests.map.concurrent_lab import evaluator_of
from core.tests.map.rows import Price, lab
from tests.examples import examples

CHAIN = {"a": ["in"], "b": ["a"], "c": ["b"], "d": ["c"]}
ENOUGH = 10**5


def improved(two: Price, rows: int, halo: int) -> tuple[Evaluation, Evaluator]:
    """A choice that other divisions of one operator do not make better, nor equal ones of two that follow each other,
    with exact costs."""
    units = {"host": Price(10**6, 9000), "one": Price(100, 1000), "two": two}
    evaluator = evaluator_of(lab(CHAIN, units, rows=rows, columns=6, halo=halo))
    network = evaluator.network
    options = [share_options_of(o, network.along(o), evaluator, cuts=True, only_known=False) for o in network.operators]
    whole = evaluator.evaluate(tuple((Part(operator.offers[1]),) for operator in network.operators))
    best = improve(whole, options, evaluator, ENOUGH)
    evaluator.costs.confirm(part for division in best.choice for part in division)
    return evaluator.evaluate(best.choice, best.starts), evaluator


def last(best: Evaluation, evaluator: Evaluator, spend: int = ENOUGH) -> Evaluation:
    """It with the last changes."""
    return exchanged(best, [evaluator.network.along(o) for o in evaluator.network.operators], evaluator, spend)


def test_two_operators_give_each_other_work() -> None:
    best, evaluator = improved(Price(300, 1200), rows=16, halo=0)
    assert last(best, evaluator).finish <= 0.75 * best.finish


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(10, 500), st.integers(300, 2000), st.integers(4, 20), st.integers(0, 2))
def test_the_result_is_whole_exact_and_never_worse(fixed: int, per_thousand: int, rows: int, halo: int) -> None:
    best, evaluator = improved(Price(fixed, per_thousand), rows, halo)
    found = last(best, evaluator)
    assert found.value <= best.value
    assert found == evaluator.replayed(found.choice, found.starts)
    for division in found.choice:
        ends = [0, *(part.first + part.size for part in division)]
        assert not division[0].dim or [part.first for part in division] == ends[:-1]
        assert ends[-1] in (0, rows, 6)
        assert all(evaluator.costs.assignment(part) is not None for part in division)


def test_without_effort_nothing_changes() -> None:
    best, evaluator = improved(Price(300, 1200), rows=16, halo=0)
    assert last(best, evaluator, 0) == best
    spent = evaluator.spent
    last(best, evaluator, 10)
    assert evaluator.spent <= spent + 30 + 4 * sum(map(len, best.choice))
