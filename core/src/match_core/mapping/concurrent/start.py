"""Choices to begin with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.mapping.concurrent.bounds import ideal_work
from match_core.mapping.concurrent.parts import Cuttable, Division, Part, cut, division_of

if TYPE_CHECKING:
    from match_core.mapping.concurrent.evaluate import Choice, Evaluator
    from match_core.mapping.concurrent.menu import Menu
    from match_core.mapping.concurrent.network import Along

#: Fractions of an operator that are not worth a task.
LITTLE = 0.02
#: Into how many tasks each unit's part is cut where units specialise.
PIECES = (1, 2, 4, 8)


def starts(menus: Sequence[Menu], evaluator: Evaluator) -> Iterator[Choice]:
    """For every operator the division that is the fastest alone: of all, and of those along one axis in so many tasks
    for each unit, where it has such ones. With pipelining also the ideal division of all work, where units do what they
    are best at, in several tasks."""
    alone = [[(evaluator.cycles_alone(e.division), n) for n, e in enumerate(menu.entries)] for menu in menus]
    wishes = {(entry.axis, entry.pieces) for menu in menus for entry in menu.entries if entry.axis >= 0}
    fastest: Choice = ()
    for axis, pieces in [(-1, 0), *sorted(wishes)]:
        chosen = []
        for menu, ranked in zip(menus, alone, strict=True):
            wanted = [pair for pair in ranked if _form(menu, pair[1]) == (axis, pieces)]
            chosen.append(menu.entries[min(wanted or ranked)[1]].division)
        fastest = fastest or tuple(chosen)
        yield tuple(chosen)
    if evaluator.options.parallel == "pipeline":
        _, ideal = ideal_work(evaluator)
        for pieces in PIECES:
            yield tuple(
                _ideal(menu, fractions, evaluator, pieces) or otherwise
                for menu, fractions, otherwise in zip(menus, ideal, fastest, strict=True)
            )


def _form(menu: Menu, number: int) -> tuple[int, int]:
    return menu.entries[number].axis, menu.entries[number].pieces


def _ideal(menu: Menu, fractions: Mapping[int, float], evaluator: Evaluator, pieces: int) -> Division | None:
    """About these fractions on each queue, along the first axis that allows it; None where none does."""
    wanted = {queue: fraction for queue, fraction in fractions.items() if fraction > LITTLE}
    for along in (along.coarse for along in menu.alongs):
        units = _one_per_queue(along, evaluator)
        if not set(wanted) <= set(units):
            continue
        chosen = [units[queue] for queue in sorted(wanted)]
        counts, left, rest = [], along.tiles, sum(wanted.values())
        for queue in sorted(wanted):
            counts.append(round(left * wanted[queue] / rest))
            left, rest = left - counts[-1], rest - wanted[queue]
        division = division_of(chosen, counts, along.step, along.size)
        if len(division) == 1 and pieces > 1:
            unit = next(unit for unit in along.units if unit.offer == division[0].offer)
            division = (Part(unit.offer, unit.dim, 0, along.size),)
        return tuple(piece for part in division for piece in _cut(part, pieces, along))
    return None


def _one_per_queue(along: Along, evaluator: Evaluator) -> dict[int, Cuttable]:
    units: dict[int, Cuttable] = {}
    for unit in along.units:
        units.setdefault(evaluator.queue_of(unit.offer), unit)
    return units


def _cut(part: Part, pieces: int, along: Along) -> Division:
    return cut(part, pieces, along.step) if part.dim and pieces > 1 else (part,)
