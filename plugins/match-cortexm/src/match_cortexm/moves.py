"""How the host's copies move elements: alone, in tiles, or in runs; and what their figures multiply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import gcd, prod
from typing import TYPE_CHECKING

from match_cortexm.windows import IMAGE_AXES

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload

#: Patterns of the host that copy elements.
MOVES = (
    *("host_concat", "host_depth_to_space", "host_pad", "host_slice", "host_space_to_depth", "host_split"),
    *("host_tile", "host_expand", "host_transpose"),
)
#: Copies some elements several times, if it computes none.
_RESIZE = "host_resize"
#: Those that read elements several times.
_REPEAT = ("host_tile", "host_expand", _RESIZE)
#: That of several sources.
_JOIN = "host_concat"
#: Elements up to which loops are unrolled.
UNROLLED = 16
#: Bytes of a run from which it is copied by memcpy, and from which compilers call a function for that.
_RUN_BYTES, _LONG_BYTES = 8, 64
#: Bytes up to which compilers copy a run word by word without a loop, and from which C libraries copy words where these
#: have to be aligned (newlib).
_UNROLLED_BYTES, _COPIED_BYTES = 32, 16
_WORD_BYTES, _BYTE_BITS = 4, 8
#: Lines and columns of a tile, and tiles of a line whose loop compilers unroll: counted with gcc 12.2 for M0+.
_TILE, _FEW_TILES = 8, 2
#: Turns of an inner loop that compilers unroll (gcc's max-completely-peel-times is 16, of branches back), those of a
#: loop over bytes whose distance is no power of two, and elements of two loops that are unrolled whole: counted with
#: gcc 12.2 for M0+, M4 and M55. Registers hold about 40 elements of the last.
TURNS, _BYTE_TURNS, _WHOLE, _HELD = 17, 120, 72, 40
#: Bytes of lines whose last one is copied alone, behind a half of a word.
_HALVES = (3, 7)
#: Bytes that a function copies, alone or as the first ones of several sources: counted with gcc 12.2 for M4.
_CALLED = (5, 6, 7)
#: Lines from which compilers keep places in registers, on cores with few of them: counted with gcc 12.2 for M0+.
_MANY_LINES = 32
#: Turns of loops that have figures of their own.
_SHORT = 4
#: Vectors that one instruction of Helium interleaves, and their bits.
_WOVEN, _VECTOR_BITS = (2, 4), 128
#: What the host tells of its loops.
_TOLD = ("loops", "inner", "outer", "apart", "along")


def copies(workload: Workload) -> bool:
    """Whether a kernel of the host moves elements and computes none."""
    return workload.kind in MOVES or (workload.kind == _RESIZE and "apart" in workload.parameters)


def moved(workload: Workload) -> Mapping[str, int]:
    """The counts of a copy, with its runs and rows; of elements that loops copy, those of the loops."""
    counts, result = workload.parameters, workload.operands[-1]
    if "borders" in counts:
        return counts
    plain = {name: count for name, count in counts.items() if name not in _TOLD}
    runs = _runs(workload)
    if "inner" in counts and _by_elements(workload):
        elements, lines = counts["elements"], counts["elements"] // counts["inner"]
        beyond = max(0, elements - _HELD) if _is_whole(counts) else 0
        found = {"elements": elements, "lines": lines, "images": lines // counts["outer"], "beyond": beyond}
        found["near"] = elements * (counts["outer"] < _MANY_LINES and counts["inner"] % 2 == 0)
        if counts["apart"] == 1:  # words, halves of words and bytes
            bytes_ = counts["inner"] * result.element_bits // _BYTE_BITS
            found["pieces"] = lines * bytes_.bit_count()
            found["called"] = int(lines == 1 and bytes_ in _CALLED)
        return {**found, **_vectors(counts, result.element_bits)}
    if _in_squares(counts):
        return _squares(counts)
    if workload.kind == _JOIN:  # its loops are those of its sources
        return {**plain, "runs": runs, "unaligned": _unaligned(workload), **_joined(workload)}
    rows = counts["elements"] // _line(result)
    odd = _padded(workload) if workload.kind == "host_pad" else _bytes_of(result) - _aligned(counts, result)
    starts = runs // counts["outer"] if counts.get("loops", 0) > 2 else 0  # of the loop around runs
    blocks, rest = divmod(_bytes_of(result) // runs, _COPIED_BYTES)
    pieces = {"blocks": runs * blocks, "rests": runs * (rest > 0)}
    return {**plain, "runs": runs, "rows": rows, "unaligned": odd, "starts": starts, **pieces}


def _in_squares(counts: Mapping[str, int]) -> bool:
    """Whether a copy goes along neighbours of one side in its inner loop, and takes turns of tiles, too."""
    return counts.get("apart", 1) > 1 and counts.get("steps", 0) > counts["elements"]


def _squares(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Those of a copy in square tiles: lines of these, ``further`` ones, and the tiles."""
    inner, along, elements = counts["inner"], counts["along"], counts["elements"]
    rest, wide, high = elements // (inner * along), -(-inner // _TILE), -(-along // _TILE)
    lines = rest * along * wide
    further = lines * (wide > _FEW_TILES and high > 1)  # whose places registers do not hold
    return {"elements": elements, "lines": lines, "further": further, "squares": rest * wide * high}


