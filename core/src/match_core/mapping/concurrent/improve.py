"""Heuristic starts, and local changes that make a choice better on the exact time line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.mapping.concurrent.parts import Division

if TYPE_CHECKING:
    from match_core.mapping.concurrent.evaluate import Choice, Evaluation, Evaluator
    from match_core.mapping.concurrent.menu import Entry
    from match_core.mapping.concurrent.network import Along


@dataclass(frozen=True, slots=True)
class Menu:
    """What an operator may choose: the axes that divide it, and its entries."""

    alongs: tuple[Along, ...]
    entries: tuple[Entry, ...]


def cycles_alone(division: Division, evaluator: Evaluator) -> int:
    """Cycles of a division that has all queues for itself."""
    busy: dict[int, int] = {}
    for part in division:
        queue = evaluator.queue_of(part.offer)
        busy[queue] = busy.get(queue, 0) + evaluator.costs.cycles(part) + evaluator.signalling.task_cycles
    return max(busy.values())


def starts(menus: Sequence[Menu], evaluator: Evaluator) -> Iterator[Choice]:
    """For every operator the division that is the fastest alone: of all, and of those along one axis in so many tasks
    for each unit, where it has such ones."""
    alone = [[(cycles_alone(e.division, evaluator), n) for n, e in enumerate(menu.entries)] for menu in menus]
    wishes = {(entry.axis, entry.pieces) for menu in menus for entry in menu.entries if entry.axis >= 0}
    for axis, pieces in [(None, 0), (-1, 1), *sorted(wishes)]:
        chosen = []
        for menu, ranked in zip(menus, alone, strict=True):
            wanted = [
                (cycles, number)
                for cycles, number in ranked
                if axis is None or (menu.entries[number].axis, menu.entries[number].pieces) == (axis, pieces)
            ]
            chosen.append(menu.entries[min(wanted or ranked)[1]].division)
        yield tuple(chosen)


def improve(best: Evaluation, menus: Sequence[Menu], evaluator: Evaluator, spend: int) -> Evaluation:
    """Changes of one operator and of two neighbours at once, as long as they help and no more than ``spend`` tasks
    were put on time lines."""
    limit = evaluator.spent + spend
    pairs = sorted({(s.operator, n) for n, o in enumerate(evaluator.network.operators) for s in o.sources})
    while True:
        before = best.value
        for number, menu in enumerate(menus):
            for division in _moves(best.choice[number], menu):
                if evaluator.spent >= limit:
                    return best
                best = _better(best, {number: division}, evaluator)
        for maker, reader in pairs:
            for first, second in _joint(menus[maker], menus[reader], evaluator):
                if evaluator.spent >= limit:
                    return best
                best = _better(best, {maker: first, reader: second}, evaluator)
        if best.value == before:
            return best


def _better(best: Evaluation, changes: dict[int, Division], evaluator: Evaluator) -> Evaluation:
    choice = tuple(changes.get(number, division) for number, division in enumerate(best.choice))
    if choice == best.choice:
        return best
    found = evaluator.evaluate(choice)
    return found if found.value < best.value else best


def _moves(division: Division, menu: Menu) -> Iterator[Division]:
    yield from (entry.division for entry in menu.entries)
    along = next((a for a in menu.alongs if any(u[:2] == division[0][:2] for u in a.units)), None)
    if along is not None:
        yield from shifted(division, along)


def shifted(division: Division, along: Along) -> Iterator[Division]:
    """Borders between neighbours moved by one, two, four, ... tiles either way; parts that vanish are left out."""
    for place in range(len(division) - 1):
        left, right = division[place], division[place + 1]
        tiles = 1
        while tiles * along.step < max(left.size, right.size):
            for moved in (tiles * along.step, -tiles * along.step):
                if -left.size < moved < right.size:
                    grown = left._replace(size=left.size + moved)
                    shrunk = right._replace(first=right.first + moved, size=right.size - moved)
                    yield (*division[:place], grown, shrunk, *division[place + 2 :])
            tiles *= 2


def _joint(first: Menu, second: Menu, evaluator: Evaluator) -> Iterator[tuple[Division, Division]]:
    """Pairs of divisions of the same form: axis, queues and number of tasks."""
    for one in first.entries:
        for other in second.entries:
            same = (one.axis, one.pieces) == (other.axis, other.pieces) and one.axis >= 0
            if same and _queues(one, evaluator) == _queues(other, evaluator):
                yield one.division, other.division
                break


def _queues(entry: Entry, evaluator: Evaluator) -> list[int]:
    return [evaluator.queue_of(offer) for offer in entry.units]
