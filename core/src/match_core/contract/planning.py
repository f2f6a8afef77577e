"""Plans of concurrent programs: what the core requests from packages."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.model import Model
    from match_core.contract.program import Program
    from match_core.contract.scheduling import Scheduling
    from match_core.contract.unit_api import Overwrite

#: (name, bytes) of values in one memory.
Sizes = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Needs:
    """What the code of assignments requires besides activations: ``constants`` in the home memory, ``stored`` constants
    in the Soc's store, bytes of ``scratch`` in the home memory by position, ``overlaps`` that kernels allow, and
    ``places`` of operands in the store's image by position."""

    constants: Sizes
    stored: Sizes
    scratch: Table[int, int]
    overlaps: tuple[Overwrite, ...] = ()
    places: Table[int, Table[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanRequest:
    """Requests times and addresses for a concurrent mapping, or for a sequential one with parts or streamed constants.
    ``measure`` returns what assignments require; ``overflow``: tensors in the Soc's overflow memory; ``offered``: for a
    sequential mapping, all candidates with schedules; ``code`` as in ``MappingRequest``."""

    model: Model
    mapping: Mapping
    scheduling: Scheduling
    measure: Callable[[tuple[Assignment, ...]], Needs]
    overflow: frozenset[str] = frozenset()
    offered: tuple[Assignment, ...] = ()
    code: str | None = None


@dataclass(frozen=True)
class Plan:
    """The program, and the mapping that it runs: the requested one, or the same shares with streamed constants."""

    mapping: Mapping
    program: Program
