"""Files written next to a program so that GAP9's SDKs can build it, and an application that runs it once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from match_core import BuildFiles, BuildRequest, RuntimeFile
from match_core.lower.templates import Templates

from match_gap9.sdk.libraries import needed_libraries

_TEMPLATES = Path(__file__).resolve().parent / "templates"
MAIN = "match_gap9_main.c"
PROFILE = "match_gap9_profile.c"
_FILES = ("CMakeLists.txt", "pulp_sdk.mk", "sdk.config", MAIN, PROFILE, "match_gap9_profile.h", "match_gap9_pulp_sdk.h")
#: Only programs that stream constants call it, and only those need the SDK's RAM driver.
_STORE = "match_gap9_store.c"
_TITLE_LIMIT = 60


def build_files() -> BuildFiles:
    """The package's build files, for either unit."""
    return BuildFiles(render, applications=(MAIN, PROFILE, "match_gap9_profile.h"))


def render(request: BuildRequest) -> tuple[RuntimeFile, ...]:
    """All files of a program, sorted by name."""
    templates = Templates((_TEMPLATES,))
    view = _view(request)
    return tuple(RuntimeFile(name, templates.render(f"{name}.mako", view)) for name in sorted(_FILES))


def _view(request: BuildRequest) -> Mapping[str, object]:
    program = [name for name in request.sources if request.stores or request.areas or name != _STORE]
    return {
        "name": request.name,
        "guard": request.guard,
        "library_sources": list(request.sources),
        "sources": program,
        "applications": (f"example/{MAIN}", f"example/{PROFILE}"),
        "libraries": needed_libraries({name: request.sources[name] for name in program}),
        "arenas": request.arenas,
        "instance": _instance(request),
        "stores": request.stores,
        "areas": request.areas,
        "beside": bool(request.images),
        "inputs": request.inputs,
        "outputs": request.outputs,
        "rows": [(node.index, f"{node.unit}: {_plain(node.title)}") for node in request.nodes],
        "node_count": 1 + max((node.index for node in request.nodes), default=0),
    }


def _instance(request: BuildRequest) -> tuple[str, ...]:
    """Initialisers of the program's context. L1's block is allocated at run time and aligned then."""
    fields = [
        f".{arena.field} = " + (f"aligned(block_of_{arena.field})" if arena.memory == "l1" else f"arena_{arena.field}")
        for arena in request.arenas
    ]
    fields += [f".{store.field} = store_{store.field}" for store in request.stores]
    fields += [f".{area.field} = area_{area.field}" for area in request.areas]
    return (*fields, ".state = &state")


def _plain(title: str) -> str:
    """Text for a C string: model names may hold anything."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in " _-.,:/") else "_" for c in title)
    return safe if len(safe) <= _TITLE_LIMIT else safe[: _TITLE_LIMIT - 3] + "..."
