"""Turns a mapping into a concurrent program."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.map.dataflow import tensors_of
from match_core.plan.shortage import store_shortage

from match_concurrent.planning.assemble import Assembler
from match_concurrent.planning.build import Built, build, caller_bytes
from match_concurrent.planning.heuristic import first_draft
from match_concurrent.planning.improve import improved
from match_concurrent.planning.planning_effort import PlanOptions
from match_concurrent.planning.room import shortage

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model
    from match_core.contract.program import Program


def plan_concurrent(
    model: Model,
    mapping: UnitMapping,
    soc: Soc,
    constants: Sequence[tuple[str, int]] = (),
    scratch_bytes: Mapping[int, int] | None = None,
    stored: Sequence[tuple[str, int]] = (),
    options: PlanOptions | None = None,
    overflow: Container[str] = (),
    blocking: Container[str] = (),
) -> Program:
    """Plan a concurrent program (docs/programs.md, docs/planning.md).

    ``constants``: (name, bytes) of all data in the home memory except activations; ``stored``: of data in the Soc's
    store; ``overflow``: tensors in its overflow memory; ``blocking``: units without a dispatch loop, whose tasks the
    host runs; ``scratch_bytes``: position in ``mapping.assignments`` -> bytes of the home memory that the task uses
    while it runs. ``Program.timing`` has makespan and bound in cycles. Deterministic.
    InfeasibleError MATCH-M001 if the memories are too small even with swaps.
    """
    home = soc.memory(soc.home)
    fixed, streamed = sum(size for _, size in constants), sum(size for _, size in stored)
    store_bytes = 0
    if soc.store is not None:
        store_bytes = soc.memory(soc.store).size_bytes - streamed
        if store_bytes < 0:
            raise store_shortage(model, soc.memory(soc.store), stored)
    if soc.store == soc.overflow and any(True for name in tensors_of(model.graph) if name in overflow):
        store_bytes = 0  # one area of that memory, for the tensors that are always there
    built = build(model, mapping, soc, home.size_bytes, scratch_bytes or {}, store_bytes, overflow, blocking)
    caller = caller_bytes(built)
    built = _with_capacity(built, max(0, home.size_bytes - fixed - caller))
    draft = first_draft(built.problem)
    if draft is None or fixed + caller > home.size_bytes:
        raise shortage(model, built, mapping.assignments, home, constants, caller)
    draft, status = improved(built.problem, draft, options or PlanOptions())
    return Assembler(built, draft, mapping.assignments, soc).program(status, fixed, streamed, caller)


def _with_capacity(built: Built, capacity_bytes: int) -> Built:
    return replace(built, problem=replace(built.problem, capacity_bytes=capacity_bytes))
