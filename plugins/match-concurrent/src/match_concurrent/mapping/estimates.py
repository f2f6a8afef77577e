"""Finishes of choices by the estimator in C, which keeps what operators' divisions consist of."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from match_concurrent.native import estimator

if TYPE_CHECKING:
    from match_core.contract.hardware import Signalling

    from match_concurrent.mapping.network import SharedOperator
    from match_concurrent.native import Estimator

#: A part's queue, its cycles, and the other queues that it keeps busy.
Line = tuple[int, int, tuple[int, ...]]
#: For each part of an operator, (operator, part) of those that it waits for.
Needs = tuple[tuple[tuple[int, int], ...], ...]


class Estimates:
    """``operators`` of the network; divisions are named by numbers."""

    def __init__(self, made: Estimator, operators: Sequence[SharedOperator]) -> None:
        self._estimator, self._operators = made, operators
        self._lines: dict[int, int] = {}
        self._needs: dict[tuple[int, ...], int] = {}
        self._changes = -1
        #: The last choice; choices that follow each other differ in few places.
        self._last: Sequence[int] = ()
        self._own_lines, self._own_needs = (array("q", [0] * len(operators)) for _ in range(2))
        #: Of each operator: itself, and the operators that read what it makes.
        self._readers: list[set[int]] = [{place} for place in range(len(operators))]
        for place, operator in enumerate(operators):
            for source in operator.sources:
                self._readers[source.operator].add(place)

    @classmethod
    def of(cls, signalling: Signalling, queues: int, operators: Sequence[SharedOperator]) -> Estimates | None:
        """None where the estimator cannot be made."""
        made = estimator(signalling, queues)
        return None if made is None else cls(made, operators)

    def finish(
        self,
        numbers: Sequence[int],
        limit: int,
        changes: int,
        line: Callable[[int], Sequence[Line]],
        needs: Callable[[int], Needs],
    ) -> int | None:
        """The finish of the choice of these divisions, in the order of list scheduling, or a number above ``limit`` if
        it is above that; None if the estimator gives none. ``changes``: how often costs have changed; ``line`` and
        ``needs`` of the operator at a place are called for what is not known yet."""
        if changes != self._changes:
            self._changes = changes
            self._lines.clear()
            self._estimator.forget_lines()
            self._last = [-1] * len(self._operators)
        changed = [place for place, (new, old) in enumerate(zip(numbers, self._last, strict=True)) if new != old]
        self._last = numbers
        for place in changed:
            number = numbers[place]
            kept = self._lines.get(number)
            if kept is None:
                kept = self._lines[number] = self._estimator.keep_lines(line(place))
            self._own_lines[place] = kept
        for place in {reader for maker in changed for reader in self._readers[maker]}:
            key = (place, numbers[place], *[numbers[source.operator] for source in self._operators[place].sources])
            kept = self._needs.get(key)
            if kept is None:
                kept = self._needs[key] = self._estimator.keep_needs(needs(place))
            self._own_needs[place] = kept
        return self._estimator.finish(self._own_lines, self._own_needs, limit)
