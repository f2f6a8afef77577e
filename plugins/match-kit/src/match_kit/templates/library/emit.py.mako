"""The library's interface in C."""

from __future__ import annotations

from pathlib import Path

from match_core import PlatformApi, RegionKernel, RuntimeFile, UnitApi

from ${module}.source import compile_region


def _file(name: str) -> RuntimeFile:
    return RuntimeFile(name, (Path(__file__).parent / "c" / name).read_text("utf-8"))


def unit_api() -> UnitApi:
    """``${name}.c`` is here in place of an installed library. With one, remove the file and add
    ``libraries=("NAME",)`` for ``-lNAME``; no twin is needed, because the library itself runs on this machine."""
    return UnitApi(
        platform=PlatformApi(),
        memory=None,
        kernels={"${name}_region": RegionKernel(compile_region)},
        headers=("${name}.h",),
        runtime=(_file("${name}.h"), _file("${name}.c")),
    )
