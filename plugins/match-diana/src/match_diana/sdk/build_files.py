"""Files written next to a program so that it can be built for the chip: a makefile for a library, and a minimal
application, which defines the addresses of the arrays' memories.

Everything runs on the host, so there is one image. Loading and starting it is the business of the chip's SDK
(dianaKUL/pulp-sdk-diana).
"""

from __future__ import annotations

from pathlib import Path

from match_core import BuildFiles, BuildRequest, RuntimeFile
from match_core.lower.templates import Templates

_TEMPLATES = Path(__file__).resolve().parent / "templates"
MAKEFILE, APPLICATION = "diana.mk", "main.c"


def build_files(home: str) -> BuildFiles:
    """The package's build files, for either array; ``home``: the memory in which static data lie."""

    def render(request: BuildRequest) -> tuple[RuntimeFile, ...]:
        view = {
            "name": request.name,
            "guard": request.guard,
            "sources": tuple(request.sources),
            "arenas": request.arenas,
            "inputs": request.inputs,
            "outputs": request.outputs,
            "home": home,
        }
        templates = Templates((_TEMPLATES,))
        return tuple(RuntimeFile(name, templates.render(f"{name}.mako", view)) for name in (MAKEFILE, APPLICATION))

    return BuildFiles(render, (APPLICATION,))
