"""What each unit of a program runs, where some unit takes whole regions: operators, bytes across the border, cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """A region on a unit, or all layers of a unit together: operators and multiply-accumulates, bytes that it reads and
    writes in one inference, bytes of its constants, modelled cycles and those that the twin counts (None if it was not
    run), and ``ms``: time on the development machine (of the twin if the unit has one), None if it was not measured, as
    in a concurrent program."""

    title: str
    unit: str
    operators: int
    macs: int
    input_bytes: int
    output_bytes: int
    constant_bytes: int
    predicted_cycles: int
    cycles: int | None
    ms: float | None


@dataclass(frozen=True, slots=True)
class Parts:
    """``regions``: on units that take whole regions; ``units``: all units."""

    regions: tuple[Part, ...]
    units: tuple[Part, ...]


def offloaded(report: Mapping[str, Any]) -> Parts | None:
    """The parts of a program with the twin's cycles if it was run; None if no unit takes whole regions."""
    measured = report["measured"]
    counted = None if measured is None else {layer["index"]: layer["cycles"] for layer in measured["layers"]}
    return parts_of(report, counted, {}) if report["regions"] else None


def parts_of(report: Mapping[str, Any], counted: Mapping[int, int] | None, times: Mapping[str, float]) -> Parts:
    """The parts of a program: ``counted`` cycles by layer, ``times`` in ms by "task" and layer."""
    takers = {row["unit"] for row in report["regions"]}
    parts = [_part(layer, counted, times) for layer in report["layers"] if not layer["view"]]
    names = sorted({part.unit for part in parts})
    units = tuple(_sum(name, [part for part in parts if part.unit == name]) for name in names)
    return Parts(tuple(part for part in parts if part.unit in takers), units)


def _part(layer: Mapping[str, Any], counted: Mapping[int, int] | None, times: Mapping[str, float]) -> Part:
    return Part(
        title=layer["title"],
        unit=layer["unit"],
        operators=len(layer["operators"]),
        macs=layer["macs"],
        input_bytes=layer["input_bytes"],
        output_bytes=layer["output_bytes"],
        constant_bytes=layer["constant_bytes"],
        predicted_cycles=layer["predicted_cycles"],
        cycles=None if counted is None else counted.get(layer["index"], 0),
        ms=times.get(f"task {layer['index']}"),
    )


def _sum(unit: str, parts: Sequence[Part]) -> Part:
    cycles = [part.cycles for part in parts if part.cycles is not None]
    times = [part.ms for part in parts if part.ms is not None]
    return Part(
        title=f"{len(parts)} layers",
        unit=unit,
        operators=sum(part.operators for part in parts),
        macs=sum(part.macs for part in parts),
        input_bytes=sum(part.input_bytes for part in parts),
        output_bytes=sum(part.output_bytes for part in parts),
        constant_bytes=sum(part.constant_bytes for part in parts),
        predicted_cycles=sum(part.predicted_cycles for part in parts),
        cycles=sum(cycles) if cycles else None,
        ms=sum(times) if times else None,
    )
