"""State of a network: values that one inference hands to the next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """A graph input that gets a graph output of the previous inference; ``initial``: its elements before the first."""

    input: str
    output: str
    initial: int = 0

    def __str__(self) -> str:
        return f"state, initially {self.initial}, then {self.output} of the previous inference"
