"""CP-SAT over divisions of operators, starts of their parts, and queues.

The model of a window of operators: one division of each is chosen; a part that is present occupies its queue; it
starts after the parts whose bytes it reads, plus the cycles of a signal to another queue. The model omits the host's
work between its tasks, so every answer is evaluated on the exact time line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from match_core.cp_sat import load_cp_model, solve

from match_concurrent.mapping.costs import IMPOSSIBLE
from match_concurrent.mapping.parts import Division
from match_concurrent.mapping.timeline import HOST, ranks

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.share_options import ShareOptions

#: The number of operators in a window, and the distance between the starts of windows.
WINDOW, STRIDE = 16, 8
#: The most windows; in a larger graph only every second, third, ... window is solved.
WINDOWS_MAX = 16
#: Divisions of each operator in a model: those that are fastest alone, and the present one.
DIVISIONS_MAX = 5
#: A window is too short for relaxations and the search for symmetries to pay.
_QUICK = {"linearization_level": 0, "symmetry_level": 0}
#: A window is not solved if it can shorten the program by less than this part.
GAIN_MIN = 0.005


def solve_windows(
    best: Evaluation,
    share_options: Sequence[ShareOptions],
    evaluator: Evaluator,
    seconds: float,
    turns: Sequence[float] = (1.0,),
) -> Evaluation:
    """Solve windows of operators one after another with everything else fixed; improvements are accepted. ``seconds``:
    deterministic time in total; ``turns``: its parts, of which each begins with the result of the one before, while
    that helps."""
    firsts = range(0, max(1, len(share_options) - WINDOW + STRIDE), STRIDE)
    firsts = firsts[:: -(-len(firsts) // WINDOWS_MAX)]
    for first in firsts:
        window = range(first, min(first + WINDOW, len(share_options)))
        for part in turns:
            found = _Window(best, share_options, evaluator, window).solve(seconds / len(firsts) * part)
            if found is None or found.value >= best.value:
                break
            best = found
    return best


@dataclass
class _Window:
    """Operators before the window are fixed; those after it count as remaining cycles after a part."""

    best: Evaluation
    share_options: Sequence[ShareOptions]
    evaluator: Evaluator
    window: range

    def solve(self, seconds: float) -> Evaluation | None:
        cp_model = load_cp_model()
        self.model = cp_model.CpModel()
        self.horizon = 2 * self.best.finish + 1
        self.divisions = {number: self._divisions(number) for number in self.window}
        if self._least_cycles() > self.best.finish * (1 - GAIN_MIN):
            return None
        self._variables()
        self._queues()
        self._needs()
        self._objective()
        self._hint()
        answer = solve(self.model, seconds, self.evaluator.costs.scheduling.watch, **_QUICK)
        return None if answer.values is None else self._found(answer.values)

    def _divisions(self, number: int) -> list[Division]:
        present = self.best.choice[number]
        others = [entry.division for entry in self.share_options[number].entries if entry.division != present]
        ranked = sorted((self.evaluator.cycles_alone(d), place) for place, d in enumerate(others))
        fit = [others[place] for cycles, place in ranked if cycles < min(IMPOSSIBLE, self.horizon)]
        return [present, *fit[: DIVISIONS_MAX - 1]]

    def _least_cycles(self) -> int:
        """A lower bound of the finish: of all queues, the most work that no choice of divisions takes off it."""
        gap = self.evaluator.signalling.task_cycles
        least: Counter[int] = Counter()
        for number, present in enumerate(self.best.choice):
            works = []
            for division in self.divisions.get(number, [present]):
                work: Counter[int] = Counter()
                for part in division:
                    own, *others = self.evaluator.queues_of(part.offer)
                    work[own] += self.evaluator.costs.cycles(part) + gap
                    work.update(dict.fromkeys(others, self.evaluator.costs.cycles(part) - gap))  # as in least_finish
                works.append(work)
            least.update(reduce(and_, works))  # the smaller counts
        return max(least.values(), default=0) - gap

    def _variables(self) -> None:
        """Create variables: whether a division is chosen, and starts of all parts."""
        self.taken: dict[int, list[Any]] = {}
        self.start: dict[tuple[int, int, int], Any] = {}
        wake = self.evaluator.signalling.post_cycles + self.evaluator.signalling.wake_cycles
        for number, divisions in self.divisions.items():
            self.taken[number] = [self.model.new_bool_var(f"x{number}_{n}") for n in range(len(divisions))]
            self.model.add_exactly_one(self.taken[number])
            for n, division in enumerate(divisions):
                for p, part in enumerate(division):
                    least = 0 if self.evaluator.queue_of(part.offer) == HOST else wake
                    self.start[number, n, p] = self.model.new_int_var(least, self.horizon, f"s{number}_{n}_{p}")

    def _queues(self) -> None:
        """Parts of one queue do not overlap each other or fixed parts."""
        gap = self.evaluator.signalling.task_cycles
        lines: dict[int, list[Any]] = {}
        for (number, n, p), start in self.start.items():
            part = self.divisions[number][n][p]
            size = self.evaluator.costs.cycles(part) + gap
            interval = self.model.new_optional_fixed_size_interval_var(
                start, size, self.taken[number][n], f"i{number}_{n}_{p}"
            )
            for queue in self.evaluator.queues_of(part.offer):
                lines.setdefault(queue, []).append(interval)
        for number in range(self.window.start):
            for part, start in zip(self.best.choice[number], self.best.starts[number], strict=True):
                size = self.evaluator.costs.cycles(part) + gap
                interval = self.model.new_fixed_size_interval_var(start, size, f"f{number}_{part}")
                for queue in self.evaluator.queues_of(part.offer):
                    lines.setdefault(queue, []).append(interval)
        for line in lines.values():
            self.model.add_no_overlap(line)

    def _needs(self) -> None:
        for number in self.window:
            for source in self.evaluator.network.operators[number].sources:
                for n, division in enumerate(self.divisions[number]):
                    for m, made in enumerate(self._made(source.operator)):
                        for reader, maker in self.evaluator.waits(source, made, division):
                            lag = self._lag(made[maker].offer, division[reader].offer)
                            ready = self.evaluator.costs.cycles(made[maker]) + lag
                            if source.operator in self.window:
                                both = [self.taken[number][n], self.taken[source.operator][m]]
                                begin = self.start[source.operator, m, maker]
                            else:
                                both = [self.taken[number][n]]
                                begin = self.best.starts[source.operator][maker]
                            self.model.add(self.start[number, n, reader] >= begin + ready).only_enforce_if(both)

    def _made(self, number: int) -> list[Division]:
        return self.divisions[number] if number in self.window else [self.best.choice[number]]

    def _lag(self, maker: int, reader: int) -> int:
        made, read = self.evaluator.queue_of(maker), self.evaluator.queue_of(reader)
        signalling = self.evaluator.signalling
        if made == read:
            return signalling.task_cycles
        notify = 0 if made == HOST else signalling.notify_cycles
        return notify + (0 if read == HOST else signalling.post_cycles + signalling.wake_cycles)

    def _objective(self) -> None:
        finish = self.model.new_int_var(0, self.horizon, "finish")
        after = self._after()
        for (number, n, p), start in self.start.items():
            part = self.divisions[number][n][p]
            rest = self.evaluator.costs.cycles(part) + after.get(number, 0)
            self.model.add(finish >= start + rest).only_enforce_if(self.taken[number][n])
        if self.evaluator.objective != "energy":
            self.model.minimize(finish)
            return
        self.model.minimize(
            sum(
                round(sum(self.evaluator.costs.of(part)[1] for part in division)) * taken
                for number, divisions in self.divisions.items()
                for division, taken in zip(divisions, self.taken[number], strict=True)
            )
        )

    def _after(self) -> dict[int, int]:
        """For operators that others after the window read, the cycles from their end to the program's end."""
        steps, places = self.evaluator.steps(self.best.choice)
        left = ranks(steps, self.evaluator.signalling)
        after: dict[int, int] = {}
        for number in range(self.window.stop, len(self.share_options)):
            for source in self.evaluator.network.operators[number].sources:
                rest = max(left[step] for step in places[number])
                after[source.operator] = max(after.get(source.operator, 0), rest)
        return after

    def _hint(self) -> None:
        for number, literals in self.taken.items():
            for n, literal in enumerate(literals):
                self.model.add_hint(literal, n == 0)
            for p, start in enumerate(self.best.starts[number]):
                self.model.add_hint(self.start[number, 0, p], start)

    def _found(self, solver: Any) -> Evaluation:
        choice, starts = list(self.best.choice), [list(line) for line in self.best.starts]
        for number, literals in self.taken.items():
            n = next(n for n, literal in enumerate(literals) if solver.boolean_value(literal))
            choice[number] = self.divisions[number][n]
            starts[number] = [solver.value(self.start[number, n, p]) for p in range(len(choice[number]))]
        last = max((max(line) for number, line in enumerate(starts) if number < self.window.stop), default=0)
        for number in range(self.window.stop, len(starts)):
            starts[number] = [last + start for start in self.best.starts[number]]
        return self.evaluator.evaluate(tuple(choice), starts)
