"""The decisions of a compilation, and the files generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.candidate import Refusal
    from match_core.contract.exactness import ExactChoice
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import Objective
    from match_core.contract.mapping import Assignment
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model
    from match_core.contract.program import Program
    from match_core.contract.sources import Sources
    from match_core.contract.unit_api import UnitApi


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The decisions of all stages. ``source`` is the loaded model before transforms, ``model`` the integer graph, which
    the program must compute bit for bit. ``offered``: the candidates with schedules from which the mapping was chosen.
    ``sequential_cycles``: modelled cycles of the sequential program, None if none was made. ``declined_cycles``: of a
    concurrent program whose gain is smaller than its uncertainty, None if there is none. ``choice``: the nodes that are
    exact for a limit of loss. ``operators``: those in the patterns of each unit, disabled ones too, by name."""

    source: Model
    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    mapping: UnitMapping
    program: Program
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    sequential_cycles: int | None = None
    declined_cycles: int | None = None
    choice: ExactChoice | None = None
    operators: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the passes for the user."""
        return self.model.notes


@dataclass(frozen=True, kw_only=True)
class Compilation(Planned):
    """The decisions of all stages, and the source files generated from them."""

    apis: Mapping[str, UnitApi]
    sources: Sources
