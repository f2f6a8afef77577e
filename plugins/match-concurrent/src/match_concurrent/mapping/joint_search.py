"""One search over covers, units and tiles: pieces of operators first, then windows that slide over the result until
none improves it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from match_core.ir.groups import sorted_groups
from match_map.aliases import shared_outputs

from match_concurrent.mapping.covers import Groups, prices_of
from match_concurrent.mapping.improve import improve
from match_concurrent.mapping.members import Members
from match_concurrent.mapping.pieces import Pieces
from match_concurrent.mapping.share_options import share_options_of
from match_concurrent.mapping.windows import Window

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment

    from match_concurrent.mapping.covers import Prices
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.parts import Division
    from match_concurrent.mapping.windows import Answer

#: Operators in a window, and the distance between the starts of windows.
WINDOW, STRIDE = 8, 4
#: How often a window is solved again after the real costs of its answer turned out worse.
AGAIN = 2
#: Pieces of more operators than the first number get more effort, proportionally up to the second: there is more to
#: choose. MobileNet's 30 operators take 502,220 cycles on Carfield with three times the effort, 515,192 without, and
#: networks of up to ten at most 0.7 % less. Estimates otherwise.
OPERATORS, OPERATORS_MAX = 10, 100
#: The part of the stages' effort that local changes get after a window improved the result.
POLISH = 0.05


def jointly(best: Evaluation, evaluator: Evaluator) -> tuple[Evaluation, Evaluator]:
    """The best result of pieces, and of windows over covers and tiles, with the evaluator of its cover; never worse
    than ``best``. The same if the objective is not the makespan, or if there is no work. "long": again with other
    random numbers, until a turn improves nothing."""
    options = evaluator.options
    if options.parallel != "long":
        return _turn(best, evaluator, 1)
    for seed in range(1, 1 + options.long_turns):
        before = best.value
        best, evaluator = _turn(best, evaluator.of(evaluator.network, options.long_turn), seed)
        if best.value == before:
            break
    return best, evaluator


def _turn(best: Evaluation, evaluator: Evaluator, seed: int) -> tuple[Evaluation, Evaluator]:
    if evaluator.objective != "latency":
        return best, evaluator
    groups = Groups.of(evaluator.network)
    prices = prices_of(groups, evaluator)
    if prices is None:
        return best, evaluator
    return _JointSearch(best, evaluator, groups, prices, evaluator.options.joint_seconds, seed).run()


@dataclass
class _JointSearch:
    """``left``: deterministic seconds of CP-SAT that remain; ``seed`` of random changes."""

    best: Evaluation
    evaluator: Evaluator
    groups: Groups
    prices: Prices
    left: float
    seed: int

    def run(self) -> tuple[Evaluation, Evaluator]:
        """Search pieces, then slide windows over the operators until none improves the result or the effort is used
        up."""
        options = self.evaluator.options
        if options.free_tiles:
            operators = min(max(len(self.best.choice), OPERATORS), OPERATORS_MAX)
            pieces = Pieces(self.evaluator, Random(self.seed))
            self.best = pieces.improved(self.best, options.joint_steps * operators // OPERATORS)
        while True:
            before, first = self.best.value, 0
            while first < len(self.best.choice) and self.left > 0:
                self._solve(first)
                first += STRIDE
            if self.best.value == before or self.left <= 0:
                return self.best, self.evaluator

    def _solve(self, first: int) -> None:
        """Solve the window that begins at this operator; again if its answer was based on wrong estimates."""
        for _ in range(1 + AGAIN):
            operators = range(first, min(first + WINDOW, len(self.best.choice)))
            members = Members(self.best, self.evaluator, self.groups, self.prices, operators)
            answer = Window(self.best, self.evaluator, operators, members.all(), members.outside).solve(
                self.evaluator.options.window_seconds
            )
            self.left -= answer.seconds
            unknown = self.evaluator.costs.confirm(p for _, division, _ in answer.chosen for p in division or ())
            if answer.chosen and self._accepts(answer, operators):
                return
            if not unknown or self.left <= 0:
                return

    def _accepts(self, answer: Answer, operators: range) -> bool:
        """Whether the answer is better on the exact time line; then it is the result, with local changes of it."""
        rows = self._rows(answer, operators)
        try:
            order = sorted_groups([self.groups.nodes(assignment) for assignment, _, _ in rows], self.groups.read_by)
        except ValueError:  # groups wait for each other
            return False
        rows = [rows[number] for number in order]
        cover = tuple(assignment for assignment, _, _ in rows)
        if shared_outputs(self.evaluator.network.model.graph, self.groups.topology, cover):
            return False
        evaluator = self.evaluator.of(self.evaluator.network.with_cover(cover))
        choice = tuple(division for _, division, _ in rows if division is not None)
        found = evaluator.evaluate(choice, [starts for _, division, starts in rows if division is not None])
        if found.value >= self.best.value:
            return False
        self.best, self.evaluator = _polished(found, evaluator), evaluator
        return True

    def _rows(self, answer: Answer, operators: range) -> list[tuple[Assignment, Division | None, tuple[int, ...]]]:
        """The cover with the answer's groups: assignments with their divisions (None: a view) and starts. Operators
        behind those of the window's model follow all others in their order."""
        network, best = self.evaluator.network, self.best
        at = {operator.place: number for number, operator in enumerate(network.operators)}
        first, last = network.operators[operators.start].place, network.operators[operators.stop - 1].place
        rows: list[tuple[Assignment, Division | None, tuple[int, ...]]] = []
        for place, assignment in enumerate(network.cover):
            number = at.get(place)
            if place == first:
                rows += [(network.offered[group.offers[0]], d, starts) for group, d, starts in answer.chosen]
            if first <= place <= last:
                continue
            if number is None:
                rows.append((assignment, None, ()))
                continue
            starts, behind = best.starts[number], number - operators.stop
            if behind >= len(answer.later):
                starts = tuple(start + 2 * best.finish for start in starts)
            elif behind >= 0:
                starts = answer.later[behind]
            rows.append((assignment, best.choice[number], starts))
        return rows


def _polished(best: Evaluation, evaluator: Evaluator) -> Evaluation:
    """Local changes of all operators, with known costs; then with real ones, which may be others at other positions."""
    options, network = evaluator.options, evaluator.network
    if not options.free_tiles:
        return best
    share_options = [
        share_options_of(operator, network.along(operator), evaluator, cuts=options.pipelined, only_known=True)
        for operator in network.operators
    ]
    found = improve(best, share_options, evaluator, int(POLISH * options.steps_max), only_known=True)
    evaluator.costs.confirm(part for division in found.choice for part in division)
    return min(best, evaluator.evaluate(found.choice, found.starts), key=lambda evaluation: evaluation.value)
