"""One stage of the search: a first choice, with estimated costs where real ones are not known, and rounds that request
real costs of the choice and price similar ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from match_concurrent.mapping.bounds import overlapping_cycles
from match_concurrent.mapping.exact import STRIDE, WINDOW, solve_windows
from match_concurrent.mapping.exchange import exchanged
from match_concurrent.mapping.improve import improve
from match_concurrent.mapping.share_options import near, share_options_of
from match_concurrent.mapping.start import apart, starts

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.network import DivisibleAxis
    from match_concurrent.mapping.parts import Division, Part
    from match_concurrent.mapping.share_options import ShareOptions

#: The number of heuristic starts that are improved, best first.
STARTS = 3
#: The most operators for which windows get half the effort, and those of the other improved starts may get the rest:
#: for more, the effort suffices for one only.
OTHERS_MAX = 128
#: How much more effort windows get where they have shortened the best result, if there are more than two.
MORE = 4
#: How much effort local changes of the start in which units specialise get, relative to a round's: on Carfield ResNet8
#: takes 476,308 cycles with 1 and 471,082 with 2.
APART = 2
#: How much effort the last changes may get in vain, relative to a round. They are for units that are balanced: the
#: second queue works for at least this part of the time, an estimate. On ITA it works for a fifth; there, they
#: shortened one of three encoders, by 0.05 %.
EXCHANGED, BALANCED = 2, 0.5
#: The parts of the effort in which windows are solved where units are not balanced, and those of other starts: they end
#: early where nothing is found. Of ITA's encoders one takes 0.4 % longer; the Transformer block on Carfield, which is
#: balanced, would take 1.9 %.
TURNS = (1 / 8, 1 / 8, 1 / 4, 1 / 2)
#: Rounds behind the first one, which price similar parts, shorten a result by less than this part: an estimate; on
#: GAP9 they shortened those of MLPerf Tiny's networks by at most 0.7 %.
REFINED = 0.02
#: Prices of similar parts that are above the line between exact costs by more than this part are replaced by exact
#: ones. Of 84 prices that were more than 1 % too high (Carfield's autoencoder and DS-CNN, DINOv2 on ITA), 26 are below
#: that; 157 of 706 parts are requested.
DOUBTED = 0.02
#: A result with estimates that is below the limit by less than this part is judged by exact costs before its windows
#: are solved: an estimate.
TOO_LOW = 0.03


def is_vain(best: Evaluation, evaluator: Evaluator, limit_cycles: int | None, gain: float) -> bool:
    """Whether the result exceeds the limit by more than tasks in pieces may hide, even if it gets shorter by that
    part."""
    if limit_cycles is None:
        return False
    hidden = overlapping_cycles(best.choice, evaluator) if evaluator.options.pipelined else 0
    return best.finish * (1 - gain) > limit_cycles + hidden


def best_of_stage(
    best: Evaluation,
    along: Sequence[tuple[DivisibleAxis, ...]],
    evaluator: Evaluator,
    spend: int,
    limit_cycles: int | None,
    *,
    cuts: bool,
) -> Evaluation:
    """The first choice, which may contain parts with estimated costs, and then rounds with exact ones. With ``cuts``,
    the start in which units specialise has rounds of its own if it is better at first and units are balanced: it may be
    worse in the end. Where they are not (ITA), it won for none of 55 networks.
    Windows of whole pieces are not solved where tasks in pieces follow, whose search begins with other starts too: of
    92 networks on ITA and Carfield one took 0.1 % longer without them."""
    spend //= 1 + evaluator.options.rounds_max  # the first choice gets a double share
    share_options = _divisions(along, evaluator, cuts=cuts, only_known=False)
    solved = cuts or evaluator.options.thorough or not evaluator.options.pipelined
    found = _optimised(best, share_options, evaluator, spend, limit_cycles, solved=solved)
    specialise = cuts and _is_balanced(found, evaluator)
    other = apart(found, share_options, evaluator, APART * spend) if specialise else None
    ways = (found,) if other is None else (found, other)
    refined = [_refined(best, way, along, evaluator, spend, limit_cycles, cuts=cuts) for way in ways]
    best = min(refined, key=lambda evaluation: evaluation.value)
    if not cuts or not _is_balanced(best, evaluator) or is_vain(best, evaluator, limit_cycles, REFINED):
        return best
    return exchanged(best, along, evaluator, EXCHANGED * spend)


def _is_balanced(best: Evaluation, evaluator: Evaluator) -> bool:
    return sum(evaluator.loads(best.choice)[1:2]) >= BALANCED * best.finish


def _refined(
    best: Evaluation,
    found: Evaluation,
    along: Sequence[tuple[DivisibleAxis, ...]],
    evaluator: Evaluator,
    spend: int,
    limit_cycles: int | None,
    *,
    cuts: bool,
) -> Evaluation:
    """Rounds that request exact costs of a choice, price similar choices, more similar with every round, and then
    optimise with the known costs: with estimates, the search would move from one underestimated cost to the next. A
    result that is in vain is not refined, nor one of whole pieces that a round did not shorten if pieces follow."""
    costs, rounds = evaluator.costs, evaluator.options.rounds_max
    last = cuts or not evaluator.options.pipelined
    for number in range(rounds):
        if number > 0:
            share_options = _divisions(along, evaluator, cuts=cuts, only_known=True)
            found = improve(best, share_options, evaluator, spend, only_known=True)
        unknown = costs.confirm(part for division in found.choice for part in division)
        actual = evaluator.evaluate(found.choice, found.starts)
        before, best = best, min(best, actual, key=lambda evaluation: evaluation.value)
        state = {"round": number + 1, "of": rounds, "cycles": best.finish}
        costs.scheduling.progress({"pieces": "pipelined" if cuts else "whole", **state})
        if is_vain(best, evaluator, limit_cycles, REFINED):
            break
        pairs = zip(found.choice, along, strict=True)
        similar = [part for division, axes in pairs for part in _near(division, axes, number)]
        unknown |= costs.confirm(similar) if evaluator.options.thorough else costs.probe(similar, DOUBTED)
        if number > 0 and (not unknown or (best is before and not last)):
            break
    return best


def _divisions(
    along: Sequence[tuple[DivisibleAxis, ...]], evaluator: Evaluator, *, cuts: bool, only_known: bool
) -> list[ShareOptions]:
    """Those of each operator."""
    return [
        share_options_of(operator, axes, evaluator, cuts=cuts, only_known=only_known)
        for operator, axes in zip(evaluator.network.operators, along, strict=True)
    ]


def _near(division: Division, alongs: Sequence[DivisibleAxis], halvings: int) -> Iterator[Part]:
    for along in alongs:
        if any(unit[:2] == division[0][:2] for unit in along.units):
            yield from near(division, along, halvings)


def _optimised(
    best: Evaluation,
    share_options: Sequence[ShareOptions],
    evaluator: Evaluator,
    spend: int,
    limit_cycles: int | None,
    *,
    solved: bool,
) -> Evaluation:
    """The best choice under the currently known costs: improve the most promising starts, then, if ``solved``, solve
    windows of the best, unless it is in vain with exact costs; where one layer stands for many, and windows see only a
    part of it, also of the others, because better starts may lead to worse choices."""
    begun = sorted((evaluator.evaluate(choice) for choice in starts(share_options, evaluator)), key=lambda e: e.value)
    improved = [improve(start, share_options, evaluator, spend // (STARTS + 1)) for start in (best, *begun[:STARTS])]
    first, *others = sorted(improved, key=lambda evaluation: evaluation.value)
    if limit_cycles is not None and first.finish * (1 + TOO_LOW) > limit_cycles:
        evaluator.costs.confirm(part for division in first.choice for part in division)
        if is_vain(evaluator.evaluate(first.choice, first.starts), evaluator, limit_cycles, REFINED):
            return first
    if not solved:
        return improve(first, share_options, evaluator, spend)
    thorough, seconds = evaluator.options.thorough, evaluator.options.solver_seconds
    several = WINDOW < len(share_options) <= OTHERS_MAX
    turns = (1.0,) if _is_balanced(first, evaluator) else TURNS
    found = solve_windows(first, share_options, evaluator, seconds / 2 if several else seconds, turns)
    if several and thorough:  # the other half of the effort, for the others together
        part = seconds / 2 / len(others)
        also = (solve_windows(other, share_options, evaluator, part, TURNS) for other in others)
        found = min((found, *also), key=lambda evaluation: evaluation.value)
    if found.value < first.value and len(share_options) > WINDOW + STRIDE:
        again = solve_windows(first, share_options, evaluator, MORE * seconds)
        found = min(found, again, key=lambda evaluation: evaluation.value)
    return improve(found, share_options, evaluator, spend)
