"""How the unit is called in C: the three functions of the runtime, which the program's build links with oneDNN."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from match_core import PlatformApi, RegionKernel, RuntimeFile, UnitApi

from match_dnnl.claims import PATTERN
from match_dnnl.hardware import DIRECT

_RUNTIME = (
    "match_dnnl.c",
    "match_dnnl.h",
    "match_dnnl_dense.c",
    "match_dnnl_engine.h",
    "match_dnnl_layout.c",
    "match_dnnl_place.c",
    "match_dnnl_primitive.c",
    "match_dnnl_read.c",
    "match_dnnl_reorder.c",
    "match_dnnl_spatial.c",
)


def runtime_files() -> tuple[RuntimeFile, ...]:
    """The C that loads and runs regions."""
    directory = Path(__file__).parent / "runtime"
    return tuple(RuntimeFile(name, (directory / name).read_text("utf-8")) for name in _RUNTIME)


def unit_api(preset: str) -> UnitApi:
    """The same C runs in programs and on the twin: oneDNN is the engine itself, not a model of it."""
    from match_dnnl.lower import compile_region

    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={PATTERN: RegionKernel(partial(compile_region, winograd=preset != DIRECT))},
        headers=("match_dnnl.h",),
        runtime=runtime_files(),
        libraries=("dnnl", "cjson"),
    )
