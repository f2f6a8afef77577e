"""Programs of mappings that are planned alone, without code."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from match_core.contract.hardware import Soc
from match_core.contract.mapping import Mapping as UnitMapping
from match_core.contract.model import Model
from match_core.contract.program import Program
from match_core.contract.unit_api import Overwrite
from match_core.plan.draft import draft_of
from match_core.plan.plan import program_of
from match_core.plan.shortage import check_fit


def plan(
    model: Model,
    mapping: UnitMapping,
    soc: Soc,
    constants: Sequence[tuple[str, int]] = (),
    scratch_bytes: Mapping[int, int] | None = None,
    stored: Sequence[tuple[str, int]] = (),
    overflow: Container[str] = (),
    overlaps: Sequence[Overwrite] = (),
) -> Program:
    """The program. ``constants`` and ``stored``: (name, bytes); ``scratch_bytes`` by position. InfeasibleError
    MATCH-M001 if a memory is too small."""
    fixed = sum(size for _, size in constants)
    draft = draft_of(model, mapping, soc.memory(soc.home), fixed, scratch_bytes or {}, overflow, overlaps)
    check_fit(model, soc, draft, tuple(constants), tuple(stored))
    return program_of(soc, draft, tuple(constants), tuple(stored))
