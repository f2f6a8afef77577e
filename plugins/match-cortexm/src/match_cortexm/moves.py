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
#: Elements up to which loops are unrolled.
UNROLLED = 16
#: Bytes of a run from which it is copied by memcpy, and from which compilers call a function for that.
_RUN_BYTES, _LONG_BYTES = 8, 64
_WORD_BYTES, _BYTE_BITS = 4, 8
#: Lines and columns of a tile.
_TILE = 8
#: Turns of an inner loop that compilers unroll (gcc's max-completely-peel-times is 16, of branches back), those of a
#: loop over bytes whose distance is no power of two, and elements of two loops that are unrolled whole: counted with
#: gcc 12.2 for M0+, M4 and M55. Registers hold about 40 elements of the last.
_TURNS, _BYTE_TURNS, _WHOLE, _HELD = 17, 80, 72, 40
#: Turns of loops that have figures of their own.
_SHORT = 4
#: What the host tells of its loops.
_TOLD = ("loops", "inner", "outer", "apart", "along")


def moved(workload: Workload) -> Mapping[str, int]:
    """The counts of a copy, with its runs and rows; of elements that loops copy, those of the loops."""
    counts, result = workload.parameters, workload.operands[-1]
    plain = {name: count for name, count in counts.items() if name not in _TOLD}
    runs = _runs(workload)
    if "inner" in counts and _by_elements(workload):
        elements, lines = counts["elements"], counts["elements"] // counts["inner"]
        beyond = max(0, elements - _HELD) if _is_whole(counts) else 0
        return {"elements": elements, "lines": lines, "images": lines // counts["outer"], "beyond": beyond}
    if workload.kind == "host_concat":  # its loops are those of its sources
        return {**plain, "runs": runs}
    return {**plain, "runs": runs, "rows": counts["elements"] // _line(result)}


def _by_elements(workload: Workload) -> bool:
    """Whether a copy of one loop nest neither uses memcpy nor tiles, nor fills anything first."""
    counts = workload.parameters
    run = counts["inner"] * workload.operands[-1].element_bits // 8 if counts["apart"] == 1 else 0
    return run < _RUN_BYTES and counts.get("memory") == 2 * counts["elements"] == 2 * counts.get("steps", 0)


def _is_whole(counts: Mapping[str, int]) -> bool:
    return counts["elements"] <= _WHOLE and counts["inner"] <= _TURNS


def _loop_form(counts: Mapping[str, int], bits: int) -> str:
    """Which loops of a copy of single elements compilers unroll."""
    inner, apart = counts["inner"], counts["apart"]
    if _is_whole(counts):
        return "elements, whole"
    kept = ", kept" if apart == 1 else ""
    if inner <= _TURNS:
        return f"elements, lines{f' of {inner}' if inner <= _SHORT else ''}{kept}"
    even = ", even" if apart & (apart - 1) == 0 else ""
    return f"elements, {'long lines' if bits == _BYTE_BITS and inner <= _BYTE_TURNS else 'loops'}{even}"


def _line(operand: Operand) -> int:
    """Elements of the last axis that has some."""
    return next((axis.size for axis in reversed(operand.axes) if axis.size > 1), 1)


def move(workload: Workload) -> str:
    """How a copy moves elements: alone, in tiles, or in runs, whose ends may be at any byte."""
    told = workload.parameters
    if "inner" in told and _by_elements(workload):
        return _loop_form(told, workload.operands[-1].element_bits)
    counts = moved(workload)
    size = workload.operands[-1].element_bits // 8
    run = size * counts["elements"] // max(1, counts["runs"])
    if counts.get("steps", 0) > counts["elements"]:
        return "odd tiles" if told.get("inner", 0) % _TILE or told.get("along", 0) % _TILE else "tiles"
    alone = size != _WORD_BYTES and counts.get("memory", 0) == 2 * counts["elements"]
    if alone or run < max(_RUN_BYTES, 2 * size):
        return f"elements{_alone(workload)}"
    sides = {_line(operand) * size % _WORD_BYTES for operand in workload.operands}
    odd = ", odd" if run % _WORD_BYTES or any(sides) else ""
    once = ", once" if counts["runs"] < len(workload.operands) else ""  # no loop
    return ("long runs" if run >= _LONG_BYTES else "short runs") + odd + once


def _alone(workload: Workload) -> str:
    """Loops over few channels have no turns."""
    after = [axis.size for axis in workload.operands[-1].axes]
    if len(after) > IMAGE_AXES:
        return ", many axes"
    return ", few columns" if after and after[-1] < _SHORT else ""


def _runs(workload: Workload) -> int:
    """Neighbours that stay neighbours: the inner loop of a copy; of several copies, axes from the last one, up to the
    first that differs."""
    counts, (*sources, result) = workload.parameters, workload.operands
    if "inner" in counts:
        copied = min(prod(axis.size for axis in operand.axes) for operand in workload.operands)
        return copied // counts["inner"] if counts["apart"] == 1 else copied
    return sum(_runs_of(source, result) for source in sources)


def _runs_of(source: Operand, result: Operand) -> int:
    before, after = ([axis.size for axis in operand.axes] for operand in (source, result))
    run = 1
    while before and before[-1] == after[-1]:
        run *= before.pop()
        after.pop()
    if before:
        run *= min(before[-1], after[-1])
    return -(-min(prod(axis.size for axis in operand.axes) for operand in (source, result)) // max(run, 1))
