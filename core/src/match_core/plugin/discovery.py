"""Finding plugins: installed entry points in a fixed order, and those that the user disabled."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.plugin.markers import ENTRY_POINT_GROUP

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

#: Comma-separated lists of entry-point or distribution names.
DISABLE_VARIABLE = "MATCH_DISABLE_PLUGINS"
ALLOW_VARIABLE = "MATCH_ALLOW_PLUGINS"

#: The name or version of a distribution whose metadata do not state it.
UNKNOWN = "unknown"
#: What an entry point may name: a module, and an object in it.
_VALUE = re.compile(r"[\w.]+\s*(:\s*[\w.]+)?\s*(\[.*\])?\s*")


@dataclass(frozen=True, slots=True)
class Found:
    """A plugin that is installed but not imported yet; ``load`` imports it and returns the object with the hooks."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]

    @property
    def key(self) -> str:
        """Unique among all plugins, even if two of them have the same entry-point name."""
        return f"{self.distribution}:{self.name}"

    @property
    def how_to_disable(self) -> str:
        """How to run without the plugin."""
        return f"to disable it, set {DISABLE_VARIABLE}={self.distribution}"


def find_plugins() -> tuple[Found, ...]:
    """All installed plugins in calling order, sorted by (distribution, entry point): those of the first distribution
    of each name on the path. The order of importlib.metadata follows the file system, so it is not used."""
    first: dict[str, tuple[Found, ...]] = {}
    for path in sys.path:
        for name, plugins in _plugins_in(path, _changed(path)):
            first.setdefault(name, plugins)
    return tuple(found for name in sorted(first) for found in first[name])


@lru_cache(maxsize=64)
def _plugins_in(path: str, _changed: int) -> tuple[tuple[str, tuple[Found, ...]], ...]:
    """The plugins of each distribution in a folder of the path; read once, since all metadata take longer than all the
    rest of loading. A distribution whose entry points cannot be read becomes a plugin that cannot be loaded, unless
    they certainly hold no plugins of match."""
    from importlib.metadata import distributions

    read = []
    for distribution in filter(_mentions_plugins, distributions(path=[path])):
        try:
            stated = distribution.metadata  # parsed once: each property of the distribution would parse it again
            name, version = stated["Name"] or UNKNOWN, stated["Version"] or UNKNOWN
        except OSError:  # importlib_metadata's finder, where another package brings it, raises without a METADATA file
            name = version = UNKNOWN
        try:
            points = distribution.entry_points.select(group=ENTRY_POINT_GROUP)
            plugins = [Found(point.name, name, version, _loader(point)) for point in points]
        except Exception as error:
            plugins = [Found(name, name, version, _failing(f"its entry_points.txt cannot be read: {error}"))]
        read.append((normalised(name), tuple(sorted(plugins, key=lambda found: found.name))))
    return tuple(read)


def _changed(path: str) -> int:
    """When a distribution was last added to a folder of the path or removed from it, in nanoseconds."""
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


def _loader(point: EntryPoint) -> Callable[[], object]:
    return point.load if _VALUE.fullmatch(point.value) else _failing(f"{point.value!r} is not a module")


def _mentions_plugins(distribution: Distribution) -> bool:
    try:
        return ENTRY_POINT_GROUP in (distribution.read_text("entry_points.txt") or "")
    except UnicodeDecodeError:
        return True  # it may have plugins


def _failing(why: str) -> Callable[[], object]:
    def load() -> object:
        raise ValueError(why)

    return load


@dataclass(frozen=True, slots=True)
class Selection:
    """Which plugins the user wants; ``allowed`` None means all."""

    allowed: frozenset[str] | None = None
    disabled: frozenset[str] = frozenset()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Selection:
        """Reads the two variables; an empty or absent allow list allows all plugins."""
        return cls(
            allowed=_names(environment.get(ALLOW_VARIABLE, "")) or None,
            disabled=_names(environment.get(DISABLE_VARIABLE, "")),
        )

    def wants(self, found: Found) -> bool:
        """Whether this plugin may be loaded. Disabling wins over allowing."""
        names = {normalised(found.name), normalised(found.distribution)}
        return not names & self.disabled and (self.allowed is None or bool(names & self.allowed))


def normalised(name: str) -> str:
    """A distribution name as package indexes compare it: lower case, runs of ``-_.`` become one dash."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(text: str) -> frozenset[str]:
    return frozenset(normalised(part.strip()) for part in text.split(",") if part.strip())
