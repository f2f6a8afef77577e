"""Finding plugins: installed entry points in a fixed order, and those that the user disabled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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
    """All installed plugins in calling order, sorted by (distribution, entry point).

    The order of importlib.metadata follows the file system, so it is not used.
    """
    from importlib.metadata import entry_points

    try:
        installed = [_found(point) for point in entry_points(group=ENTRY_POINT_GROUP)]
    except Exception:  # one package with an unreadable file ends the search for all
        installed = list(_one_by_one())
    installed.sort(key=lambda found: (normalised(found.distribution), found.name))
    return tuple(installed)


def _found(point: EntryPoint) -> Found:
    stated = point.dist.metadata if point.dist else None  # read once: each of dist's properties would parse it again
    return Found(
        name=point.name,
        distribution=(stated["Name"] if stated else None) or UNKNOWN,
        version=(stated["Version"] if stated else None) or UNKNOWN,
        load=point.load if _VALUE.fullmatch(point.value) else _failing(f"{point.value!r} is not a module"),
    )


def _one_by_one() -> Iterator[Found]:
    """The plugins of every distribution, the first of each name on the path. A distribution whose entry points cannot
    be read becomes a plugin that cannot be loaded, unless its entry points certainly hold no plugins of match."""
    from importlib.metadata import distributions

    seen = set()
    for distribution in distributions():
        name = distribution.metadata["Name"] or UNKNOWN
        if normalised(name) in seen:
            continue
        seen.add(normalised(name))
        try:
            yield from [_found(point) for point in distribution.entry_points.select(group=ENTRY_POINT_GROUP)]
        except Exception as error:
            if _mentions_plugins(distribution):
                why = f"its entry_points.txt cannot be read: {error}"
                yield Found(name, name, distribution.version or UNKNOWN, _failing(why))


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
