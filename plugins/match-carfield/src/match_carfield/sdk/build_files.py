"""Files written next to a program so that it can be built as one image per processor and packed into one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from match_core import BuildFiles, BuildRequest, RuntimeFile
from match_core.lower.templates import Templates

_TEMPLATES = Path(__file__).resolve().parent / "templates"
MAKEFILE = "carfield.mk"
HOST_MAIN = "match_carfield_main.c"
UNITS = ("pulp", "spatz")

#: L2: 832 KiB of data, then the units' images; the last 256 bytes hold what the host hands over (runtime/
#: match_carfield_protocol.h). DRAM: the first MiB is the host's program, the rest is for activations that leave L2.
L2_DATA = 0x7800_0000
L2_DATA_BYTES = 832 * 1024
PULP_ENTRY = L2_DATA + L2_DATA_BYTES
IMAGE_BYTES = 0x1_8000
SPATZ_ENTRY = PULP_ENTRY + IMAGE_BYTES
HANDOVER_BYTES = 256
DRAM = 0x8000_0000
DRAM_HOST_BYTES = 0x10_0000
FAR_BYTES = 63 * 1024 * 1024

#: Addresses of the arenas in L1: after the data that pulp-runtime stores at the start of its L1, between the heap and
#: the stacks of snRuntime.
L1_ARENAS = {"l1_pulp": 0x5002_0000, "l1_spatz": 0x5100_8000}


def unit_main(unit: str) -> str:
    """Name of the C file with the main of a unit."""
    return f"match_carfield_{unit}_main.c"


def build_files() -> BuildFiles:
    """The package's build files, for either unit."""
    return BuildFiles(render, applications=(HOST_MAIN, *(unit_main(unit) for unit in UNITS)))


def render(request: BuildRequest) -> tuple[RuntimeFile, ...]:
    """All files of a concurrent program, sorted by name; none for a sequential program, which hands
    pointers from the host to units of another width."""
    if not request.images:
        return ()
    templates = Templates((_TEMPLATES,))
    view = _view(request)
    units = [image.name for image in request.images[1:] if image.name in UNITS]
    files = {name: templates.render(f"{name}.mako", view) for name in (MAKEFILE, HOST_MAIN, "match_carfield_host.ld")}
    for unit in units:
        own = {**view, "unit": unit, "entry": _entry(unit), "image_bytes": _image_bytes(unit)}
        files[f"match_carfield_{unit}.ld"] = templates.render("match_carfield_unit.ld.mako", own)
        files[unit_main(unit)] = templates.render("match_carfield_unit_main.c.mako", own)
    return tuple(RuntimeFile(name, files[name]) for name in sorted(files))


def _entry(unit: str) -> int:
    return PULP_ENTRY if unit == "pulp" else SPATZ_ENTRY


def _image_bytes(unit: str) -> int:
    return IMAGE_BYTES if unit == "pulp" else IMAGE_BYTES - HANDOVER_BYTES


def _view(request: BuildRequest) -> Mapping[str, object]:
    host, *others = request.images
    units = [image for image in others if image.name in UNITS]  # a board may have units of other packages
    return {
        "name": request.name,
        "guard": request.guard,
        "host_sources": host.sources,
        "units": {image.name: image.sources for image in units},
        "entries": {image.name: _entry(image.name) for image in units},
        "main_of": {image.name: unit_main(image.name) for image in units},
        "arenas": request.arenas,
        "inputs": request.inputs,
        "outputs": request.outputs,
        "l1": L1_ARENAS,
        "l2_data": L2_DATA,
        "l2_data_bytes": L2_DATA_BYTES,
        "dram": DRAM,
        "dram_host_bytes": DRAM_HOST_BYTES,
        "swap": DRAM + DRAM_HOST_BYTES,
        "far_bytes": FAR_BYTES,
    }
