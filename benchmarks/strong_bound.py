"""A lower bound of the makespan of every program that the mapper may make with one cover: with exact costs of shares.

The space: every operator is whole on a unit, or divided along one axis into any parts of whole tiles, in any number of
tasks, on any of the units, in any order. CP-SAT chooses for each operator the axis, the tiles of every queue and what
is known of the sizes of its first and last tasks, at the fewest cycles of any such tasks (``share_tasks``), and times
between which an operator runs. It demands less than a program has to fulfil:

- Between the first start of an operator and the last end of another, a queue does all work of operators that lie
  between them on every path.
- The first part of a reader follows the fewest tiles that any of its parts reads, at the speed of all queues together;
  the last end of a maker is followed by the fewest tiles that read any part of it.
- The first task of a reader in a queue follows all tiles that it reads, at that speed, and the end of the maker if
  these are all. A whole task is done before what it makes can be read: the last end of a reader follows the last task
  of a queue of the maker by the tiles that read any tile of that.
- The first start of a reader follows that of its maker by the shortest first task, and its last end that of the maker
  by its shortest last task.
- A reader whose every part reads the whole maker starts after its end, with the signal if another queue made it.

If the solver does not find the optimum, each choice of axes of the operators with the most work becomes a model of its
own. The least bound of these holds for all.
So the optimum of a model, and every lower bound of it that the solver proves, is at most the makespan of every program
with these axes. Memory, the host's posts between tasks, and contention on links cost nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.stages import bounds_of
from match_core.cp_sat import Answer, solve

from benchmarks.share_costs import AxisCosts, axis_costs
from benchmarks.share_readings import Shares, all_readings, shares_of
from benchmarks.strong_model import Model

#: The number of operators of whose axes each choice has a model of its own.
BRANCHED = 3
#: How many times as much of the solver's time all these models get as the one of all choices.
BRANCHES_TIMES = 20 / 3


def strong_bound(
    evaluator: Evaluator,
    most: int,
    seconds: float,
    axes: Sequence[tuple[AxisCosts, ...]] | None = None,
    *,
    branched: bool = True,
) -> tuple[int, bool]:
    """A lower bound of the makespan of all programs with the evaluator's cover, and whether it is the model's optimum;
    at most ``most``, the makespan of a program that is known. ``seconds``: deterministic ones of the solver for the
    model of all choices, before there is one for each choice of axes if ``branched``; ``axes``: costs of shares, if
    they are known.
    Where the solver does not end, the sum over stages may be higher (docs/mapping.md)."""
    operators = evaluator.network.operators
    axes = [axis_costs(operator, evaluator) for operator in operators] if axes is None else axes
    shares = tuple(shares_of(operator, evaluator, own) for operator, own in zip(operators, axes, strict=True))
    reading = all_readings(shares, evaluator)

    def answer(some: tuple[Shares, ...], limit: float) -> Answer:
        return solve(Model(evaluator, some, most, all_reading=reading).made(), limit, linearization_level=2)

    whole = answer(shares, seconds)
    if whole.infeasible:  # no program with this cover takes at most so many cycles
        return most, True
    least, solved = whole.bound, whole.optimal
    if branched and not solved:
        branches = list(_branches(shares))
        answers = [answer(branch, BRANCHES_TIMES * seconds / len(branches)) for branch in branches]
        least = max(least, min(most if each.infeasible else each.bound for each in answers))
        solved = any(each.optimal and each.bound == least for each in answers)
    # Costs of all shares are known now, so this is higher than that of the mapping.
    found = min(most, max(least, bounds_of([evaluator]).cycles))
    return found, found == most or solved


def _branches(shares: tuple[Shares, ...]) -> Iterator[tuple[Shares, ...]]:
    """The operators with every choice of axes of those with the most work: rules that hold for a choice have no
    condition in a model of it, and the solver knows them sooner."""
    several = [number for number, own in enumerate(shares) if len({way.axis for way in own.ways}) > 1]
    work = {number: min(sum(way.loads.values()) for way in shares[number].ways) for number in several}
    chosen = sorted(sorted(several, key=lambda number: -work[number])[:BRANCHED])
    for axes in product(*(sorted({way.axis for way in shares[number].ways}) for number in chosen)):
        made = list(shares)
        for number, axis in zip(chosen, axes, strict=True):
            ways = tuple(way for way in shares[number].ways if way.axis == axis)
            made[number] = replace(shares[number], ways=ways)
        yield tuple(made)
