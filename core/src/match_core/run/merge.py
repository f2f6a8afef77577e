"""Merges the twins of all units of a program: units of one package share a twin, different packages have separate ones.

Each package's sources see the stand-in headers of their own SDK, their own macros, and the numbers of their clocks in
this program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from match_core.contract.unit_api import RuntimeFile, TwinApi, UnitApi
from match_core.emit.shipped import by_name

#: The header with the numbers of the clocks in this program.
CLOCKS_HEADER = "match_twin_clocks.h"
#: The clock that all twins share.
HOST = "host"


@dataclass(frozen=True, slots=True)
class Own:
    """What only one package's sources see: ``headers``, searched first, and macros."""

    headers: tuple[RuntimeFile, ...]
    defines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """``twin``: what all sources see, with clocks in the order of their numbers. If there are several packages,
    ``own``: by unit, what only sources of its package see; ``readers``: by file name, the unit whose ``own`` a C file
    sees."""

    twin: TwinApi
    own: Mapping[str, Own]
    readers: Mapping[str, str]


def merge(apis: Mapping[str, UnitApi], program: str = "") -> Merged:
    """One twin made of those of all units; ``program`` is the prefix of its files. PluginError MATCH-H007 if two
    packages have different C files of one name."""
    packages = _packages(apis)
    twins = [api.twin for _, api in sorted(apis.items())]
    clocks = _clocks(apis, packages)
    order = tuple(dict.fromkeys(name for names in clocks.values() for name in names.values())) or (HOST,)
    shared = len(packages) > 1
    numbers = {units[0]: _numbers(clocks[units[0]], order) for units in packages}
    own = {
        units[0]: Own((*_own_headers(apis, units), numbers[units[0]]), _defines(apis[unit].twin for unit in units))
        for units in packages
        if shared
    }
    private = {CLOCKS_HEADER, *(file.name for seen in own.values() for file in seen.headers)}
    common = [file for twin in twins for file in twin.headers if file.name not in private]
    headers = by_name("header", [*common, *(() if shared else numbers.values())])
    sources = by_name("C file", (file for twin in twins for file in twin.sources))
    merged = TwinApi(
        headers=tuple(headers[name] for name in sorted(headers)),
        sources=tuple(sources[name] for name in sorted(sources)),
        clocks=order,
        arenas={memory: text for twin in twins for memory, text in twin.arenas.items()},
        defines=_undisputed(_defines(twins)),
        load_store=next((twin.load_store for twin in twins if twin.load_store), ""),
    )
    readers = {name: units[0] for units in packages for name in _sources(apis, units, program)} if shared else {}
    return Merged(merged, own, readers)


def _defines(twins: Iterable[TwinApi]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(define for twin in twins for define in twin.defines))


def _undisputed(defines: tuple[str, ...]) -> tuple[str, ...]:
    """The macros that have a single value."""
    names = [define.partition("=")[0] for define in defines]
    return tuple(define for define, name in zip(defines, names, strict=True) if names.count(name) == 1)


def _packages(apis: Mapping[str, UnitApi]) -> list[list[str]]:
    """Units by twin: units that share a C file have the same twin. Units without a twin are in no group."""
    found: list[list[str]] = []
    for unit, api in sorted(apis.items()):
        same = [units for units in found if set(api.twin.sources) & set(apis[units[0]].twin.sources)]
        if same:
            same[0].append(unit)
        elif api.twin.sources:
            found.append([unit])
    return found


def _clocks(apis: Mapping[str, UnitApi], packages: list[list[str]]) -> dict[str, dict[str, str]]:
    """By the first unit of each package, the names of its clocks: (own name, name in the program), which differ if
    another package has a clock of that name."""
    own = {units[0]: dict.fromkeys(clock for unit in units for clock in apis[unit].twin.clocks) for units in packages}
    count: dict[str, int] = {}
    for names in own.values():
        for name in names:
            count[name] = count.get(name, 0) + 1
    return {
        unit: {name: name if name == HOST or count[name] == 1 else f"{unit}_{name}" for name in names}
        for unit, names in own.items()
    }


def _numbers(clocks: Mapping[str, str], order: tuple[str, ...]) -> RuntimeFile:
    lines = [f"#define MATCH_TWIN_CLOCK_{own.upper()} {order.index(name)}u" for own, name in clocks.items()]
    return RuntimeFile(CLOCKS_HEADER, "\n".join(["/* Numbers of this twin's clocks in this program. */", *lines, ""]))


def _own_headers(apis: Mapping[str, UnitApi], units: list[str]) -> tuple[RuntimeFile, ...]:
    """Stand-ins of an SDK's headers that differ from another package's."""
    others = {file.name: file.text for unit, api in apis.items() if unit not in units for file in api.twin.headers}
    headers = {file.name: file for unit in units for file in apis[unit].twin.headers}
    return tuple(file for file in headers.values() if others.get(file.name, file.text) != file.text)


def _sources(apis: Mapping[str, UnitApi], units: list[str], program: str) -> Iterable[str]:
    for unit in units:
        names = (*(file.name for file in apis[unit].twin.sources), *apis[unit].shipped)
        yield from (name for name in names if name.endswith(".c"))
        yield f"{program}_{unit}.c"
