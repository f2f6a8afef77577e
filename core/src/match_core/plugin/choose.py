"""Picking a target and its units by name, with errors that tell installed, unknown and broken apart."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from match_core.errors import PluginError, UsageError
from match_core.plugin.discovery import normalised

if TYPE_CHECKING:
    from match_core.hardware import Soc, Unit
    from match_core.plugin.records import PluginFault
    from match_core.plugin.targets import Clash, Targets

_LIST = "see the installed targets with: match targets"


def soc(name: str | None, targets: Targets, faults: Sequence[PluginFault]) -> Soc:
    """The Soc of that name, or the only one of a target package. UsageError MATCH-U022 (unknown), U023 (several, none
    named), U024 (none installed); PluginError where a plugin's fault is the reason."""
    own = sorted(name for name, owned in targets.socs.items() if owned.owner.built_in)
    known = sorted(set(targets.socs) - set(own))
    if name is None:
        if len(known) == 1:
            return targets.socs[known[0]].item
        if known:
            raise UsageError(
                code="MATCH-U023",
                what="no target was named",
                where="option -t",
                why=f"{len(known)} targets are installed: {', '.join(known)}",
                help=(f"choose one, for example -t {known[0]}",),
            )
        if faults:
            raise faults[0].as_error("there is no target to compile for")
        raise UsageError(
            code="MATCH-U024",
            what="there is no target to compile for",
            where="installed packages with entry points in the group match.plugins",
            why="none of them, if there are any, defines a target",
            help=(
                "install a target package, for example: pip install match-CHIP",
                *(f"compile for {targets.socs[soc].item.description.split(':')[0]}: -t {soc}" for soc in own),
                "see: match plugins",
            ),
        )
    if name in targets.socs:
        return targets.socs[name].item
    raise_clash(targets.clashes, "Soc", name, f"target {name} cannot be used")
    for fault in faults:
        if _would_define(fault, name):
            raise fault.as_error(f"target {name} cannot be used")
    close = get_close_matches(name, (*known, *own), n=1)
    broken = [f"repair or remove {fault.distribution}: {fault.cause}" for fault in faults]
    raise UsageError(
        code="MATCH-U022",
        what=f"target {name!r} is not known",
        where="option -t",
        why=f"installed: {', '.join((*known, *own)) or 'none'}",
        help=(*(f"did you mean -t {match}?" for match in close), *broken, _LIST),
    )


def units(soc: Soc, targets: Targets, faults: Sequence[PluginFault]) -> tuple[Unit, ...]:
    """The Soc's units in its order. PluginError MATCH-H007 (name clash) or H009 (nobody defines one)."""
    for name in soc.units:
        if name in targets.units:
            continue
        raise_clash(targets.clashes, "unit", name, f"target {soc.name} cannot be used")
        owner = targets.socs[soc.name].owner if soc.name in targets.socs else None
        raise PluginError(
            code="MATCH-H009",
            what=f"target {soc.name} cannot be used",
            where=f"unit {name!r}" + (f", named by {owner.distribution} {owner.version}" if owner else ""),
            why=f"no plugin in use defines it; known units: {', '.join(targets.units) or 'none'}",
            help=(
                "install the package that defines the unit",
                *(f"repair {fault.distribution}: {fault.cause}" for fault in faults),
            ),
        )
    return tuple(targets.units[name].item for name in soc.units)


def raise_clash(clashes: Sequence[Clash], kind: str, name: str, what: str) -> None:
    """PluginError MATCH-H007 where several packages define the name and nobody keeps it."""
    for clash in clashes:
        if (clash.kind, clash.name) == (kind, name) and not clash.kept:
            raise PluginError(
                code="MATCH-H007",
                what=what,
                where=f"{kind} {name!r}",
                why=clash.cause(),
                help=tuple(f"{owner.distribution}: {owner.how_to_disable}" for owner in clash.owners),
            )


def _would_define(fault: PluginFault, target: str) -> bool:
    """By convention the entry point of a package match-<target> is named <target>."""
    wanted = normalised(target)
    distribution = normalised(fault.distribution)
    return wanted in (normalised(fault.entry_point), distribution) or distribution == f"match-{wanted}"
