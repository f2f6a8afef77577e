"""A PlatformIO library: ``library.json``, sources in ``src``, headers in ``include``.

Layout: PlatformIO documentation, "library.json".
"""

from __future__ import annotations

import json

from match_export.program import ExportProgram


def platformio_package(program: ExportProgram) -> dict[str, bytes]:
    """The files by path."""
    document = {
        "$schema": "https://raw.githubusercontent.com/platformio/platformio-core/develop/platformio/assets/schema/library.json",
        "name": program.name,
        "version": program.release,
        "description": program.sentence,
        "keywords": "neural-network, inference",
        "license": "Apache-2.0",
        "headers": f"{program.name}.h",
        "frameworks": "*",
        "platforms": "*",
        "build": {
            "srcDir": "src",
            "includeDir": "include",
            "flags": ["-Isrc", "-ffp-contract=off"],
            "libArchive": True,
        },
        "examples": [{"name": "inference", "base": "examples/inference", "files": ["main.c"]}],
    }
    text = json.dumps(document, indent=2) + "\n"
    example = {"examples/inference/main.c": program.example.encode("utf-8")}
    return {**program.laid_out(), "library.json": text.encode("utf-8"), **example}
