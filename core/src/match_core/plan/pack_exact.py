"""CP-SAT for one question: do these blocks fit these bytes?"""

from __future__ import annotations

from dataclasses import dataclass

from match_core.cp_sat import load_cp_model, solve
from match_core.plan.packing import Packing, live_bytes

#: CP-SAT's own measure of effort, which does not depend on the machine (here some 20 s of one core).
DETERMINISTIC_SECONDS = 1.0
#: The solver's preparation visits all pairs of blocks that live together; with more pairs it costs more than it saves.
PRESOLVED_PAIRS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """Offsets if the blocks fit; ``impossible`` if it is proven that they do not; neither if the solver gave up."""

    offsets: tuple[int, ...] | None
    impossible: bool


def pack(
    packing: Packing, alignment_bytes: int, capacity_bytes: int, deterministic_seconds: float = DETERMINISTIC_SECONDS
) -> PackAnswer:
    """Rectangles (life by size) that do not overlap in a strip of the capacity's height, in units of the alignment. One
    thread, a fixed seed and a deterministic limit. A block that another one may overwrite at its last step ends one
    step earlier; what begins at that step is kept apart from it by a constraint of its own.

    The search branches on the block with the lowest possible position first; ties go to long-lived, large blocks. A
    cumulative resource states again that the heights of blocks that live together add up. Both together find solutions
    that neither finds alone.
    """
    cp_model = load_cp_model()
    height = capacity_bytes // alignment_bytes
    model = cp_model.CpModel()
    lives, places, offsets = [], [], []
    under = {other for block in packing.blocks for other, _ in block.over}
    for number, (block, size_bytes) in enumerate(zip(packing.blocks, packing.sizes, strict=True)):
        size = size_bytes // alignment_bytes
        if size > height:
            return PackAnswer(None, True)
        offset = model.new_int_var(0, height - size, f"b{number}")
        duration = block.last - block.first + (number not in under)
        lives.append(model.new_fixed_size_interval_var(block.first, duration, f"t{number}"))
        places.append(model.new_fixed_size_interval_var(offset, size, f"p{number}"))
        offsets.append(offset)
    model.add_no_overlap_2d(lives, places)
    for low in under:
        for high, need, reach in packing.limits[low]:
            if packing.blocks[high].first == packing.blocks[low].last:
                before = model.new_bool_var(f"{low}<{high}")
                model.add(offsets[low] + need // alignment_bytes <= offsets[high]).only_enforce_if(before)
                model.add(offsets[low] >= offsets[high] + reach // alignment_bytes).only_enforce_if(before.negated())
    model.add_cumulative(lives, [size_bytes // alignment_bytes for size_bytes in packing.sizes], height)
    first = [offsets[number] for number in _by_life(packing)]
    model.add_decision_strategy(first, cp_model.CHOOSE_LOWEST_MIN, cp_model.SELECT_MIN_VALUE)
    answer = solve(
        model,
        deterministic_seconds,
        symmetry_level=0,
        cp_model_presolve=sum(len(rivals) for rivals in packing.rivals) // 2 <= PRESOLVED_PAIRS_MAX,
        use_timetabling_in_no_overlap_2d=True,
    )
    if answer.values is None:
        return PackAnswer(None, answer.infeasible)
    return PackAnswer(tuple(int(answer.values.value(offset)) * alignment_bytes for offset in offsets), False)


def _by_life(packing: Packing) -> list[int]:
    """The blocks, longest life first, then the largest area, then those that live together with most bytes."""
    live = live_bytes(packing.blocks)

    def rank(number: int) -> tuple[int, int, int, int]:
        block, size = packing.blocks[number], packing.sizes[number]
        life = block.last - block.first + 1
        most = max(total for step, total in live.items() if block.first <= step <= block.last)
        return -life, -life * size, -most, number

    return sorted(range(len(packing.blocks)), key=rank)
