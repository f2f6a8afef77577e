"""The C files that are linked together if the units of a concurrent program are separate images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from match_core.contract.unit_api import BuildImage, RuntimeFile


def images(
    host: str, units: Mapping[str, str], runtime: Mapping[str, tuple[RuntimeFile, ...]], sources: Sequence[str]
) -> tuple[BuildImage, ...]:
    """The host's image, then those of the units. ``units``: by unit, the C file with its tasks, for all units that run
    loops; ``runtime``: files by unit; ``sources``: the C files of the library in order."""
    unit_only = {file.name for files in runtime.values() for file in files if file.image == "unit"}
    not_host = {*unit_only, *units.values()}
    found = [BuildImage(host, tuple(name for name in sources if name not in not_host))]
    for unit, own in units.items():
        needed = {own, *(file.name for file in runtime[unit] if file.image != "host")}
        found.append(BuildImage(unit, tuple(name for name in sources if name in needed)))
    return tuple(found)
