"""Unique names."""

from __future__ import annotations

from collections.abc import Iterable


class UniqueNames:
    """Returns every name once; repeated names get a number appended."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._numbers = dict.fromkeys(taken, 1)

    def unique(self, name: str) -> str:
        """``name``, or ``name_<number>`` if it is already used."""
        free = name
        while free in self._numbers:
            self._numbers[name] += 1
            free = f"{name}_{self._numbers[name]}"
        self._numbers[free] = 1
        return free
