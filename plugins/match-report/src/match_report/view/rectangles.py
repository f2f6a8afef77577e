"""The contents of a memory over time: rectangles of bytes over modelled cycles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from match_report.view.timeline import computed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Bytes [offset, offset + size) of a memory in cycles [start, end), and their contents. ``layer``: the first layer
    that uses them, whose unit gives the colour; ``buffer``: the program's buffer, empty for a layer's working set;
    ``facts``: more lines of detail."""

    start_cycles: int
    end_cycles: int
    offset_bytes: int
    size_bytes: int
    layer: int | None
    unit: str | None
    buffer: str
    label: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Peak:
    """The first interval [start, end) in cycles in which the most bytes are alive."""

    start_cycles: int
    end_cycles: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """A memory: its rectangles, the height of its arena in bytes, and its peak (None if it is empty)."""

    memory: str
    rectangles: tuple[Rectangle, ...]
    arena_bytes: int
    peak: Peak | None


def memory_maps(report: Mapping[str, Any]) -> tuple[MemoryMap, ...]:
    """One per memory of the target, in its order."""
    return tuple(_memory_map(report, memory) for memory in report["memories"])


def _memory_map(report: Mapping[str, Any], memory: Mapping[str, Any]) -> MemoryMap:
    name = memory["name"]
    rectangles = [
        _buffer(report, buffer)
        for buffer in report["buffers"]
        if buffer["memory"] == name and buffer["offset_bytes"] is not None
    ]
    if name != report["target"]["home"]:  # in the home memory, operands lie in the buffers
        for layer in computed(report):
            rectangles += _working_set(layer, name)
    top = max((r.offset_bytes + r.size_bytes for r in rectangles), default=0)
    return MemoryMap(name, tuple(rectangles), max(top, memory["arena_bytes"]), peak(rectangles))


def _buffer(report: Mapping[str, Any], buffer: Mapping[str, Any]) -> Rectangle:
    constant = buffer["kind"] == "constant"  # copied from the store before this layer needs it
    maker = report["layers"][buffer["last_layer" if constant else "first_layer"]]
    label = ", ".join(buffer["tensors"]) or f"{buffer['kind']} of {maker['title']}"
    facts = [
        f"{buffer['kind']} {buffer['name']}",
        f"layers {buffer['first_layer']} to {buffer['last_layer']}, {'read' if constant else 'made'} by "
        f"{maker['title']} on {maker['unit']}",
        _onnx(maker),
    ]
    for placement in maker["placements"]:
        if buffer["kind"] == "scratch" and placement["memory"] == buffer["memory"]:
            facts.append(f"holds {placement['operand']}: {placement['buffers']} x {placement['size_bytes']:,} bytes")
    facts += [f"overwrites {name}" for name in buffer.get("overwrites", ())]
    facts += [f"swap: {s['source']} to {s['target']}" for s in report["swaps"] if buffer["name"] in _ends(s)]
    return Rectangle(
        buffer["start_cycles"],
        buffer["end_cycles"],
        buffer["offset_bytes"],
        buffer["size_bytes"],
        buffer["first_layer"],
        maker["unit"],
        buffer["name"],
        label,
        tuple(facts),
    )


def _working_set(layer: Mapping[str, Any], memory: str) -> Iterable[Rectangle]:
    for placement in layer["placements"]:
        if placement["memory"] != memory:
            continue
        for copy in range(placement["buffers"]):
            offset = placement["offset_bytes"] + copy * placement["size_bytes"]
            which = f", buffer {copy + 1} of {placement['buffers']}" if placement["buffers"] > 1 else ""
            yield _part(layer, offset, placement["size_bytes"], f"{placement['operand']}{which}")
    scratch = layer["scratch"]
    if scratch is not None and scratch["memory"] == memory:
        yield _part(layer, scratch["offset_bytes"], scratch["size_bytes"], "scratch")


def _part(layer: Mapping[str, Any], offset_bytes: int, size_bytes: int, what: str) -> Rectangle:
    start, end = layer["start_cycles"], layer["end_cycles"]
    label, facts = f"{what} of {layer['title']}", (f"layer {layer['index']} on {layer['unit']}", _onnx(layer))
    return Rectangle(start, end, offset_bytes, size_bytes, layer["index"], layer["unit"], "", label, facts)


def _onnx(layer: Mapping[str, Any]) -> str:
    return f"ONNX nodes: {', '.join(layer['onnx_names']) or 'none (inserted)'}"


def _ends(swap: Mapping[str, Any]) -> tuple[str, str]:
    return swap["source"], swap["target"]


def peak(rectangles: Sequence[Rectangle]) -> Peak | None:
    """The most bytes alive at the same time; bytes of a result that overwrites an input count once. A rectangle that
    starts where another ends does not overlap it."""
    lasting = [rectangle for rectangle in rectangles if rectangle.end_cycles > rectangle.start_cycles]
    starts: dict[int, list[Rectangle]] = {}
    for rectangle in lasting:
        starts.setdefault(rectangle.start_cycles, []).append(rectangle)
    times = sorted({time for r in lasting for time in (r.start_cycles, r.end_cycles)})
    alive: list[Rectangle] = []
    most = None
    for time, following in pairwise(times):
        alive = [rectangle for rectangle in alive if rectangle.end_cycles > time] + starts.get(time, [])
        size = _covered(alive)
        if most is None or size > most.size_bytes:
            most = Peak(time, following, size)
    return most


def _covered(rectangles: Iterable[Rectangle]) -> int:
    """Bytes that belong to any of the rectangles."""
    total = end = 0
    for low, size in sorted((rectangle.offset_bytes, rectangle.size_bytes) for rectangle in rectangles):
        total += max(0, low + size - max(low, end))
        end = max(end, low + size)
    return total
