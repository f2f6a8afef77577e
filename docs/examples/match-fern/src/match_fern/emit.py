"""How the engines are called in C. On the chip, ``fern_wait``, ``fern_begin`` and ``fern_ended`` are the board's; on
the twin they count modelled cycles."""

from __future__ import annotations

from pathlib import Path

from match_core import PlatformApi, QueueApi, RegionKernel, RuntimeFile, TwinApi, UnitApi

from match_fern.hardware import VALUES
from match_fern.program import compile_program
from match_fern.source import compile_source


def _file(name: str) -> RuntimeFile:
    return RuntimeFile(name, (Path(__file__).parent / "c" / name).read_text("utf-8"))


def unit_api(unit: str) -> UnitApi:
    """fern_c gets C, fern_q its binary and the functions that interpret it. In concurrent programs the host starts
    regions of fern_q and goes on; it waits for those of fern_c."""
    runtime = {"fern_c": ("fern.h",), "fern_q": ("fern.h", "fern_q.c")}
    kernels = {"fern_c": RegionKernel(compile_source), "fern_q": RegionKernel(compile_program)}
    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={f"{unit}_region": kernels[unit]},
        headers=("fern.h",),
        runtime=tuple(_file(name) for name in runtime[unit]),
        twin=TwinApi(
            sources=(_file("fern_twin.c"),),
            clocks=("host", *VALUES),
            defines=tuple(f"{name.upper()}_START={figures['start_cycles']}u" for name, figures in VALUES.items()),
        ),
        clock=unit,
        queue=QueueApi(done="fern_ended") if unit == "fern_q" else None,
    )
