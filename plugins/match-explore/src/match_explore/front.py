"""Pareto fronts: points that no other point beats in one objective without losing in another; and their hypervolume."""

from __future__ import annotations

from collections.abc import Sequence

#: Values of the objectives, all to be minimised.
Values = tuple[float, ...]


def dominates(one: Values, other: Values) -> bool:
    """Whether ``one`` is nowhere worse and somewhere better."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def front(values: Sequence[Values]) -> tuple[int, ...]:
    """Positions of the values that no other ones dominate, in their order; equal values are all in it."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    best: list[Values] = []
    found: list[int] = []
    for place in order:  # what dominates a value is before it in this order
        # Of two objectives, the second falls along the front, so its last value beats all before it.
        others = best[-1:] if len(values[place]) < 3 else best
        if not any(dominates(other, values[place]) for other in others):
            found.append(place)
            if not best or best[-1] != values[place]:
                best.append(values[place])
    return tuple(sorted(found))


def hypervolume(values: Sequence[Values], reference: Values) -> float:
    """The volume between the values and a reference that is worse in every objective; values beyond it do not count."""
    inside = sorted({v for v in values if all(a < r for a, r in zip(v, reference, strict=True))})
    if not inside:
        return 0.0
    if len(reference) == 1:
        return reference[0] - inside[0][0]
    total, ends = 0.0, [*(v[0] for v in inside[1:]), reference[0]]
    for number, (value, end) in enumerate(zip(inside, ends, strict=True), 1):
        if end > value[0]:  # a slice along the first objective
            total += (end - value[0]) * hypervolume([v[1:] for v in inside[:number]], reference[1:])
    return total
