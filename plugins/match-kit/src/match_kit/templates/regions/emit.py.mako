"""The engine's interface in C."""

from __future__ import annotations

from pathlib import Path

from match_core import PlatformApi, RegionKernel, RuntimeFile, TwinApi, UnitApi

from ${module}.hardware import ENGINE, VALUES
from ${module}.program import compile_region


def _file(name: str) -> RuntimeFile:
    return RuntimeFile(name, (Path(__file__).parent / "c" / name).read_text("utf-8"))


def unit_api() -> UnitApi:
    """``${name}_regions.c`` belongs to the program; on the twin, the SDK below it takes the cycles of ``hardware.py``."""
    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={"${name}_region": RegionKernel(compile_region)},
        headers=("${name}_sdk.h",),
        runtime=(_file("${name}_sdk.h"), _file("${name}_regions.c")),
        twin=TwinApi(
            sources=(_file("${name}_twin.c"),),
            clocks=("host", ENGINE.name),
            defines=tuple(f"{name.upper()}={value}u" for name, value in VALUES.items()),
        ),
        clock=ENGINE.name,
    )
