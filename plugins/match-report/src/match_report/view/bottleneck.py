"""Where a program's modelled cycles go: by unit, and what the unit does in them; the busiest unit is the bottleneck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from match_report.view.links import copies_over
from match_report.view.timeline import computed, modelled_lanes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Work = Literal["compute", "copies", "control"]


@dataclass(frozen=True, slots=True)
class Part:
    """Modelled cycles that a unit spends on one kind of work: ``compute``; ``copies`` that its kernels wait for, over
    ``links``; ``control``, which is starting kernels and synchronising. ``layer``: index of the layer with the most of
    them, ``layer_cycles``."""

    unit: str
    work: Work
    cycles: int
    layer: int
    layer_cycles: int
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The unit that is busy for the most modelled ``cycles`` (``share`` of the program's), and its parts, the largest
    first. The timeline marks the same unit."""

    unit: str
    cycles: int
    share: float
    parts: tuple[Part, ...]


def parts(report: Mapping[str, Any]) -> tuple[Part, ...]:
    """All parts that are not empty, the largest first. The parts of a sequential program add up to its cycles; those of
    a concurrent one may exceed them, because units work at the same time."""
    found: dict[tuple[str, Work], list[tuple[int, Mapping[str, Any]]]] = {}
    for layer in computed(report):
        for work, cycles in split(layer).items():
            found.setdefault((layer["unit"], work), []).append((cycles, layer))
    every = [_part(report, unit, work, layers) for (unit, work), layers in found.items()]
    return tuple(sorted((part for part in every if part.cycles), key=lambda part: -part.cycles))


def bottleneck(report: Mapping[str, Any]) -> Bottleneck | None:
    """None if the program has no cycles."""
    lane = next((lane for lane in modelled_lanes(report) if lane.bottleneck), None)
    if lane is None:
        return None
    own = tuple(part for part in parts(report) if part.unit == lane.name)
    return Bottleneck(lane.name, round(lane.busy * report["predicted_cycles"]), lane.busy, own)


def split(layer: Mapping[str, Any]) -> dict[Work, int]:
    """A layer's cycles by kind of work. Overlapped cycles are taken from the copies first, since these run beside the
    computation, then from control and computation."""
    cost = layer["schedule"]["cost"]
    hidden, left = cost["overlapped_cycles"], {}
    whole: dict[Work, int] = {
        "copies": cost["transfer_cycles"],
        "control": cost["launch_cycles"] + cost["sync_cycles"],
        "compute": cost["compute_cycles"],
    }
    for work, cycles in whole.items():
        left[work] = max(0, cycles - hidden)
        hidden = max(0, hidden - cycles)
    return left


def _part(report: Mapping[str, Any], unit: str, work: Work, layers: Sequence[tuple[int, Mapping[str, Any]]]) -> Part:
    most, longest = max(layers, key=lambda entry: entry[0])
    cycles = sum(cycles for cycles, _ in layers)
    links = [
        link["name"]
        for link in report["links"]
        if work == "copies" and any(copies_over(report, link, layer) for _, layer in layers)
    ]
    return Part(unit, work, cycles, longest["index"], most, tuple(links))
