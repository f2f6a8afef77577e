"""Picking a target and its units by name, with errors that distinguish missing, unknown and broken ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from match_core.contract.errors import PluginError, UsageError, did_you_mean
from match_core.contract.hardware import Unit
from match_core.plugin.discovery import normalised
from match_core.plugin.places import published

if TYPE_CHECKING:
    from match_core.contract.commands import Command
    from match_core.contract.front_end import FrontEnd
    from match_core.contract.hardware import Soc
    from match_core.contract.passes import Pass
    from match_core.contract.pattern import Pattern
    from match_core.contract.runner import Runner
    from match_core.plugin.discovery import Found
    from match_core.plugin.records import PluginFault
    from match_core.plugin.targets import Clash, Targets

_NamedItem = TypeVar("_NamedItem", "Command", "FrontEnd", "Pass", "Pattern", "Runner")
_LIST = "see the installed targets with: match targets"


def soc(name: str | None, targets: Targets, faults: Sequence[PluginFault]) -> Soc:
    """The Soc of that name, or the only one that is a chip. UsageError MATCH-U022 (unknown), U023 (several, none
    named), U024 (none installed); PluginError if a plugin's fault is the reason."""
    own = sorted(name for name, owned in targets.socs.items() if owned.item.generic)
    known = sorted(set(targets.socs) - set(own))
    if name is None:
        if len(known) == 1:
            return targets.socs[known[0]].item
        if known:
            why = f"{len(known)} targets are installed: {', '.join(known)}"
            raise UsageError("MATCH-U023", "no target was given", "option -t", why, (f"add -t {known[0]}", _LIST))
        if faults:
            raise faults[0].as_error("there is no target to compile for")
        help_ = (
            "install a target package, for example with pip install match-CHIP",
            *(f"compile for {targets.socs[soc].item.description.split(':')[0]}: -t {soc}" for soc in own),
            "see: match plugins",
        )
        where, why = (
            "installed packages with entry points in the group match.plugins",
            "no installed package defines a target",
        )
        raise UsageError("MATCH-U024", "there is no target to compile for", where, why, help_)
    if name in targets.socs:
        return targets.socs[name].item
    raise_clash(targets.clashes, "Soc", name, f"target {name} cannot be used")
    for fault in faults:
        if _would_define(fault, name):
            raise fault.as_error(f"target {name} cannot be used")
    broken = [f"repair or remove {fault.distribution}: {fault.cause}" for fault in faults]
    having = sorted(soc for soc, owned in targets.socs.items() if name in owned.item.units)
    why = f"it is a unit of {', '.join(having)}" if having else f"installed: {', '.join((*known, *own)) or 'none'}"
    near = [f"choose a target: -t {soc}" for soc in having] or did_you_mean(name, (*known, *own), "-t {}")
    help_ = (*near, *published(name), *broken, _LIST)
    raise UsageError("MATCH-U022", f"target {name!r} is not known", "option -t", why, help_)


def units(soc: Soc, targets: Targets, faults: Sequence[PluginFault]) -> tuple[Unit, ...]:
    """The Soc's units in its order. A host that no package defines runs the program, but no operator. PluginError
    MATCH-H007 (name clash) or H009 (no package defines another unit)."""
    clashing = {(clash.kind, clash.name) for clash in targets.clashes}
    for name in soc.units:
        if name in targets.units or (name == soc.host and ("unit", name) not in clashing):
            continue
        raise_clash(targets.clashes, "unit", name, f"target {soc.name} cannot be used")
        owner = targets.socs[soc.name].owner if soc.name in targets.socs else None
        raise PluginError(
            code="MATCH-H009",
            what=f"target {soc.name} cannot be used",
            where=f"unit {name!r}" + (f", named by {owner.distribution} {owner.version}" if owner else ""),
            why=f"no active plugin defines it; known units: {', '.join(targets.units) or 'none'}",
            help=(
                *(missing_requirements(owner.distribution) if owner else ()),
                "install the package that defines the unit",
                *(f"repair {fault.distribution}: {fault.cause}" for fault in faults),
            ),
        )
    bare = Unit(soc.host, "host core: runs the program; no active package provides kernels for it")
    found = tuple(targets.units[name].item if name in targets.units else bare for name in soc.units)
    known = [memory.name for memory in soc.memories]
    for unit in found:
        if unit.memory is not None and unit.memory not in known:
            where = f"unit {unit.name!r} of {targets.units[unit.name].owner.distribution}, hook match_hardware"
            why = f"its memory {unit.memory!r} is not one of the target's: {', '.join(known)}"
            help_ = ("name a memory of the Soc in Unit.memory, or add it to Soc.memories",)
            raise PluginError("MATCH-H006", f"target {soc.name} cannot be used", where, why, help_)
    return found


def missing_requirements(distribution: str) -> tuple[str, ...]:
    """A line of help with the packages of this project that a package requires but that are not installed, if any."""
    from importlib.metadata import PackageNotFoundError, requires, version

    missing = []
    try:
        needed = requires(distribution) or ()
    except PackageNotFoundError:
        return ()
    for entry in needed:
        name = re.split(r"[^\w.-]", entry, maxsplit=1)[0]
        if "extra ==" in entry or not normalised(name).startswith("match-"):
            continue
        try:
            version(name)
        except PackageNotFoundError:
            missing.append(name)
    return (f"{distribution} requires {', '.join(missing)}: pip install {' '.join(missing)}",) if missing else ()


def raise_clash(clashes: Sequence[Clash], kind: str, name: str, what: str) -> None:
    """PluginError MATCH-H007 if several packages define the name."""
    for clash in clashes:
        if (clash.kind, clash.name) == (kind, name):
            raise PluginError(
                code="MATCH-H007",
                what=what,
                where=f"{kind} {name!r}",
                why=clash.cause(),
                help=tuple(f"{owner.distribution}: {owner.how_to_disable}" for owner in clash.owners),
            )


def _would_define(fault: PluginFault, target: str) -> bool:
    """By convention the entry point of a package match-<target> is named <target>."""
    expected = normalised(target)
    distribution = normalised(fault.distribution)
    return expected in (normalised(fault.entry_point), distribution) or distribution == f"match-{expected}"


def collected(
    answered: Iterable[tuple[Found, tuple[_NamedItem, ...]]], kind: str, where: str
) -> tuple[tuple[Found, _NamedItem], ...]:
    """All answers in one tuple, each with its plugin; PluginError MATCH-H007 if two plugins use one name."""
    items: dict[str, tuple[Found, _NamedItem]] = {}
    for found, item in ((found, item) for found, answer in answered for item in answer):
        if item.name in items:
            other = items[item.name][0]
            both = f"{other.distribution} {other.version} and {found.distribution} {found.version}"
            raise PluginError(
                code="MATCH-H007",
                what=f"{where} cannot be used",
                where=f"{kind} {item.name!r}",
                why=f"both {both} define it",
                help=(other.how_to_disable, found.how_to_disable),
            )
        items[item.name] = (found, item)
    return tuple(items.values())
