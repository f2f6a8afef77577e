"""What a unit that takes whole regions declares: operators, limits, a criterion of worth, and its own passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.node_rule import NodeRule
    from match_core.contract.passes import Pass
    from match_core.contract.region import Region


@dataclass(frozen=True, slots=True)
class OperatorClaim:
    """An operator that the engine runs inside a region. ``op``: ``domain::Op``, alternatives joined by ``|``;
    ``rules``: further conditions on a node. A node that breaks a rule joins no region, and the rule is reported."""

    op: str
    rules: tuple[NodeRule, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The operator names."""
        return tuple(self.op.split("|"))


@dataclass(frozen=True, slots=True)
class RegionLimits:
    """Upper limits of one region of the engine; None: no limit. A larger region is split."""

    nodes_max: int | None = None
    inputs_max: int | None = None
    outputs_max: int | None = None
    constant_bytes_max: int | None = None


@dataclass(frozen=True, slots=True)
class RegionClaims:
    """The regions that a unit takes, and how it rewrites them.

    ``worth``: the package's own criterion in addition to modelled cycles. It returns None if the region is worth its
    overhead, else the value that speaks against it ("2 nodes"); the region is then refused. ``worth_rule`` states the
    criterion in words. ``passes`` run in order on each region as a model of its own and preserve its inputs and
    outputs: names, shapes and types. The unit computes the model that the last pass returns.
    """

    operators: tuple[OperatorClaim, ...]
    limits: RegionLimits = RegionLimits()
    worth: Callable[[Region], str | None] | None = None
    worth_rule: str = "a region is worth its overhead"
    passes: tuple[Pass, ...] = ()
