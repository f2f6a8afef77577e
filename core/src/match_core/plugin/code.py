"""Digest of the code behind hooks, to distinguish results of this code from results of other code."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path


def code_digest(plugins: Iterable[object], core: Iterable[Path]) -> str | None:
    """Digest of the Python sources of the packages that these objects come from, and of the files and folders ``core``
    of match_core. None if a plugin has no source file."""
    files = {path for place in core for path in _files(place)}
    for plugin in plugins:
        name = getattr(plugin, "__name__", type(plugin).__module__).split(".")[0]
        origin = getattr(sys.modules.get(name), "__file__", None)
        if origin is None:
            return None
        place = Path(origin)
        files.update(_files(place.parent if place.name == "__init__.py" else place))
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _files(place: Path) -> Iterable[Path]:
    return place.rglob("*.py") if place.is_dir() else (place,)
