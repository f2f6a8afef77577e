"""Rules about single nodes, in words: constraints of patterns, and conditions for nodes that join a region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.structure import Constraint, Match

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class NodeRule:
    """``check`` returns None if the rule holds, else the value that broke it."""

    name: str
    description: str
    check: Callable[[gs.Node], str | None]

    def on(self, capture: str) -> Constraint:
        """The rule as a constraint on a captured node."""

        def check(match: Match) -> str | None:
            return self.check(match.node(capture)) if match.has(capture) else None

        return Constraint(self.name, self.description, check)
