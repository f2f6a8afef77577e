"""The unit's C interface: the three functions of the runtime, which the program's build links with oneDNN."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from match_core import PlatformApi, RegionKernel, UnitApi
from match_host.chip import runtime_files

from match_dnnl.claims import PATTERN
from match_dnnl.hardware import DIRECT


def unit_api(preset: str) -> UnitApi:
    """The same C runs in programs and on the twin: oneDNN is the engine itself, not a model of it."""
    from match_dnnl.lower import compile_region

    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={PATTERN: RegionKernel(partial(compile_region, winograd=preset != DIRECT))},
        headers=("match_dnnl.h",),
        runtime=runtime_files(Path(__file__).parent / "runtime"),
        libraries=("dnnl", "cjson"),
    )
