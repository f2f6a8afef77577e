"""The hardware of a point: a target as it is, or what it would be with other figures."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from match_core.board.compose import compose
from match_core.board.document import parse_board
from match_core.contract.board import Board
from match_core.contract.hardware import Constant

from match_explore.document import CAPACITY, CLOCK, FIGURE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.contract.hardware import Memory, MemoryPart, Soc, Unit
    from match_core.plugin.facade import Plugins

#: Entry points of this group are the constants that a package opens to studies, as "UNIT.CONSTANT".
_GROUP = "match.explore"
_SOURCE = "what-if figure of a study"


def open_figures(units: tuple[Unit, ...], preset: str) -> Mapping[str, Constant]:
    """By "UNIT.CONSTANT": the constants that studies may change. A package opens them by an entry point, or because
    counters may replace them (``may_fit``); either way its cost models read them from the Soc."""
    opened = {name for point in entry_points(group=_GROUP) for name in point.load()}
    known = {f"{unit.name}.{c.name}": c for unit in units for c in unit.constants_of(preset)}
    return {name: constant for name, constant in known.items() if constant.may_fit or name in opened}


def target_name(plugins: Plugins, target: str, board: str, what_if: Mapping[str, float]) -> str:
    """The name by which ``plugins`` has the target with these figures, after adding it if necessary. Hardware that does
    not exist ends in ``_what_if``. ``board``: the text of a board file, empty for the target of a package. Errors: as
    ``match_core.board.target.target_soc``."""
    made = compose(parse_board(board, target), plugins.targets) if board else None
    soc = plugins.soc(target) if made is None else made.soc
    if made is None and not what_if:
        return target
    units = plugins.units_of(soc) if made is None else made.units
    packages = {unit.name: {} for unit in units} if made is None else made.packages
    if what_if:
        soc = _changed(soc, what_if)
    plugins.add_board(Board(soc, units, packages, board))
    return soc.name


def _changed(soc: Soc, what_if: Mapping[str, float]) -> Soc:
    clock, figures = soc.clock_hz, list(soc.figures)
    sizes = {name.removeprefix(CAPACITY): int(value) for name, value in what_if.items() if name.startswith(CAPACITY)}
    memories = tuple(replace(m, size_bytes=sizes.get(m.name, m.size_bytes)) for m in soc.memories)
    for name, value in what_if.items():
        if name == CLOCK:
            clock = Constant("clock_hz", value, "Hz", _SOURCE)
        elif name.startswith(FIGURE):
            unit, _, constant = name.removeprefix(FIGURE).partition(".")
            figures.append((unit, constant, int(value)))
    return replace(
        soc,
        name=f"{soc.name}_what_if",
        memories=memories,
        parts=tuple(_part(part, soc.memory(part.memory), memories) for part in soc.parts),
        clock_hz=clock,
        figures=tuple(figures),
        notes=(*soc.notes, "What-if: " + ", ".join(f"{name} = {value:g}" for name, value in what_if.items()) + "."),
    )


def _part(part: MemoryPart, before: Memory, memories: tuple[Memory, ...]) -> MemoryPart:
    """The same share of a memory that has another size."""
    now = next(memory for memory in memories if memory.name == part.memory)
    offset, size = (
        value * now.size_bytes // before.size_bytes // now.alignment_bytes * now.alignment_bytes
        for value in (part.offset_bytes, part.size_bytes)
    )
    return replace(part, offset_bytes=offset, size_bytes=size)
