"""Memories and links of a board, and the names that its units' packages have for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from match_core.board.errors import memory_error
from match_core.contract.hardware import Link, Memory

if TYPE_CHECKING:
    from match_core.board.document import BoardDocument, LinkEntry, MemoryEntry
    from match_core.contract.hardware import Soc, Unit
    from match_core.plugin.targets import Targets


Taken = TypeVar("Taken", Memory, Link)


class MemoryNames:
    """The board's names of the memories of the Socs that its units are taken from: the name in the unit's entry, else
    the memory that was taken over from there, else the memory of the same name."""

    def __init__(self, board: BoardDocument, targets: Targets) -> None:
        self._names: dict[str, dict[str, str]] = {}
        self._socs = {entry.name: entry.soc for entry in board.units}
        own = {entry.name for entry in board.memories}
        taken = {_origin(entry.origin, entry.name): entry.name for entry in board.memories if entry.origin}
        for name in dict.fromkeys((*self._socs.values(), *(_origin(e.origin, "")[0] for e in board.links))):
            if name in targets.socs:
                known = [memory.name for memory in targets.socs[name].item.memories]
                same = {memory: memory for memory in known if memory in own}
                self._names[name] = {
                    **same,
                    **{memory: taken[name, memory] for memory in known if (name, memory) in taken},
                }
        for unit in board.units:
            for memory, here in unit.memories.items():
                if memory not in self._known(unit.soc, targets) or here not in own:
                    has = f"the board has {', '.join(own)}"
                    why = f"unit {unit.name} has it as {memory!r} of the Soc {unit.soc!r}; {has}"
                    raise memory_error(board, f"memory {here}", why, 'write memories = {NAME_THERE = "NAME_HERE"}')
                self._names[unit.soc][memory] = here

    def here(self, soc: str, memory: str) -> str:
        """The board's name of a Soc's memory; the Soc's own name if the board does not have the memory."""
        return self._names.get(soc, {}).get(memory, memory)

    def moved(self, unit: Unit, name: str) -> Unit:
        """The unit with the board's names of its memories."""
        soc = self._socs[name]
        memory = None if unit.memory is None else self.here(soc, unit.memory)
        return replace(unit, memory=memory, private=tuple((role, self.here(soc, m)) for role, m in unit.private))

    def package_names(self, unit: str) -> Mapping[str, str]:
        """Board name -> the package's name, if they differ."""
        return {here: there for there, here in self._names.get(self._socs[unit], {}).items() if here != there}

    @staticmethod
    def _known(soc: str, targets: Targets) -> tuple[str, ...]:
        return tuple(m.name for m in targets.socs[soc].item.memories) if soc in targets.socs else ()


def composed_memories(board: BoardDocument, targets: Targets) -> tuple[Memory, ...]:
    """The board's memories. UsageError MATCH-U062."""
    _once(board, "memory", [entry.name for entry in board.memories])
    made = tuple(_memory(board, entry, targets) for entry in board.memories)
    known = [memory.name for memory in made]
    for key, name in (("home", board.home), ("store", board.store), ("overflow", board.overflow)):
        if name and name not in known:
            why = f"it is the board's {key}, but the memories are {', '.join(known)}"
            raise memory_error(board, f"memory {name}", why, f"add [[memories]] with this name, or change {key}")
    return made


def composed_links(board: BoardDocument, targets: Targets, names: MemoryNames) -> tuple[Link, ...]:
    """The board's links. UsageError MATCH-U062."""
    _once(board, "link", [entry.name for entry in board.links])
    known = [entry.name for entry in board.memories]
    made = tuple(_link(board, entry, targets, names) for entry in board.links)
    for link in made:
        for end in (link.near, link.far):
            if end not in known:
                why = f"it ends at {end!r}; the memories are {', '.join(known)}"
                raise memory_error(board, f"link {link.name}", why, "name its ends: near and far")
    return made


def _memory(board: BoardDocument, entry: MemoryEntry, targets: Targets) -> Memory:
    what = f"memory {entry.name}"
    given: dict[str, Any] = {
        name: value
        for name in ("level", "size_bytes", "alignment_bytes")
        if (value := getattr(entry, name)) is not None
    }
    if entry.origin:
        soc, name = _origin(entry.origin, entry.name)
        found = _named(board, what, soc, name, _soc(board, what, soc, targets).memories)
        _sourced(board, what, bool(given), entry.source)
        return _checked(board, what, found, {**given, "name": entry.name, "source": entry.source or found.source})
    if "size_bytes" not in given or "level" not in given:
        raise memory_error(board, what, "it has no size_bytes or no level", 'give both, or from = "SOC.MEMORY"')
    _sourced(board, what, True, entry.source)
    return _checked(board, what, Memory(entry.name, 1, 1), {**given, "source": entry.source})


def _named(board: BoardDocument, what: str, soc: str, name: str, items: tuple[Taken, ...]) -> Taken:
    found = next((item for item in items if item.name == name), None)
    if found is None:
        kind = what.split()[0]
        why = f"the Soc {soc} has no {kind} {name!r}; it has {', '.join(item.name for item in items)}"
        raise memory_error(board, what, why, f'write from = "SOC.{kind.upper()}"')
    return found


def _checked(board: BoardDocument, what: str, memory: Memory, figures: Mapping[str, Any]) -> Memory:
    try:
        return replace(memory, **figures)
    except ValueError as error:
        raise memory_error(board, what, str(error), "change the figure") from error


def _link(board: BoardDocument, entry: LinkEntry, targets: Targets, names: MemoryNames) -> Link:
    what = f"link {entry.name}"
    if entry.origin:
        soc, name = _origin(entry.origin, entry.name)
        found = _named(board, what, soc, name, _soc(board, what, soc, targets).links)
        _sourced(board, what, bool(entry.figures), entry.source)
        ends: dict[str, Any] = {
            "near": entry.near or names.here(soc, found.near),
            "far": entry.far or names.here(soc, found.far),
        }
        return replace(found, name=entry.name, **ends, **_link_figures(entry))
    if not entry.near or not entry.far or "bytes_per_cycle" not in entry.figures:
        raise memory_error(board, what, "near, far or bytes_per_cycle is missing", 'give all, or from = "SOC.LINK"')
    _sourced(board, what, True, entry.source)
    return replace(Link(entry.name, entry.near, entry.far, 1.0), **_link_figures(entry))


def _link_figures(entry: LinkEntry) -> dict[str, Any]:
    known = {field.name for field in fields(Link)}
    return {name: value for name, value in entry.figures.items() if name in known}


def _sourced(board: BoardDocument, what: str, has_figures: bool, source: str) -> None:
    if has_figures and not source:
        help_ = 'add source = "..." with the name of a document, or the reasoning of an estimate'
        raise memory_error(board, what, "its figures have no source", help_)


def _once(board: BoardDocument, kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise memory_error(board, f"{kind} {name}", f"it is listed {names.count(name)} times", "list it once")


def _soc(board: BoardDocument, what: str, soc: str, targets: Targets) -> Soc:
    if soc not in targets.socs:
        why = f"there is no Soc {soc!r} to take it from; installed: {', '.join(targets.socs)}"
        raise memory_error(board, what, why, "install the package, or name an installed Soc")
    return targets.socs[soc].item


def _origin(text: str, name: str) -> tuple[str, str]:
    """("SOC", "NAME") of "SOC.NAME"; of "SOC", the entry's own name."""
    soc, _, own = text.partition(".")
    return soc, own or name
