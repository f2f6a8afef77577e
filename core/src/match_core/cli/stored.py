"""Programs of earlier compilations: where model, options and installation are as before, the program is not made again.

An installation is the same if the folders that Python imports from have unchanged modification times, which change when
a package is installed, and if the files of all packages with plugins have unchanged content.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from match_core.cli.listed import times_of
from match_core.contract.sources import SourceFile, Sources
from match_core.io.cache_dir import cache_directory
from match_core.io.entries import Entries, digest
from match_core.plugin.code import files_digest
from match_core.version import __version__

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

#: Increased when the format of entries changes.
FORMAT = 1
#: The most programs that are kept.
ENTRIES_MAX = 40
#: A model with this word may have weights in other files.
_EXTERNAL = b"location"


@dataclass(frozen=True)
class StoredProgram:
    """What ``match compile`` shows and writes: its document, its notes, the files."""

    document: Mapping[str, Any]
    notes: tuple[str, ...]
    sources: Sources


def request_key(model: Path, target: str | None, samples: Path | None, choices: Mapping[str, Any]) -> str | None:
    """Digest of a command line with the content of the files that it names, and of what Python imports from. None if
    the program is not stored: without a cache, with weights outside the model, with files of boards or figures."""
    read = [path for path in (model, samples) if path is not None]
    try:  # what is no file, such as a device or a pipe, is not read here
        if not choices["cache"] or choices["figures"] is not None or Path(target or "").is_file():
            return None
        contents = [path.read_bytes() for path in read if path.is_file()]
    except OSError:
        return None
    if len(contents) < len(read) or _EXTERNAL in contents[0]:
        return None
    own = sorted((name, value) for name, value in choices.items() if name != "jobs")
    python = [sys.version, platform.machine(), times_of(sys.path), *filter(_matters, sorted(os.environ.items()))]
    return digest([python, model.name, [sha256(content).hexdigest() for content in contents], target, repr(own)])


def read_program(key: str) -> StoredProgram | None:
    """The program of an earlier compilation; None if there is none, or if a package has changed since."""
    content = _entries().read(key)
    try:
        if not isinstance(content, dict) or content["code"] != files_digest(map(Path, content["packages"])):
            return None
        files = [SourceFile(name, zlib.decompress(b64decode(text))) for name, text in content["files"]]
        if any(Path(file.name).is_absolute() or ".." in Path(file.name).parts for file in files):
            return None
        return StoredProgram(json.loads(content["document"]), tuple(content["notes"]), Sources(tuple(files)))
    except (KeyError, TypeError, ValueError, OSError, zlib.error):
        return None


def write_program(key: str, program: StoredProgram, plugins: Plugins) -> None:
    """Keep a program, if possible and if all plugins have files and no faults; the oldest programs are removed."""
    packages = plugins.packages()
    if packages is None or plugins.faults or not plugins.reloadable:
        return
    files = [[file.name, b64encode(zlib.compress(file.content, 1)).decode()] for file in program.sources.files]
    state = {"packages": sorted(map(str, packages)), "code": files_digest(packages)}
    entries, document = _entries(), json.dumps(program.document)  # a text, because entries sort the names of a document
    entries.write(key, {**state, "document": document, "notes": program.notes, "files": files})
    entries.keep(ENTRIES_MAX)


def _entries() -> Entries:
    return Entries(cache_directory("programs"), FORMAT, __version__)


def _matters(variable: tuple[str, str]) -> bool:
    """Whether it may change a program: variables of match, and those that name libraries of users."""
    name, _ = variable
    return (name.startswith("MATCH_") or name.endswith("_DIR")) and name != "MATCH_CACHE_DIR"
