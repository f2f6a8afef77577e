"""Digest of the code behind hooks, to distinguish results of this code from results of other code."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path


def code_digest(plugins: Iterable[object], core: Iterable[Path]) -> str | None:
    """Digest of the Python sources of the packages that these objects come from, and of the files and folders ``core``
    of match_core. None if a plugin has no source file."""
    places = packages_of(plugins)
    return None if places is None else files_digest((*places, *core), "*.py")


def packages_of(plugins: Iterable[object]) -> set[Path] | None:
    """The folders, or single files, of the packages that these objects come from; None if one has none."""
    places = set()
    for plugin in plugins:
        name = getattr(plugin, "__name__", type(plugin).__module__).split(".")[0]
        origin = getattr(sys.modules.get(name), "__file__", None)
        if origin is None:
            return None
        place = Path(origin)
        places.add(place.parent if place.name == "__init__.py" else place)
    return places


def files_digest(places: Iterable[Path], pattern: str = "*") -> str:
    """Digest of names and contents of the files in these folders, and of single files; compiled files do not count."""
    digest = hashlib.sha256()
    for path in sorted({path for place in places for path in _files(place, pattern)}):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(place: Path, pattern: str) -> Iterable[Path]:
    if not place.is_dir():
        return (place,)
    return (path for path in place.rglob(pattern) if "__pycache__" not in path.parts and path.is_file())
