"""The location of an installed plugin's modules, found without importing them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from match_core.plugin.discovery import find_plugins
from match_core.plugin.markers import ENTRY_POINT_GROUP


def installed(name: str) -> Distribution | None:
    """The distribution of that name."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def plugin_points(name: str) -> tuple[EntryPoint, ...]:
    """The entry points of a distribution that are plugins; empty if they cannot be read."""
    found = installed(name)
    try:
        return tuple(found.entry_points.select(group=ENTRY_POINT_GROUP)) if found is not None else ()
    except Exception:  # importlib.metadata raises various types for an unreadable file
        return ()


def module_of(name: str, plugin: str) -> str:
    """The module of a plugin's entry point; empty if unknown."""
    value = next((point.value for point in plugin_points(name) if point.name == plugin), "")
    module = re.match(r"[\w.]+", value)
    return module[0] if module is not None else ""


def import_folder(name: str, plugin: str) -> Path | None:
    """The folder of the package that holds the plugin's module; None if it cannot be found."""
    package = module_of(name, plugin).partition(".")[0]
    try:
        spec = find_spec(package)
    except ValueError:  # an empty name, or a module that was made without one
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


#: {target: package} of targets that may not be installed: a file next to the modules of any plugin.
PUBLISHED = "published-targets.json"


def published(target: str) -> tuple[str, ...]:
    """Lines of help with the packages that define a target, as files of installed plugins state them."""
    found = []
    for plugin in find_plugins():
        folder = import_folder(plugin.distribution, plugin.name)
        with suppress(OSError, RecursionError, ValueError, AttributeError):
            listed = json.loads((folder / PUBLISHED).read_text("utf-8")) if folder is not None else {}
            found += [listed[name] for name in (target.casefold(),) if isinstance(listed.get(name), str)]
    return tuple(f"{name} defines it and is not active: pip install {name}" for name in dict.fromkeys(found))
