"""Turns a mapping into a concurrent program."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.map.dataflow import tensors_of
from match_core.plan.shortage import store_shortage

from match_concurrent.planning.assemble import Assembler
from match_concurrent.planning.build import Built, build, caller_bytes
from match_concurrent.planning.heuristic import first_draft
from match_concurrent.planning.improve import improved
from match_concurrent.planning.room import shortage

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.model import Model
    from match_core.contract.program import Program

    from match_concurrent.planning.answers import Answers
    from match_concurrent.planning.draft import Draft
    from match_concurrent.planning.planning_effort import PlanOptions


@dataclass(frozen=True)
class Begun:
    """The problem of a mapping, and its first draft, which is always valid. Bytes of constants in the home memory
    (``fixed``), of data in the Soc's store (``streamed``), and of the caller's buffers."""

    built: Built
    draft: Draft
    mapping: UnitMapping
    soc: Soc
    fixed: int
    streamed: int
    caller: int

    @property
    def swaps(self) -> bool:
        """Whether the draft copies activations to the store and back."""
        return any(step.kind != "job" for step in self.draft.layout.steps)

    def program(self, options: PlanOptions, answers: Answers | None = None) -> Program:
        """The program with the best draft; ``answers``: of the solver. ``Program.timing`` has makespan and bound in
        cycles. Deterministic."""
        draft, status = improved(self.built.problem, self.draft, options, answers)
        assembler = Assembler(self.built, draft, self.mapping.assignments, self.soc)
        return assembler.program(status, self.fixed, self.streamed, self.caller)


def begin(
    model: Model,
    mapping: UnitMapping,
    soc: Soc,
    constants: Sequence[tuple[str, int]] = (),
    scratch_bytes: Mapping[int, int] | None = None,
    stored: Sequence[tuple[str, int]] = (),
    overflow: Container[str] = (),
    blocking: Container[str] = (),
) -> Begun:
    """Begin the plan of a concurrent program (docs/programs.md, docs/planning.md).

    ``constants``: (name, bytes) of all data in the home memory except activations; ``stored``: of data in the Soc's
    store; ``overflow``: tensors in its overflow memory; ``blocking``: units without a dispatch loop, whose tasks the
    host runs; ``scratch_bytes``: position in ``mapping.assignments`` -> bytes of the home memory that the task uses
    while it runs. InfeasibleError MATCH-M001 if the memories are too small even with swaps.
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
    return Begun(built, draft, mapping, soc, fixed, streamed, caller)


def _with_capacity(built: Built, capacity_bytes: int) -> Built:
    return replace(built, problem=replace(built.problem, capacity_bytes=capacity_bytes))
