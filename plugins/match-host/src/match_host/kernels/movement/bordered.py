"""Padding by constant amounts that repeats, reflects or wraps what is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import elements, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code
from match_host.kernels.nest import VARIABLES, row_major
from match_host.kernels.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs

#: Modes, and by how much less than the size of the axis they may pad without reading a border twice.
_LESS = {"edge": None, "reflect": 1, "wrap": 0}

Amounts = tuple[tuple[int, int], ...]


def has_borders(node: gs.Node, amounts: Amounts) -> bool:
    """Whether one comparison at each end of an axis finds the place that is read."""
    less = _LESS.get(text(node, "mode", "constant"), -1)
    sizes = shape_of(node.inputs[0])
    if less == -1 or not elements(sizes):
        return False
    return less is None or all(max(pair) <= size - less for size, pair in zip(sizes, amounts, strict=True))


def build_bordered_pad(node: gs.Node, function: str, amounts: Amounts) -> Built:
    """``amounts``: (before, after) of every axis; negative amounts crop. ``has_borders`` must hold."""
    code, mode = Code(), text(node, "mode", "constant")
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    padded = [axis for axis, pair in enumerate(amounts) if max(pair) > 0]
    with code.loops(list(zip(VARIABLES, out, strict=False))) as names:
        places = []
        for axis, (name, (before, after)) in enumerate(zip(names, amounts, strict=True)):
            index = name or "0"
            place = f"{index} - {before}" if before > 0 else f"{index} + {-before}" if before < 0 else index
            if axis in padded:
                code.line(f"int32_t at{axis} = {place};")
                code.lines(_inside(mode, f"at{axis}", shape[axis], before > 0, after > 0))
                place = f"at{axis}"
            places.append(place)
        code.line(f"out0[{_offset(names, out)}] = in0[{_offset(places, shape)}];")
    lines = elements(out) // (out[-1] if out else 1)
    inner = Work(memory=2, steps=1, integer=3 * (len(shape) - 1 in padded)).times(elements(out))
    work = inner + Work(integer=3 * len([axis for axis in padded if axis < len(shape) - 1])).times(lines)
    sizes = " to ".join("x".join(map(str, sizes)) or "scalar" for sizes in (shape, out))
    comment = f"{node.op}, {mode}: {sizes}"
    inline = inline_code(function, comment, node.inputs[:1], node.outputs[:1], code.text, Uses())
    return Built((node.inputs[0],), inline, work, told={"borders": lines})


def _inside(mode: str, name: str, size: int, before: bool, after: bool) -> list[str]:
    """C that moves an index into the axis from the ends that are padded."""
    low, high = {
        "edge": ("0", str(size - 1)),
        "reflect": (f"-{name}", f"{2 * (size - 1)} - {name}"),
        "wrap": (f"{name} + {size}", f"{name} - {size}"),
    }[mode]
    first = f"{name} = {name} < 0 ? {low} : {name};" if before else ""
    last = f"{name} = {name} >= {size} ? {high} : {name};" if after else ""
    return [line for line in (first, last) if line]


def _offset(places: Sequence[str], shape: tuple[int, ...]) -> str:
    terms = zip(places, row_major(shape), strict=True)
    return " + ".join(f"{_product(place, step)}" for place, step in terms if place not in ("", "0")) or "0"


def _product(place: str, step: int) -> str:
    return place if step == 1 else f"({place}) * {step}" if " " in place else f"{place} * {step}"