def _square_form(counts: Mapping[str, int]) -> str:
    """Which loops over tiles have as many turns each time."""
    return "odd tiles" if counts["inner"] % _TILE else "odd lines of tiles" if counts["along"] % _TILE else "tiles"


def _by_elements(workload: Workload) -> bool:
    """Whether a copy of one loop nest neither uses memcpy nor tiles, nor fills anything first."""
    counts = workload.parameters
    run = counts["inner"] * workload.operands[-1].element_bits // 8 if counts["apart"] == 1 else 0
    return run < _RUN_BYTES and counts.get("memory") == 2 * counts["elements"] == 2 * counts.get("steps", 0)


def _is_woven(counts: Mapping[str, int], bits: int) -> bool:
    """Whether Helium has stores, or loads, of as many vectors as there are columns, or rows."""
    inner, outer, lanes = counts["inner"], counts["outer"], _VECTOR_BITS // bits
    columns, rows = inner in _WOVEN and outer >= lanes, outer in _WOVEN and inner > max(lanes, TURNS)
    return counts["loops"] == 2 and counts["apart"] == outer and (columns or rows)


def _vectors(counts: Mapping[str, int], bits: int) -> Mapping[str, int]:
    if not _is_woven(counts, bits):
        return {}
    whole, rest = divmod(counts["outer" if counts["inner"] in _WOVEN else "inner"], _VECTOR_BITS // bits)
    return {"vectors": whole, "rest": rest}


def _is_whole(counts: Mapping[str, int]) -> bool:
    return counts["elements"] <= _WHOLE and counts["inner"] <= TURNS


def _loop_form(counts: Mapping[str, int], bits: int) -> str:
    """Which loops of a copy of single elements compilers unroll."""
    inner, apart = counts["inner"], counts["apart"]
    if _is_woven(counts, bits):
        rows = f"rows of {apart}" if inner % (_VECTOR_BITS // bits) else "rows, whole"  # the latter have no loop
        whole = ", whole" if counts["elements"] <= _WHOLE and counts["outer"] <= TURNS else ""
        return f"elements, woven {f'columns of {inner}{whole}' if inner in _WOVEN else rows}"
    kept = {0: ", repeated", 1: ", kept"}.get(apart, "")
    if _is_whole(counts):
        vector = counts["outer"] in _WOVEN and counts["loops"] == 2 and bits * inner > _VECTOR_BITS and inner == TURNS
        return "elements, one" if counts["elements"] == 1 else f"elements, whole{', a vector' if vector else kept}"
    if counts["loops"] > 2 and inner * counts["outer"] <= TURNS:  # two loops inside of others
        return f"elements, images{kept}"
    if inner <= TURNS:
        return f"elements, lines{f' of {inner}' if inner <= _SHORT else ''}{kept}"
    even = ", even" if apart & (apart - 1) == 0 and apart > 0 else kept
    return f"elements, {'long lines' if bits == _BYTE_BITS and inner <= _BYTE_TURNS else 'loops'}{even}"


def _line(operand: Operand) -> int:
    """Elements of the last axis that has some."""
    return next((axis.size for axis in reversed(operand.axes) if axis.size > 1), 1)


def moves(workload: Workload) -> tuple[str, ...]:
    """How a copy moves elements, and in which form lines are of any length."""
    form = move(workload)
    if "woven columns" in form:
        return tuple(dict.fromkeys((form, form.removesuffix(", whole"))))
    wider = "borders" if "borders" in workload.parameters else re.sub(" of [0-9]|(?<=whole), .*", "", form)
    return (form,) if wider == form or "woven" in form else (form, wider)


def move(workload: Workload) -> str:
    """How a copy moves elements: alone, in tiles, or in runs, whose ends may be at any byte."""
    told = workload.parameters
    if "wide" in told:  # places that are computed
        return "computed"
    if "borders" in told:
        bytes_ = told["kept"] // told["borders"] * workload.operands[-1].element_bits // _BYTE_BITS
        mode = "mirrored" if "mirrored" in told else "borders"
        return f"{mode}, {'long runs' if bytes_ >= _LONG_BYTES else 'runs' if bytes_ >= _RUN_BYTES else 'elements'}"
    if "inner" in told and _by_elements(workload):
        return _loop_form(told, workload.operands[-1].element_bits)
    if _in_squares(told):
        return _square_form(told)
    counts = moved(workload)
    size = workload.operands[-1].element_bits // 8
    run = size * counts["elements"] // max(1, counts["runs"])
    alone = size != _WORD_BYTES and counts.get("memory", 0) == 2 * counts["elements"]
    once = ", once" if counts["runs"] < len(workload.operands) else ""  # no loop
    if alone or run < max(_RUN_BYTES, 2 * size):
        return f"elements{once if workload.kind == _JOIN else ''}{_alone(workload)}"
    sides = {_line(operand) * size % _WORD_BYTES for operand in workload.operands}
    odd = ", odd" if run % _WORD_BYTES or any(sides) else ""
    length = "long runs" if run >= _LONG_BYTES else "short runs" if run <= _UNROLLED_BYTES else "runs"
    unrolled = " of 2" if told.get("loops", 0) > 2 and told["outer"] == 2 else ""  # runs, one after another
    return length + unrolled + odd + once


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
        copied = counts["elements"] if workload.kind in _REPEAT else copied  # what is repeated is copied each time
        return copied // counts["inner"] if counts["apart"] == 1 else copied
    if workload.kind == "host_split":
        return sum(_runs_of(sources[0], part) for part in workload.operands[1:])
    return sum(_runs_of(source, result) for source in sources)


def _joined(workload: Workload) -> Mapping[str, int]:
    """Those of the sources of a concatenation that loops copy: ``lines``, which are short, and the words, halves of
    words and bytes that have as many; ``whole``, those of sources that compilers copy without a loop; ``halves``, lines
    of 3 or 7 bytes; ``called``, a first source that a function copies; ``longer``, other lines, and their ``bytes``."""
    *sources, result = workload.operands
    found = {"lines": 0, "pieces": 0, "whole": 0, "halves": 0, "called": 0, "longer": 0, "bytes": 0}
    for source in sources:
        lines, bytes_ = _runs_of(source, result), _bytes_of(source)
        pieces = lines * (bytes_ // max(1, lines)).bit_count()
        if bytes_ >= _RUN_BYTES * lines:
            found["longer"] += lines
            found["bytes"] += bytes_
            continue
        found["halves"] += lines * (bytes_ // max(1, lines) in _HALVES)
        found["called"] += lines == 1 and source is sources[0] and bytes_ in (3, *_CALLED)
        if bytes_ * _BYTE_BITS <= _WHOLE * result.element_bits:
            found["whole"] += pieces
        else:
            found["lines"] += lines
            found["pieces"] += pieces
    return {name: count for name, count in found.items() if count}


def _unaligned(workload: Workload) -> int:
    """Bytes of the runs of a concatenation that do not begin at a word of both sides: where words have to be aligned,
    functions of C libraries copy them one by one."""
    *sources, result = workload.operands
    lengths = [_bytes_of(source) // max(1, _runs_of(source, result)) for source in sources]
    line, found = sum(lengths), 0
    for place, (source, length) in enumerate(zip(sources, lengths, strict=True)):
        before, runs = sum(lengths[:place]), _bytes_of(source) // max(1, length)
        starts = [
            (turn * length % _WORD_BYTES, (before + turn * line) % _WORD_BYTES)
            for turn in range(min(runs, _WORD_BYTES))
        ]
        odd = len(starts) if length < _COPIED_BYTES else sum(start != (0, 0) for start in starts)
        found += length * runs * odd // max(1, len(starts))
    return found


def _padded(workload: Workload) -> int:
    """Bytes of the runs of a padding that do not begin at a word of both sides. Ends of an axis are as wide."""
    source, result = workload.operands[0], workload.operands[-1]
    size = result.element_bits // _BYTE_BITS
    before, after = ([axis.size for axis in operand.axes] for operand in (source, result))
    padded = [place for place, sizes in enumerate(zip(before, after, strict=True)) if sizes[0] < sizes[1]]
    first = max(padded, default=0)
    start = sum((after[place] - before[place]) // 2 * prod(after[place + 1 :]) for place in padded) * size
    run, line = (prod(sizes[first:]) * size for sizes in (before, after))
    starts = [(turn * run % _WORD_BYTES, (start + turn * line) % _WORD_BYTES) for turn in range(_WORD_BYTES)]
    return _bytes_of(source) * sum(one != (0, 0) for one in starts) // len(starts)


def _aligned(counts: Mapping[str, int], result: Operand) -> int:
    """Bytes of the runs of one copy that begin at a word of both sides, which are multiples of their length."""
    length = counts.get("inner", _WORD_BYTES) * result.element_bits // _BYTE_BITS
    step = _WORD_BYTES // gcd(_WORD_BYTES, length)
    return _bytes_of(result) // step**2 if length >= _COPIED_BYTES or "inner" not in counts else 0


def _bytes_of(operand: Operand) -> int:
    return prod(axis.size for axis in operand.axes) * operand.element_bits // 8


def _runs_of(source: Operand, result: Operand) -> int:
    before, after = ([axis.size for axis in operand.axes] for operand in (source, result))
    run = 1
    while before and before[-1] == after[-1]:
        run *= before.pop()
        after.pop()
    if before:
        run *= min(before[-1], after[-1])
    return -(-min(prod(axis.size for axis in operand.axes) for operand in (source, result)) // max(run, 1))
