"""Files written next to a program so that it can be built for the cluster: a makefile for a library.

Host core and cluster share one address space and one instruction set, so there is one image, and nothing to pack.
Booting depends on a chip that is not published, so there is no application.
"""

from __future__ import annotations

from pathlib import Path

from match_core import BuildFiles, BuildRequest, RuntimeFile
from match_core.lower.templates import Templates

_TEMPLATES = Path(__file__).resolve().parent / "templates"
MAKEFILE = "ita.mk"


def build_files() -> BuildFiles:
    """The package's build files, for either unit."""
    return BuildFiles(render)


def render(request: BuildRequest) -> tuple[RuntimeFile, ...]:
    """The makefile."""
    view = {"name": request.name, "sources": tuple(request.sources)}
    return (RuntimeFile(MAKEFILE, Templates((_TEMPLATES,)).render(f"{MAKEFILE}.mako", view)),)
