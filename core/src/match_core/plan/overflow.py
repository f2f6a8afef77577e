"""Tensors that do not fit the home memory, in a memory behind it that units reach by ordinary addresses.

A tensor may be larger than the home memory, or too many large ones live at once. If the Soc has an overflow memory, the
largest tensors that live at the worst task move there, one at a time, until the rest fits; operators that read or write
them are scheduled again with the cost of that link.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.candidate import Candidate, Candidates, Refusal
from match_core.plan.packing import aligned

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.workload import Operand
    from match_core.plan.draft import Draft


def overflowing(draft: Draft, constant_bytes: int) -> frozenset[str]:
    """The tensors to move next: the largest storage of those that live at the peak, the first of equals. Empty if the
    program fits or no movable tensor lives there."""
    capacity = draft.home.size_bytes - constant_bytes
    live: list[list[int]] = [[] for _ in draft.order]
    for number, (storage, life) in enumerate(zip(draft.storages, draft.lives, strict=True)):
        if storage.overflow:
            continue
        callers = storage.source or storage.target  # the caller provides them all the time
        for place in range(len(live)) if callers else range(life.first, life.last + 1):
            live[place].append(number)
    sizes = [aligned(storage.size_bytes, draft.home.alignment_bytes) for storage in draft.storages]
    totals = [sum(sizes[number] for number in numbers) for numbers in live]
    if not totals or (max(totals) <= capacity and draft.need_bytes(constant_bytes) <= draft.home.size_bytes):
        return frozenset()
    largest = max(live[totals.index(max(totals))], key=lambda number: (sizes[number], -number), default=None)
    return frozenset() if largest is None else frozenset(draft.storages[largest].tensors)


def placed(candidates: Candidates, overflow: Container[str], soc: Soc, units: Sequence[Unit]) -> Candidates:
    """The candidates with operands placed in the Soc's overflow memory; candidates of units whose DMA does not reach it
    are refused."""
    tiling = {unit.name: unit.memory for unit in units if unit.memory is not None}
    legal: list[Candidate] = []
    refused: list[Refusal] = []
    for candidate in candidates.legal:
        named = {t.name for node in candidate.match.nodes for t in (*node.inputs, *node.outputs)}
        touched, memory = sorted(name for name in named if name in overflow), tiling.get(candidate.unit)
        if touched and memory is not None and soc.link_between(memory, soc.overflow or "") is None:
            rule = f"reaches tensors in {soc.overflow}"
            refused.append(Refusal(candidate.unit, candidate.pattern.name, candidate.node_names, rule, touched[0]))
            continue
        legal.append(_moved(candidate, overflow, soc) if touched and memory is not None else candidate)
    return Candidates(tuple(legal), (*candidates.refused, *refused))


def _moved(candidate: Candidate, overflow: Container[str], soc: Soc) -> Candidate:
    def place(operand: Operand) -> Operand:
        if operand.role == "constant":
            return operand
        made = operand.role == "output"
        tensor = candidate.result(operand.name) if made else candidate.match.tensor(operand.name)
        return replace(operand, far=soc.overflow or "") if tensor.name in overflow else operand

    workload = replace(candidate.workload, operands=tuple(place(operand) for operand in candidate.workload.operands))
    return replace(candidate, workload=workload)
