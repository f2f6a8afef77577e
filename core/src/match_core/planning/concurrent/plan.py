"""From a mapping to a program whose units run side by side."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.planning.concurrent.assemble import Assembler
from match_core.planning.concurrent.build import Built, build, caller_bytes
from match_core.planning.concurrent.heuristic import first_draft
from match_core.planning.concurrent.improve import improved
from match_core.planning.concurrent.options import PlanOptions
from match_core.planning.concurrent.room import shortage
from match_core.planning.dataflow import tensors_of
from match_core.planning.shortage import store_shortage

if TYPE_CHECKING:
    from match_core.hardware import Soc
    from match_core.ir.model import Model
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.planning.program import Program


def plan_concurrent(
    model: Model,
    mapping: UnitMapping,
    soc: Soc,
    constants: Sequence[tuple[str, int]] = (),
    scratch_bytes: Mapping[int, int] | None = None,
    stored: Sequence[tuple[str, int]] = (),
    options: PlanOptions | None = None,
    far: Container[str] = (),
    blocking: Container[str] = (),
) -> Program:
    """Plan a program whose units run side by side (docs/programs.md, docs/planning.md).

    ``constants``: (name, bytes) of everything that lies in the home memory besides activations; ``stored``: of what
    lies in the Soc's store; ``far``: tensors in its overflow memory; ``blocking``: units without a dispatch loop, whose
    tasks the host runs; ``scratch_bytes``: position in ``mapping.assignments`` -> bytes of the home memory that the
    task needs while it runs. ``Program.timing`` has makespan and bound in cycles. Deterministic. InfeasibleError
    MATCH-M001 where the memories are too small, swaps included.
    """
    home = soc.memory(soc.home)
    fixed, streamed = sum(size for _, size in constants), sum(size for _, size in stored)
    store_bytes = 0
    if soc.store is not None:
        store_bytes = soc.memory(soc.store).size_bytes - streamed
        if store_bytes < 0:
            raise store_shortage(model, soc.memory(soc.store), stored)
    if soc.store == soc.overflow and any(True for name in tensors_of(model.graph) if name in far):
        store_bytes = 0  # one area of that memory: the one of the tensors that lie there all the time
    built = build(model, mapping, soc, home.size_bytes, scratch_bytes or {}, store_bytes, far, blocking)
    caller = caller_bytes(built)
    built = _with_capacity(built, max(0, home.size_bytes - fixed - caller))
    draft = first_draft(built.problem)
    if draft is None or fixed + caller > home.size_bytes:
        raise shortage(model, built, mapping.assignments, home, constants, caller)
    draft, status = improved(built.problem, draft, options or PlanOptions())
    return Assembler(built, draft, mapping.assignments, soc).program(status, fixed, streamed, caller)


def _with_capacity(built: Built, capacity_bytes: int) -> Built:
    return replace(built, problem=replace(built.problem, capacity_bytes=capacity_bytes))
