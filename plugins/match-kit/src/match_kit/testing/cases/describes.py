"""Level ``describes``: hardware as data, and hooks that answer for every unit and preset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.errors import PluginError
from match_core.contract.unit_api import InlineKernel

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_core.contract.hardware import Constant, Unit

    from match_kit.testing.subject import Subject

LEVEL = "describes"


def _figures(subject: Subject) -> Iterator[Finding]:
    soc = subject.soc
    constants = [(f"constant {c.name} of unit {unit.name}", c) for unit in subject.units for c in unit.constants]
    constants += [("clock_hz", soc.clock_hz)] if soc.clock_hz is not None else []
    for part, constant in constants:
        yield from _figure(part, constant)
    for memory in soc.memories:
        if not memory.source.strip():
            yield Finding(f"memory {memory.name}", "its size has no source")
    for unit in subject.units:
        if not unit.description.strip():
            yield Finding(f"unit {unit.name}", "it has no description")
        if len({constant.name for constant in unit.constants}) != len(unit.constants):
            yield Finding(f"unit {unit.name}", "two of its constants share a name")
    if not soc.description.strip():
        yield Finding(f"target {soc.name}", "it has no description")


def _figure(part: str, constant: Constant) -> Iterator[Finding]:
    if not constant.source.strip():
        yield Finding(part, "it has no source, and no reason for an estimate")
    if not constant.unit.strip():
        yield Finding(part, "it has no unit")


def _memories(subject: Subject) -> Iterator[Finding]:
    soc = subject.soc
    names = {memory.name for memory in soc.memories}
    for unit in subject.units:
        used = {memory for memory in (unit.memory, *(memory for _, memory in unit.private)) if memory is not None}
        for memory in sorted(used):
            if memory not in names:
                yield Finding(f"unit {unit.name}", f"its memory {memory} is not one of {', '.join(sorted(names))}")
            elif memory != soc.home and soc.link_between(memory, soc.home) is None:
                yield Finding(f"target {soc.name}", f"no link joins {memory} of unit {unit.name} and {soc.home}")
    for link in soc.links:
        if link.bytes_per_cycle <= 0:
            yield Finding(f"link {link.name}", f"it moves {link.bytes_per_cycle} bytes per cycle")


def _hooks(subject: Subject) -> Iterator[Finding]:
    if not subject.units:
        yield Finding(f"target {subject.target}", "the package defines none of its units", "skip")
    subject.plugins.transforms(subject.soc)
    for preset in subject.soc.presets or (subject.soc.preset,):
        for unit in subject.units:
            yield from _unit_hooks(subject, unit, preset)


def _unit_hooks(subject: Subject, unit: Unit, preset: str) -> Iterator[Finding]:
    soc, patterns = replace(subject.soc, preset=preset), subject.patterns(unit)
    if not patterns:
        yield Finding(f"match_patterns, unit {unit.name}", "the unit runs nothing")
    api = subject.plugins.emit_api(soc, unit)
    if unit.memory is not None and api.memory is None:
        yield Finding(
            f"match_emit_api, unit {unit.name}", f"it has memory {unit.memory} but no copy functions (MemoryApi)"
        )
    itself = unit.memory is None and any(file.name.endswith(".c") for file in api.runtime)  # a library, run as it is
    plain = all(isinstance(kernel, InlineKernel) for kernel in api.kernels.values())  # C that any compiler builds
    if not api.twin.sources and not itself and not plain:
        yield Finding(f"match_emit_api, unit {unit.name}", "it has no twin: programs cannot run without the chip")
    elif api.twin.sources and api.clock not in api.twin.clocks:
        yield Finding(f"match_emit_api, unit {unit.name}", f"clock {api.clock!r} is not one of {api.twin.clocks}")
    for pattern in patterns:
        where = f"unit {unit.name}, pattern {pattern.name}"
        if not pattern.view and pattern.name not in api.kernels:
            yield Finding(f"match_emit_api, {where}", "no kernel has the pattern's name")
        model = subject.plugins.cost(soc, unit, pattern)
        if not model.name.strip() or not model.version.strip():
            yield Finding(f"match_cost, {where}", "the cost model states no name or no version")


def _elsewhere(subject: Subject) -> Iterator[Finding]:
    """On a board of several packages, a unit belongs to a Soc with another name and with another package's preset."""
    for preset in ("", "of_another_package"):
        soc = replace(
            subject.soc, name=f"{subject.target}_elsewhere", presets=(preset,) if preset else (), preset=preset
        )
        for unit in subject.units:
            part = f"hooks, unit {unit.name} on a Soc of another name, preset {preset!r}"
            try:
                subject.plugins.emit_api(soc, unit)
                for pattern in subject.patterns(unit):
                    subject.plugins.cost(soc, unit, pattern)
            except PluginError as error:
                yield Finding(part, f"{error.code}: {error.why}")


CASES = (
    Case(LEVEL, "figures", "every figure has a unit and a source, or is an estimate with a reason", _figures),
    Case(LEVEL, "memories", "every unit's memory exists and a link joins it to the home memory", _memories),
    Case(LEVEL, "hooks", "every hook answers for every unit, pattern and preset", _hooks),
    Case(LEVEL, "elsewhere", "hooks answer for its units on a Soc with another name and preset", _elsewhere),
)
