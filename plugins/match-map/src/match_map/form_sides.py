"""Which conversions between stored forms the options chosen so far require, as bits of a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_map.cover import Component


@dataclass(frozen=True, slots=True)
class FormSides:
    """Conversion number c has bit 2 c if its tensor is written in the source form, and bit 2 c + 1 if it is read in the
    target form. ``given``: bits that hold for every choice; ``of_option``: those that an option sets; ``open``: for
    each node, bits of conversions that options from this node on may still require; ``costs``: None if there is no such
    conversion."""

    given: int
    of_option: Mapping[int, int]
    open: tuple[int, ...]
    costs: tuple[int | None, ...]

    @classmethod
    def of(cls, component: Component, place: Mapping[int, int]) -> FormSides:
        """``place``: the number of each node in the component. A conversion that every choice requires is in no
        component: it has a maker or a reader."""
        first = {option.index: place[option.nodes[0]] for option in component.options}
        given, of_option, last = 0, dict.fromkeys(first, 0), []
        for number, conversion in enumerate(component.conversions):
            given |= (int(conversion.made) | int(conversion.read) << 1) << 2 * number
            for side, indices in enumerate((conversion.makers, conversion.readers)):
                for index in indices:
                    of_option[index] |= 1 << 2 * number + side
            last.append(max(first[index] for index in (*conversion.makers, *conversion.readers)))
        still = tuple(
            sum(3 << 2 * number for number, end in enumerate(last) if end >= node) for node in range(len(place) + 1)
        )
        costs = tuple(each.cost if each.assignment is not None else None for each in component.conversions)
        return cls(given, of_option, still, costs)

    def after(self, known: int, option: int) -> tuple[int, int | None]:
        """The bits with an option, and the cost of the conversions that it completes; None if one does not exist."""
        sided, cost = known | self.of_option[option], 0
        new = sided & sided >> 1 & ~(known & known >> 1) & _makers(len(self.costs))
        while new:
            number = (new & -new).bit_length() - 1 >> 1
            own = self.costs[number]
            if own is None:
                return sided, None
            cost, new = cost + own, new & new - 1
        return sided, cost


def _makers(count: int) -> int:
    """The bits of the makers of so many conversions."""
    return ((1 << 2 * count) - 1) // 3
