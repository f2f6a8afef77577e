"""CP-SAT on one question: do these blocks fit these bytes?"""

from __future__ import annotations

from dataclasses import dataclass

from match_core.planning.packing import Packing

#: CP-SAT's own measure of effort, which does not depend on the machine (here some 20 s of one core).
DETERMINISTIC_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """Offsets where the blocks fit; ``impossible`` where it is proven that they do not; neither where it gave
    up."""

    offsets: tuple[int, ...] | None
    impossible: bool


def pack(packing: Packing, alignment_bytes: int, capacity_bytes: int) -> PackAnswer:
    """Rectangles (life by size) that do not overlap in a strip of the capacity's height, in units of the
    alignment. One thread, a fixed seed and a deterministic limit."""
    # Imported here because it takes a second, which models that fit need not spend.
    from ortools.sat.python import cp_model

    height = capacity_bytes // alignment_bytes
    model = cp_model.CpModel()
    lives, places, offsets = [], [], []
    for number, (block, size_bytes) in enumerate(zip(packing.blocks, packing.sizes, strict=True)):
        size = size_bytes // alignment_bytes
        if size > height:
            return PackAnswer(None, True)
        offset = model.new_int_var(0, height - size, f"b{number}")
        duration = block.last - block.first + 1
        lives.append(model.new_fixed_size_interval_var(block.first, duration, f"t{number}"))
        places.append(model.new_fixed_size_interval_var(offset, size, f"p{number}"))
        offsets.append(offset)
    model.add_no_overlap_2d(lives, places)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = DETERMINISTIC_SECONDS
    status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return PackAnswer(tuple(int(solver.value(offset)) * alignment_bytes for offset in offsets), False)
    return PackAnswer(None, status == cp_model.INFEASIBLE)
