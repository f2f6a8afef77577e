"""What a unit can run: a pattern is structure, rules, and how a match becomes a workload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.structure import operators_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.claims import RegionClaims
    from match_core.contract.model import Model
    from match_core.contract.structure import Constraint, Match, Structure
    from match_core.contract.workload import Workload


@dataclass(frozen=True, slots=True)
class Part:
    """Tensor ``name`` has the bytes of tensor ``whole`` from ``start_bytes`` on."""

    name: str
    whole: str
    start_bytes: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a unit can run: structure, rules, and how a match becomes a workload.

    ``view`` True: the result is the input's bytes with another shape; no code is emitted. ``parts``: of a view that
    joins tensors or takes rows of one, which bytes they share; with ``swapped``, they are copies in another memory,
    made by the program's swaps. ``search`` replaces the structure for patterns that are not trees (regions): it returns
    all matches of a graph. ``body``: for a region whose unit rewrites it, the model that is computed in place of the
    nodes, with the same inputs and outputs; ``claims``: for a region of a graph-level plug-in. ``joint``: another unit
    that can run it in concurrent programs under this name while this unit is busy too (then among ``occupies``).
    """

    name: str
    description: str
    structure: Structure | None
    constraints: tuple[Constraint, ...]
    workload: Callable[[Match], Workload]
    view: bool = False
    search: Callable[[gs.Graph], tuple[Match, ...]] | None = None
    body: Callable[[Match], Model | None] | None = None
    claims: RegionClaims | None = None
    parts: Callable[[Match], tuple[Part, ...]] | None = None
    swapped: bool = False
    joint: tuple[str, str] | None = None
    occupies: tuple[str, ...] = ()

    @property
    def operators(self) -> frozenset[str]:
        """The operators that matches may contain; none for a search without claims."""
        tops = (*self.claims.operators, *self.claims.atoms) if self.claims else (self.structure,)
        return frozenset(name for top in tops if top is not None for name in operators_of(top))
