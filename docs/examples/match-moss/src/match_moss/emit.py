"""The engine's functions in C; on the twin they take the cycles of ``hardware.py``."""

from __future__ import annotations

from pathlib import Path

from match_core import PlatformApi, RegionKernel, RuntimeFile, TwinApi, UnitApi

from match_moss.hardware import BIAS_BYTES, DATA_BYTES, ENGINE, VALUES, WEIGHT_BYTES
from match_moss.layers import compile_region


def _file(name: str) -> RuntimeFile:
    return RuntimeFile(name, (Path(__file__).parent / "c" / name).read_text("utf-8"))


def unit_api() -> UnitApi:
    """The functions that load and run a region."""
    sizes = {"data_bytes": DATA_BYTES, "weight_bytes": WEIGHT_BYTES, "bias_bytes": BIAS_BYTES, **VALUES}
    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={"moss_region": RegionKernel(compile_region)},
        headers=("moss.h",),
        runtime=(_file("moss.h"), _file("moss.c")),
        twin=TwinApi(
            sources=(_file("moss_twin.c"),),
            clocks=("host", ENGINE.name),
            defines=tuple(f"MOSS_{name.upper()}={value}u" for name, value in sizes.items()),
        ),
        clock=ENGINE.name,
    )
