"""What a unit that takes whole regions says of itself: operators, limits, what is worth it, and its own passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.patterns.rules import NodeRule
    from match_core.regions.region import Region
    from match_core.transforms.base import Pass


@dataclass(frozen=True, slots=True)
class OperatorClaim:
    """An operator that the engine runs inside a region. ``op``: ``domain::Op``, alternatives joined by ``|``;
    ``rules``: what a node must fulfil besides; a node that breaks one is in no region, which is told with the rule."""

    op: str
    rules: tuple[NodeRule, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The operator names."""
        return tuple(self.op.split("|"))


@dataclass(frozen=True, slots=True)
class RegionLimits:
    """What one region of the engine may have at most; None: no limit. A larger one is split."""

    nodes_max: int | None = None
    inputs_max: int | None = None
    outputs_max: int | None = None
    constant_bytes_max: int | None = None


@dataclass(frozen=True, slots=True)
class RegionClaims:
    """All that core needs to find the regions of a unit.

    ``worth``: the package's own criterion besides modelled cycles: None where the region is worth its overhead, else
    the value that speaks against it ("2 nodes"), which refuses the region; ``worth_rule`` says it in words.
    ``passes`` run on each region as a model of its own, in order, and keep its inputs and outputs: names, shapes and
    types. What they return is what the unit computes.
    """

    operators: tuple[OperatorClaim, ...]
    limits: RegionLimits = RegionLimits()
    worth: Callable[[Region], str | None] | None = None
    worth_rule: str = "a region is worth its overhead"
    passes: tuple[Pass, ...] = ()
