"""Which units of a Soc a compilation may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.errors import UsageError

if TYPE_CHECKING:
    from match_core.hardware import Soc, Unit


def enabled_units(
    soc: Soc, units: tuple[Unit, ...], only: tuple[str, ...], without: tuple[str, ...]
) -> tuple[Unit, ...]:
    """The units left after ``--only-unit`` and ``--without-unit``. The host stays unless it is named in ``without``:
    it runs the program and takes what no other enabled unit takes. UsageError MATCH-U020 for an unknown name."""
    known = tuple(unit.name for unit in units)
    for name in (*only, *without):
        if name not in known:
            raise UsageError(
                code="MATCH-U020",
                what=f"unit {name!r} is not known",
                where=f"target {soc.name}",
                why=f"its {len(known)} units are {', '.join(known)}",
                help=tuple(f"use {candidate}" for candidate in known),
            )
    keep = set(only) | {soc.host} if only else set(known)
    left = tuple(unit for unit in units if unit.name in keep - set(without))
    if not left:
        raise UsageError(
            code="MATCH-U021",
            what="no unit is left to run the model",
            where=f"target {soc.name}",
            why=f"all {len(known)} units were disabled",
            help=("leave out one --without-unit",),
        )
    return left
