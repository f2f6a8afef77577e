"""Padding by constant amounts that repeats, reflects or wraps what is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code
from match_host.kernels.nest import MEMCPY_BYTES, VARIABLES, row_major
from match_host.kernels.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs

#: Modes, and by how much less than the size of the axis they may pad without reading a border twice.
_LESS = {"edge": None, "reflect": 1, "wrap": 0}

Amounts = tuple[tuple[int, int], ...]


def has_borders(node: gs.Node, amounts: Amounts) -> bool:
    """Whether one comparison at each end of an axis finds the place that is read, and no axis is cropped by more than
    its size, which the copy of a row relies on."""
    mode, sizes = text(node, "mode", "constant"), shape_of(node.inputs[0])
    if mode not in _LESS or not sizes or not elements(sizes) or not elements(shape_of(node.outputs[0])):
        return False
    axes, less = list(zip(sizes, amounts, strict=True)), _LESS[mode]
    if any(size + min(before, 0) + min(after, 0) < 0 for size, (before, after) in axes):
        return False
    return less is None or all(max(pair) <= size - less for size, pair in axes)


def build_bordered_pad(node: gs.Node, function: str, amounts: Amounts) -> Built:
    """``amounts``: (before, after) of every axis; negative amounts crop. ``has_borders`` must hold. The
    part of a row that is inside is copied as a whole; the last axes, if they are not padded, are one row."""
    code, uses, mode = Code(), Uses(), text(node, "mode", "constant")
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    last = max((axis for axis, pair in enumerate(amounts) if pair != (0, 0)), default=-1)
    inner = elements(shape[last + 1 :])
    if inner > 1:
        shape, amounts = (*shape[: last + 1], inner), (*amounts[: last + 1], (0, 0))
    out = tuple(size + before + after for size, (before, after) in zip(shape, amounts, strict=True))
    row, (before, after) = shape[-1], amounts[-1]
    with code.loops(list(zip(VARIABLES, out[:-1], strict=False))) as names:
        places = [_place(code, mode, *axis) for axis in zip(names, shape, amounts, strict=False)]
        target = _offset([*names, str(max(before, 0))], out)
        code.line(f"const {c_type(dtype)} *from = &in0[{_offset([*places, '0'], shape)}];")
        code.line(f"{c_type(dtype)} *to = &out0[{target}];")
        kept = row + min(before, 0) + min(after, 0)
        ahead = {"edge": "0", "reflect": f"{before} - e", "wrap": f"{row - before} + e"}[mode]
        beyond = {"edge": f"{row - 1}", "reflect": f"{row - 2} - e", "wrap": "e"}[mode]
        _run(code, before, f"to[e - {before}] = from[{ahead}];")
        if kept * dtype.itemsize >= MEMCPY_BYTES:
            uses.include("string.h")
            code.line(f"memcpy(to, {f'from + {-before}' if before < 0 else 'from'}, {kept} * sizeof(*to));")
        else:
            _run(code, kept, f"to[e] = from[{f'e + {-before}' if before < 0 else 'e'}];")
        _run(code, after, f"to[{kept} + e] = from[{beyond}];")
    rows, ends = elements(out[:-1]), max(before, 0) + max(after, 0)
    words = -(-kept * dtype.itemsize // 4) if kept * dtype.itemsize >= MEMCPY_BYTES else kept
    work = Work(memory=2 * (words + ends), steps=words + ends, integer=6).times(rows)
    sizes = " to ".join("x".join(map(str, shape_of(t))) or "scalar" for t in (node.inputs[0], node.outputs[0]))
    comment = f"{node.op}, {mode}: {sizes}"
    inline = inline_code(function, comment, node.inputs[:1], node.outputs[:1], code.text, uses)
    told = {
        "borders": rows,
        "ends": rows * ends,
        "kept": rows * kept,
        **({"mirrored": rows} if mode == "reflect" else {}),
    }
    return Built((node.inputs[0],), inline, work, told=told)


def _place(code: Code, mode: str, name: str, size: int, amounts: tuple[int, int]) -> str:
    """The index into an axis, which is written if it is padded."""
    before, after = amounts
    index = name or "0"
    place = f"{index} - {before}" if before > 0 else f"{index} + {-before}" if before < 0 else index
    if max(amounts) <= 0:
        return place
    at = f"from_{index}" if name else "from_0"
    low, high = {
        "edge": ("0", f"{size - 1}"),
        "reflect": (f"-{at}", f"{2 * (size - 1)} - {at}"),
        "wrap": (f"{at} + {size}", f"{at} - {size}"),
    }[mode]
    code.line(f"int32_t {at} = {place};")
    if before > 0:
        code.line(f"{at} = {at} < 0 ? {low} : {at};")
    if after > 0:
        code.line(f"{at} = {at} >= {size} ? {high} : {at};")
    return at


def _run(code: Code, count: int, text: str) -> None:
    if count > 0:
        with code.block(f"for (int32_t e = 0; e < {count}; e++)"):
            code.line(text)


def _offset(places: Sequence[str], shape: tuple[int, ...]) -> str:
    terms = zip(places, row_major(shape), strict=True)
    return " + ".join(_product(place, step) for place, step in terms if place not in ("", "0")) or "0"


def _product(place: str, step: int) -> str:
    return place if step == 1 else f"({place}) * {step}" if " " in place else f"{place} * {step}"
