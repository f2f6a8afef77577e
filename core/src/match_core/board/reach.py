"""Whether every unit of a board reaches the memories that its programs use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.board.errors import memory_error, reach_error

if TYPE_CHECKING:
    from match_core.board.document import BoardDocument
    from match_core.contract.hardware import Soc, Unit


def check_reach(
    board: BoardDocument,
    soc: Soc,
    units: Sequence[Unit],
    origins: Mapping[str, Soc],
    packages: Mapping[str, Mapping[str, str]],
) -> None:
    """UsageError MATCH-U063 for a unit without its memory, without a link from there to the home memory, or without a
    way to the store; MATCH-U062 for a local memory that is larger than its package supports. ``origins``: the Soc that
    each unit is taken from; ``packages``: its package's names of the board's memories, if they differ."""
    known = [memory.name for memory in soc.memories]
    for unit in units:
        for name in dict.fromkeys(m for m in (unit.memory, *(memory for _, memory in unit.private)) if m):
            if name not in known:
                help_ = (
                    'add it, for example: [[memories]] from = "SOC.MEMORY"',
                    'or name it: memories = {THERE = "HERE"}',
                )
                raise reach_error(board, unit.name, f"it uses {name!r}; the board has {', '.join(known)}", *help_)
            if soc.link_between(name, soc.home) is None:
                why = f"no link connects its memory {name} to the home memory {soc.home}"
                raise reach_error(board, unit.name, why, 'add [[links]], for example from = "SOC.LINK"')
        origin = origins.get(unit.name)
        if unit.memory and soc.store is not None and (origin is None or origin.store is None):
            why = f"the board streams constants from {soc.store}, which the package of {unit.name} does not know"
            raise reach_error(board, unit.name, why, "omit store", f"omit unit {unit.name}")
        if unit.memory and origin is not None:
            _check_size(board, soc, unit, unit.memory, origin, packages[unit.name].get(unit.memory, unit.memory))


def _check_size(board: BoardDocument, soc: Soc, unit: Unit, memory: str, origin: Soc, there: str) -> None:
    most = next((m.size_bytes for m in origin.memories if m.name == there), None)
    size = soc.memory(memory).size_bytes
    if most is not None and size > most:
        why = f"it has {size} bytes; the package of {unit.name} supports {most}"
        raise memory_error(board, f"memory {memory}", why, f"give {most} bytes or fewer")


def check_parts(board: BoardDocument, soc: Soc, units: Sequence[Unit]) -> None:
    """UsageError MATCH-U063 if concurrent units share a memory without a part each, or parts overlap or exceed it."""
    parts = {part.unit: part for part in soc.parts}
    for memory in dict.fromkeys(unit.memory for unit in units if unit.memory):
        sharing = [unit.name for unit in units if unit.memory == memory]
        if len(sharing) == 1:
            continue
        without = [name for name in sharing if name not in parts or parts[name].memory != memory]
        own = sorted((parts[name] for name in sharing if name not in without), key=lambda part: part.offset_bytes)
        ends = [0, *(part.offset_bytes + part.size_bytes for part in own)]
        apart = all(part.offset_bytes >= end for part, end in zip(own, ends, strict=False))
        if without or not apart or ends[-1] > soc.memory(memory).size_bytes:
            why = f"{', '.join(sharing)} share {memory}, but their Socs give them no disjoint parts of its "
            help_ = ("omit signalling", "give each unit a memory of its own")
            raise reach_error(board, sharing[0], f"{why}{soc.memory(memory).size_bytes} bytes", *help_)
