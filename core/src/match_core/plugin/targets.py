"""Merging the hardware of all plugins by name, with the plugin that owns each item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from match_core.contract.hardware import Hardware, Soc, Unit
    from match_core.plugin.discovery import Found

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Owned(Generic[_Item]):
    """A unit or Soc and the plugin that defines it."""

    item: _Item
    owner: Found


@dataclass(frozen=True, slots=True)
class Clash:
    """Several plugins define the same name; ``owners`` in calling order."""

    kind: str
    name: str
    owners: tuple[Found, ...]

    def cause(self) -> str:
        """The reason in words, naming every package."""
        packages = " and ".join(f"{owner.distribution} {owner.version}" for owner in self.owners)
        return f"the {self.kind} name {self.name!r} is defined by {packages}"


@dataclass(frozen=True, slots=True)
class Targets:
    """All usable units and Socs by name, in calling order, without the names that clash."""

    units: Mapping[str, Owned[Unit]] = field(default_factory=dict)
    socs: Mapping[str, Owned[Soc]] = field(default_factory=dict)
    clashes: tuple[Clash, ...] = ()


def merge(answers: Iterable[tuple[Found, Hardware]]) -> Targets:
    """Merge by name. A name that two plugins define belongs to neither, because their order must not decide."""
    collected = tuple(answers)
    units, unit_clashes = _merge("unit", [(owner, unit.name, unit) for owner, hw in collected for unit in hw.units])
    socs, soc_clashes = _merge("Soc", [(owner, soc.name, soc) for owner, hw in collected for soc in hw.socs])
    return Targets(units, socs, (*unit_clashes, *soc_clashes))


def _merge(kind: str, entries: Iterable[tuple[Found, str, _Item]]) -> tuple[dict[str, Owned[_Item]], tuple[Clash, ...]]:
    by_name: dict[str, list[Owned[_Item]]] = {}
    for owner, name, item in entries:
        by_name.setdefault(name, []).append(Owned(item, owner))
    merged: dict[str, Owned[_Item]] = {}
    clashes = []
    for name, owned in by_name.items():
        if len(owned) == 1:
            merged[name] = owned[0]
        else:
            clashes.append(Clash(kind, name, tuple(entry.owner for entry in owned)))
    return merged, tuple(clashes)
