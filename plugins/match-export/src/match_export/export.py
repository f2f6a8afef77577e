"""From a compiled program to the files of a package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from match_core.contract.errors import UsageError
from match_core.contract.sources import SourceFile, Sources
from match_core.emit.manifest import DERIVED
from match_core.emit.manifest import NAME as MANIFEST
from match_core.emit.write import write_sources

from match_export.kinds.arduino import arduino_package
from match_export.kinds.cmake import cmake_package
from match_export.kinds.cmsis_pack import cmsis_pack
from match_export.kinds.esp_idf import esp_idf_package
from match_export.kinds.platformio import platformio_package
from match_export.kinds.zephyr import zephyr_package
from match_export.program import ExportProgram, read_program

#: Exporter of each kind.
KINDS: Mapping[str, Callable[[ExportProgram], dict[str, bytes]]] = {
    "cmake": cmake_package,
    "zephyr": zephyr_package,
    "arduino": arduino_package,
    "platformio": platformio_package,
    "esp-idf": esp_idf_package,
    "cmsis-pack": cmsis_pack,
}
#: The kind whose users name directories of an SDK themselves.
_OPEN = "cmake"
_SHOWN = 4


def export_program(directory: Path, kind: str, output: Path, release: str) -> tuple[str, ...]:
    """Write the package; returns the paths of its files. All files or none, and only over a package or program that
    match wrote. UsageError MATCH-U030, U100 and U102 as of ``read_program``, MATCH-U105 if the program needs an SDK
    that such a package does not bring, MATCH-U010 and U011 for the output directory."""
    program = read_program(directory, release)
    if program.foreign and kind != _OPEN:
        more = f" and {len(program.foreign) - _SHOWN} more" if len(program.foreign) > _SHOWN else ""
        raise UsageError(
            "MATCH-U105",
            f"the program cannot become a package of kind {kind}",
            str(directory),
            f"it is for {program.target} and includes headers of its SDK: {', '.join(program.foreign[:_SHOWN])}{more}",
            ("export it with --as cmake", "compile the model for a target without an SDK: -t host"),
        )
    files = KINDS[kind](program)
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    manifest = json.dumps({"schema": DERIVED, "schema_version": 1, "files": digests}, indent=1, sort_keys=True) + "\n"
    files[MANIFEST] = manifest.encode("utf-8")
    write_sources(Sources(tuple(SourceFile(name, files[name]) for name in sorted(files))), output)
    return tuple(sorted(files))
