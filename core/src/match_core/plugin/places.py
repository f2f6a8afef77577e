"""Where the modules of an installed plugin lie, found without importing them."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from match_core.plugin.markers import ENTRY_POINT_GROUP


def installed(name: str) -> Distribution | None:
    """The distribution of that name."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def module_of(name: str, plugin: str) -> str:
    """The module of a plugin's entry point."""
    found = installed(name)
    points = found.entry_points if found is not None else ()
    return next((p.module for p in points if p.group == ENTRY_POINT_GROUP and p.name == plugin), "match_core")


def import_folder(name: str, plugin: str) -> Path | None:
    """The folder of the package that holds the plugin's module; None where it cannot be found."""
    package = module_of(name, plugin).partition(".")[0]
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None
