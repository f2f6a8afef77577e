"""Time and addresses in one constraint model: starts of jobs and swaps, and items as rectangles of life by bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_concurrent.planning.answers import Answer, Answers, Values
from match_concurrent.planning.draft import Draft, Layout, PlanStep
from match_concurrent.planning.finish import finished
from match_concurrent.planning.lags import lags_of
from match_concurrent.planning.scope import scope_of
from match_concurrent.planning.timing import Starts, starts_model

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from match_concurrent.planning.pack import Times
    from match_concurrent.planning.problem import Problem

Residence = tuple[int, int]


@dataclass(frozen=True)
class _Home:
    """The rectangle of a residence."""

    first: cp_model.IntVar
    last: cp_model.IntVar
    address: cp_model.IntVar


@dataclass(frozen=True)
class _Copy:
    """An optional swap."""

    step: PlanStep
    start: cp_model.IntVar
    present: cp_model.IntVar


class JointModel:
    """A model that starts from a draft: the draft decides which items may go to the store between which jobs; the model
    may keep an item in place instead."""

    def __init__(self, problem: Problem, draft: Draft, seconds: float) -> None:
        self.problem, self.draft, self.seconds = problem, draft, seconds
        self.lags = lags_of(problem.lanes, problem.signalling)
        times = _times(problem, draft)
        order = tuple(step.job for step in draft.layout.steps if step.kind == "job")
        self.built: Starts = starts_model(problem, scope_of(problem, order, times, 0, len(order)), times, draft.cycles)
        self.model = self.built.model
        self.homes: dict[Residence, _Home] = {}
        self.copies: list[_Copy] = []
        self._add_homes()
        self._add_copies()

    def solve(self, answers: Answers) -> tuple[Draft | None, Answer]:
        """A better draft, None if none was found."""
        self.model.minimize(self.built.span)
        answer = answers.solve(self.model, self.seconds)
        if answer.values is None:
            return None, answer
        found = finished(self.problem, self._layout(answer.values), "time and addresses together")
        return (found if found.cycles < self.draft.cycles else None), answer

    def _add_homes(self) -> None:

        unit, horizon = self.problem.alignment_bytes, self.built.horizon
        height = self.problem.capacity_bytes // unit
        lives: list[cp_model.IntervalVar] = []
        places: list[cp_model.IntervalVar] = []
        hints = self._hinted_lives()
        for (item, number), address_bytes in self.draft.layout.homes.items():
            size, name = self.problem.size_of(item) // unit, f"{item}_{number}"
            home = _Home(
                self.model.new_int_var(0, horizon, f"f{name}"),
                self.model.new_int_var(0, horizon + 1, f"l{name}"),
                self.model.new_int_var(0, max(0, height - size), f"p{name}"),
            )
            self.homes[item, number] = home
            length = self.model.new_int_var(0, horizon + 1, f"d{name}")
            lives.append(self.model.new_interval_var(home.first, length, home.last, f"t{name}"))
            places.append(self.model.new_fixed_size_interval_var(home.address, size, f"a{name}"))
            self.model.add_hint(home.address, address_bytes // unit)
            self.model.add_hint(home.first, hints[item, number][0])
            self.model.add_hint(home.last, hints[item, number][1])
        self.model.add_no_overlap_2d(lives, places)
        for step in self.draft.layout.steps:
            if step.kind == "job":
                for residence in step.places:
                    home, start = self.homes[residence], self.built.start[step.job]
                    self.model.add(home.first <= start)
                    self.model.add(home.last >= start + max(1, step.cycles))

    def _hinted_lives(self) -> dict[Residence, tuple[int, int]]:
        found: dict[Residence, tuple[int, int]] = {}
        for step, start in zip(self.draft.layout.steps, self.draft.starts, strict=True):
            for residence in step.places:
                first, last = found.get(residence, (start, 0))
                found[residence] = (min(first, start), max(last, start + max(1, step.cycles)))
        return found

    def _add_copies(self) -> None:
        """Swaps of an item in order: the first copies it to the store, each later one copies it back."""
        intervals = []
        of_item: dict[int, list[_Copy]] = {}
        for number, (step, start) in enumerate(zip(self.draft.layout.steps, self.draft.starts, strict=True)):
            if step.kind == "job":
                continue
            begin = self.model.new_int_var(self.lags.begun[step.lane], self.built.horizon, f"w{number}")
            present = self.model.new_bool_var(f"o{number}")
            size = step.cycles + self.lags.between[step.lane]
            interval = self.model.new_optional_fixed_size_interval_var(begin, size, present, f"x{number}")
            intervals.append(interval)
            self.model.add_hint(begin, start)
            self.model.add_hint(present, True)
            of_item.setdefault(step.item, []).append(_Copy(step, begin, present))
        if intervals:
            self.model.add_no_overlap(intervals)
        for copies in of_item.values():
            self._tie(copies)
            self.copies += copies

    def _tie(self, copies: list[_Copy]) -> None:
        out, returns = copies[0], copies[1:]
        item, (source,) = out.step.item, out.step.places
        self.model.add_max_equality(out.present, [back.present for back in returns])
        home = self.homes[source]
        self.model.add(home.last >= out.start + out.step.cycles).only_enforce_if(out.present)
        for number in self.problem.writers()[item]:
            job = self.problem.jobs[number]
            lag = job.cycles + self.lags.across(job.queue, out.step.lane)
            self.model.add(out.start >= self.built.start[number] + lag).only_enforce_if(out.present)
        for back in returns:
            (target,) = back.step.places
            mine, before = self.homes[target], self.homes[self._before(target)]
            self.model.add(mine.first <= back.start).only_enforce_if(back.present)
            self.model.add(back.start >= out.start + out.step.cycles).only_enforce_if(back.present)
            for step in self.draft.layout.steps:
                if step.kind == "job" and target in step.places:
                    lag = back.step.cycles + self.lags.across(back.step.lane, step.lane)
                    start = self.built.start[step.job]
                    self.model.add(start >= back.start + lag).only_enforce_if(back.present)
            self.model.add(mine.address == before.address).only_enforce_if(~back.present)
            self.model.add(mine.first == before.last).only_enforce_if(~back.present)

    def _before(self, residence: Residence) -> Residence:
        """The item's previous residence; numbers of residences that the draft removed are missing."""
        item, number = residence
        return max(other for other in self.homes if other[0] == item and other[1] < number)

    def _layout(self, values: Values) -> Layout:
        """The steps by their starts. If an item stayed in place, its residence equals the previous one."""
        unit = self.problem.alignment_bytes
        kept = {
            copy.step.places[0] for copy in self.copies if copy.step.kind == "in" and not values.value(copy.present)
        }
        joined: dict[Residence, Residence] = {}
        for residence in sorted(self.homes):
            joined[residence] = joined[self._before(residence)] if residence in kept else residence
        timed: list[tuple[int, int, PlanStep]] = []
        for place, step in enumerate(self.draft.layout.steps):
            if step.kind == "job":
                timed.append((values.value(self.built.start[step.job]), place, _moved(step, joined)))
        for place, copy in enumerate(self.copies, len(timed)):
            if values.value(copy.present):
                timed.append((values.value(copy.start), place, _moved(copy.step, joined)))
        steps = tuple(step for _, _, step in sorted(timed, key=lambda entry: entry[:2]))
        swapped = {step.item for step in steps if step.kind != "job"}
        return Layout(
            steps,
            {r: values.value(self.homes[r].address) * unit for r in self.homes if joined[r] == r},
            {item: address for item, address in self.draft.layout.stores.items() if item in swapped},
        )


def _moved(step: PlanStep, joined: dict[Residence, Residence]) -> PlanStep:
    from dataclasses import replace

    return replace(step, places=tuple(joined[residence] for residence in step.places))


def _times(problem: Problem, draft: Draft) -> Times:
    times = [(0, 0)] * len(problem.jobs)
    for step, start in zip(draft.layout.steps, draft.starts, strict=True):
        if step.kind == "job":
            times[step.job] = (start, start + step.cycles)
    return tuple(times)
