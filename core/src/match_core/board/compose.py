"""From a board file to a checked Soc: looks up units by name, takes over memories and links or creates new ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.board.errors import names_error, unit_error
from match_core.board.memories import MemoryNames, composed_links, composed_memories
from match_core.board.reach import check_parts, check_reach
from match_core.contract.board import Board
from match_core.contract.errors import did_you_mean
from match_core.contract.hardware import Constant, MemoryPart, Signalling, Soc, Unit
from match_core.plugin.choose import raise_clash

if TYPE_CHECKING:
    from match_core.board.document import BoardDocument, UnitEntry
    from match_core.contract.forms import Form
    from match_core.plugin.targets import Owned, Targets


def compose(document: BoardDocument, targets: Targets) -> Board:
    """The board that a file describes, with the hardware of the installed packages. UsageError MATCH-U061 (units),
    MATCH-U062 (memories, links), MATCH-U063 (a unit cannot reach its memories), MATCH-U064 (names)."""
    if document.name in targets.socs:
        owner = targets.socs[document.name].owner
        raise names_error(
            document, f"{document.name} is already a target of {owner.distribution}", "choose another name"
        )
    owned = [_unit(document, entry, targets) for entry in document.units]
    _check_names(document)
    socs = {name: targets.socs[name].item for name in dict.fromkeys(e.soc for e in document.units if e.soc)}
    origins = [entry.origin.partition(".")[0] for entry in document.memories if entry.name == document.store]
    names = MemoryNames(document, targets)
    memories = composed_memories(document, targets)
    units = tuple(names.moved(found.item, entry.name) for found, entry in zip(owned, document.units, strict=True))
    forms = _forms(document, socs.values())
    presets = tuple(dict.fromkeys(preset for soc in socs.values() for preset in soc.presets))
    soc = Soc(
        name=document.name,
        description=document.description,
        host=document.host,
        units=tuple(unit.name for unit in units),
        memories=memories,
        links=composed_links(document, targets, names),
        home=document.home,
        clock_hz=_clock(document, targets),
        notes=(*document.notes, *_notes(document, socs)),
        presets=presets,
        preset="",
        store=document.store or None,
        overflow=document.overflow or None,
        forms=forms,
        signalling=_signalling(document),
        parts=_parts(document, socs, names),
        host_machine=document.host_machine or next((soc.host_machine for soc in socs.values() if soc.host_machine), ""),
        processor=document.processor
        or next((soc.processor for soc in socs.values() if document.host in soc.units), ""),
        mapped=any(targets.socs[name].item.mapped for name in {*socs, *origins} if name in targets.socs),
    )
    if soc.signalling is not None:
        check_parts(document, soc, units)
    packages = {unit.name: names.package_names(unit.name) for unit in units}
    check_reach(document, soc, units, {entry.name: socs[entry.soc] for entry in document.units if entry.soc}, packages)
    return Board(soc, units, packages, document.text)


def _unit(document: BoardDocument, entry: UnitEntry, targets: Targets) -> Owned[Unit]:
    found = targets.units.get(entry.name)
    if found is None:
        raise_clash(targets.clashes, "unit", entry.name, f"board {document.name} cannot be used")
        help_ = (*did_you_mean(entry.name, targets.units), *_install(entry))
        known = ", ".join(targets.units) or "none"
        raise unit_error(document, entry.name, f"no active package defines it; known units: {known}", *help_)
    owner = found.owner
    if entry.package and entry.package != owner.distribution:
        raise unit_error(
            document,
            entry.name,
            f"{owner.distribution} {owner.version} defines it, the board requires {entry.package}",
            *_install(entry),
            f'write package = "{owner.distribution}"',
        )
    if entry.soc and (entry.soc not in targets.socs or entry.name not in targets.socs[entry.soc].item.units):
        having = [name for name, soc in targets.socs.items() if entry.name in soc.item.units]
        why = f"the Soc {entry.soc!r} has no such unit; Socs that have it: {', '.join(having) or 'none'}"
        raise unit_error(document, entry.name, why, *([f'write soc = "{name}"' for name in having] or ["omit soc"]))
    return found


def _install(entry: UnitEntry) -> tuple[str, ...]:
    return (f"install it: pip install {entry.package}",) if entry.package else ("install the package that defines it",)


def _check_names(document: BoardDocument) -> None:
    units = [entry.name for entry in document.units]
    for name in units:
        if units.count(name) > 1:
            raise unit_error(document, name, f"it is listed {units.count(name)} times", "list each unit once")
    if document.host not in units:
        why = f"it is the host, but the board's units are {', '.join(units)}"
        raise unit_error(document, document.host, why, f'add [[units]] with name = "{document.host}"')


def _clock(document: BoardDocument, targets: Targets) -> Constant | None:
    entry = document.clock
    if entry is None:
        return None
    if not entry.origin:
        return Constant("clock_hz", entry.hz, "Hz", entry.source, entry.estimate)
    if entry.origin not in targets.socs:
        known = ", ".join(targets.socs)
        raise names_error(document, f"the clock is from {entry.origin!r}; Socs are {known}", "name an installed Soc")
    return targets.socs[entry.origin].item.clock_hz


def _signalling(document: BoardDocument) -> Signalling | None:
    """All units of a board poll counters: not all packages have doorbells, and no package knows both sides of one."""
    return Signalling("poll", **document.signalling.cycles) if document.signalling is not None else None


def _parts(document: BoardDocument, socs: Mapping[str, Soc], names: MemoryNames) -> tuple[MemoryPart, ...]:
    """The parts in the Socs that the units are taken from."""
    taken = [(entry.name, socs[entry.soc]) for entry in document.units if entry.soc]
    found = ((soc, part) for unit, soc in taken for part in soc.parts if part.unit == unit)
    return tuple(replace(part, memory=names.here(soc.name, part.memory)) for soc, part in found)


def _notes(document: BoardDocument, socs: Mapping[str, Soc]) -> tuple[str, ...]:
    """Notes of the packages' Socs apply to their units here too."""
    notes = [f"{name}: {note}" for name, soc in socs.items() for note in soc.notes]
    links = [f"Link {link.name}: {link.source}" for link in document.links if link.source]
    clocks = {name: soc.clock_hz.value for name, soc in socs.items() if soc.clock_hz is not None}
    if len(set(clocks.values())) > 1:
        figures = ", ".join(f"{name} {hz / 1e6:g} MHz" for name, hz in clocks.items())
        notes.append(f"Cycles of all units are counted in one clock, although their Socs have several: {figures}.")
    signals = "Units run one after another, because the board file states no cost of signals between them."
    if document.signalling is not None:
        estimate = " (an estimate)" if document.signalling.estimate else ""
        signals = f"Signals between units{estimate}: {document.signalling.source}"
    return (signals, *links, *notes)


def _forms(document: BoardDocument, socs: Iterable[Soc]) -> tuple[Form, ...]:
    forms: dict[str, Form] = {}
    for soc in socs:
        if soc.forms and document.signalling is not None:
            raise names_error(
                document, f"{soc.name} has stored forms, which concurrent units do not support", "omit signalling"
            )
        for form in soc.forms:
            if forms.setdefault(form.name, form) != form:
                raise names_error(document, f"two Socs have a form {form.name}", "omit the units of one of them")
    return tuple(forms.values())
