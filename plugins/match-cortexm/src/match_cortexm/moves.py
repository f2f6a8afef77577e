"""How the host's copies move elements: alone, in tiles, or in runs; and what their figures multiply."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_cortexm.windows import IMAGE_AXES

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload

#: Patterns of the host that copy elements.
MOVES = ("host_concat", "host_pad", "host_slice", "host_split", "host_transpose")
#: Elements up to which loops are unrolled, and lines of a transposition.
UNROLLED, _FEW = 16, 8
#: Bytes of a run from which it is copied by memcpy, and from which compilers call a function for that.
_RUN_BYTES, _LONG_BYTES = 8, 64
_WORD_BYTES = 4
#: Lines and columns of a tile.
_TILE = 4
#: Columns of transpositions for which vectors have instructions.
_WOVEN = (2, 4)


def moved(workload: Workload) -> Mapping[str, int]:
    """The counts of a copy, with its runs and rows."""
    counts, (*sources, result) = workload.parameters, workload.operands
    runs = sum(_runs(source, result, workload.kind == "host_transpose") for source in sources)
    if workload.kind == "host_concat":  # its loops are those of its sources
        return {**counts, "runs": runs}
    return {**counts, "runs": runs, "rows": counts["elements"] // _line(result)}


def _line(operand: Operand) -> int:
    """Elements of the last axis that has some."""
    return next((axis.size for axis in reversed(operand.axes) if axis.size > 1), 1)


def move(workload: Workload) -> str:
    """How a copy moves elements: alone, in tiles, or in runs, whose ends may be at any byte."""
    counts = moved(workload)
    size = workload.operands[-1].element_bits // 8
    run = size * counts["elements"] // max(1, counts["runs"])
    if counts.get("steps", 0) > counts["elements"]:
        return "odd tiles" if any(_line(operand) % _TILE for operand in workload.operands) else "tiles"
    alone = size != _WORD_BYTES and counts.get("memory", 0) == 2 * counts["elements"]
    if alone or run < max(_RUN_BYTES, 2 * size):
        return f"elements{_alone(workload)}"
    sides = {_line(operand) * size % _WORD_BYTES for operand in workload.operands}
    odd = ", odd" if run % _WORD_BYTES or any(sides) else ""
    once = ", once" if counts["runs"] < len(workload.operands) else ""  # no loop
    return ("long runs" if run >= _LONG_BYTES else "short runs") + odd + once


def _alone(workload: Workload) -> str:
    """Helium stores two or four vectors element by element; loops over few channels, or few lines, have no turns."""
    before, after = ([axis.size for axis in operand.axes] for operand in (workload.operands[0], workload.operands[-1]))
    if len(after) > IMAGE_AXES:
        return ", many axes, kept columns" if _line_stays(before, after) else ", many axes"
    if after and after[-1] in _WOVEN and before[-len(after) + 1 :] == [after[-1], *after[1:-1]]:
        return ", woven"
    if after and after[-1] < max(_WOVEN):
        return ", few columns"
    if len(before) != IMAGE_AXES or len(after) != IMAGE_AXES:
        return ""
    first = before[-2:] == [after[-1], after[1]]  # channels were last
    rows, line = (after[1], prod(after[2:])) if first else (prod(after[1:3]), after[3])
    if line <= UNROLLED:
        return ""
    if rows > _FEW:
        return ", to lines" if first else ""
    return ", woven rows" if rows in _WOVEN else ", few rows"


def _line_stays(before: list[int], after: list[int]) -> bool:
    """Whether the last axis is none of those that change places."""
    return 1 < after[-1] == before[-1] and after[-1] not in after[:-1]


def _runs(source: Operand, result: Operand, reordered: bool) -> int:
    """Runs that are contiguous in both: axes from the last one, up to the first that differs."""
    before, after = ([axis.size for axis in operand.axes] for operand in (source, result))
    run = 1
    if reordered and before == after:  # axes of one size changed places: rather not the last one
        return prod(before[:-1]) if before[-1] not in before[:-1] else prod(before)
    while before and before[-1] == after[-1]:
        run *= before.pop()
        after.pop()
    if before and not reordered:
        run *= min(before[-1], after[-1])
    return -(-min(prod(axis.size for axis in operand.axes) for operand in (source, result)) // max(run, 1))
