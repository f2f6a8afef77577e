"""The digest of all code that can change an outcome: the core, this package, and every active package."""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import match_core

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

#: What packages compute with or ship.
_SUFFIXES = (".py", ".c", ".h", ".mako", ".json")


def code_digest_of(plugins: Plugins) -> str:
    """SHA-256 of the files of all packages by name and content."""
    folders = {Path(str(match_core.__file__)).parent, Path(__file__).parent}
    for source in plugins.sources() or ():
        folders.add(_package(source))
    digest = sha256(f"{sys.version_info[:2]}".encode())
    for folder in sorted(folders, key=lambda folder: folder.name):
        for path in sorted(file for file in folder.rglob("*") if file.suffix in _SUFFIXES):
            content = path.read_bytes()
            digest.update(f"{folder.name}/{path.relative_to(folder)}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _package(source: Path) -> Path:
    """The folder of the package that a module belongs to."""
    folder = source.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder
