"""What the port has in the place of Carfield's platform."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from match_core.contract.errors import UsageError
from match_core.contract.runner import RunRequest

HERE = Path(__file__).resolve().parent
#: The port's C.
SOURCES = tuple(HERE / name for name in ("start.S", "virt.c", "units.c", "copies.c", "redmule.c"))
HARTS = 3
#: Runtime files of Carfield that the port takes the place of.
REPLACED = tuple(f"match_carfield_{name}.c" for name in ("host", "dma", "pulp", "pulp_dma", "spatz", "spatz_dma"))
#: How the names of kernels begin, which are the same in every program.
KERNELS = ("match_carfield_half_", "match_carfield_int8_")
#: The twin's model of the matrix engine.
REDMULE = "carfield_redmule.c"


@dataclass(frozen=True, slots=True)
class Parts:
    """``sources``: the port's C; ``includes``: its folders of headers, the first one first."""

    sources: tuple[Path, ...]
    includes: tuple[Path, ...]


def has_port(request: RunRequest) -> bool:
    """Whether the units of the program are Carfield's clusters."""
    units = {api.clock: api for api in request.apis.values() if api.twin.sources}
    return bool(units) and all(REDMULE in {file.name for file in api.twin.sources} for api in units.values())


def parts_of(request: RunRequest) -> Parts:
    """The port's files for a program; the twin's RedMulE is written into ``request.work``, where it meets the port's
    headers instead of the twin's. UsageError MATCH-U102 for a program of another target."""
    if not has_port(request):
        raise no_port(request)
    twin = next(api.twin for api in request.apis.values() if api.twin.sources)
    headers = request.work / "twin"
    headers.mkdir(parents=True, exist_ok=True)
    for file in twin.headers:
        (headers / file.name).write_text(file.text, encoding="utf-8")
    redmule = request.work / REDMULE
    redmule.write_text(next(file.text for file in twin.sources if file.name == REDMULE), encoding="utf-8")
    return Parts((*SOURCES, redmule), (HERE / "include", headers))


def no_port(request: RunRequest) -> UsageError:
    """The units of the program are on no machine."""
    units = sorted({node["unit"] for node in request.document["nodes"] if node["emitted"]} - {request.soc.host})
    return UsageError(
        code="MATCH-U102",
        what="the program cannot run there",
        where=f"runner qemu, target {request.soc.name}",
        why=f"no emulated machine has the units {', '.join(units)}",
        help=("run it on the twin: leave --on out", *(f"compile without it: --without-unit {unit}" for unit in units)),
    )
