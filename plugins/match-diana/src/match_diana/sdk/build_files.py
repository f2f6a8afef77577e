"""What is written beside a program so that it can be built for the chip: a makefile for a library.

Everything runs on the host, so there is one image. How it is loaded and started is the business of an application for
the chip's SDK (dianaKUL/pulp-sdk-diana), which nobody but its owners can run; so there is no application.
"""

from __future__ import annotations

from pathlib import Path

from match_core import BuildFiles, BuildRequest, RuntimeFile
from match_core.emit.templates import Templates

_TEMPLATES = Path(__file__).resolve().parent / "templates"
MAKEFILE = "diana.mk"


def build_files() -> BuildFiles:
    """The package's build files, for either array."""
    return BuildFiles(render)


def render(request: BuildRequest) -> tuple[RuntimeFile, ...]:
    """The makefile."""
    view = {"name": request.name, "sources": tuple(request.sources)}
    return (RuntimeFile(MAKEFILE, Templates((_TEMPLATES,)).render(f"{MAKEFILE}.mako", view)),)
