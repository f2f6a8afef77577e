"""What a unit that takes whole regions declares: operators, limits, a criterion of worth, and its own passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.structure import operators_of

if TYPE_CHECKING:
    from match_core.contract.node_rule import NodeRule
    from match_core.contract.passes import Pass
    from match_core.contract.region import Region
    from match_core.contract.structure import Constraint, Structure


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
class AtomClaim:
    """Operators that the engine runs as one inside a region, such as a convolution with its requantisation:
    ``structure`` and ``constraints`` as in patterns. A region has all nodes of an atom or none, and a refusal names all
    of them. ``name`` is for the package's own use."""

    name: str
    structure: Structure
    constraints: tuple[Constraint, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The operator names."""
        return tuple(operators_of(self.structure))


@dataclass(frozen=True, slots=True)
class RegionLimits:
    """Upper limits of one region of the engine; None: no limit. A larger region is split."""

    nodes_max: int | None = None
    inputs_max: int | None = None
    outputs_max: int | None = None
    constant_bytes_max: int | None = None


@dataclass(frozen=True, slots=True)
class RegionClaims:
    """The regions that a unit takes, of ``operators`` and ``atoms``, and how it rewrites them.

    ``worth``: the package's own criterion in addition to modelled cycles. It returns None if the region is worth its
    overhead, else the value that speaks against it ("2 nodes"); the region is then refused. ``worth_rule`` states the
    criterion in words. ``passes`` run in order on each region as a model of its own and preserve its inputs and
    outputs: names, shapes and types. The unit computes the model that the last pass returns. ``counts``: further
    integers of a region for cost models, by name (geometry of its workload). ``holds``: bytes that a region keeps in
    memories of kind "held", by memory. ``parts_max``: how many connected parts of each region are candidates too,
    the smallest first, so that the mapper may leave operators out and share out what regions hold.
    """

    operators: tuple[OperatorClaim, ...] = ()
    limits: RegionLimits = RegionLimits()
    worth: Callable[[Region], str | None] | None = None
    worth_rule: str = "a region is worth its overhead"
    passes: tuple[Pass, ...] = ()
    counts: Callable[[Region], Mapping[str, int]] | None = None
    holds: Callable[[Region], Mapping[str, int]] | None = None
    parts_max: int = 0
    atoms: tuple[AtomClaim, ...] = ()
