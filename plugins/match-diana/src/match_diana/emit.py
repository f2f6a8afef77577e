"""How the two arrays are called in C, and the twin that stands in for the published kernel library and the chip."""

from __future__ import annotations

from pathlib import Path

from match_core import MemoryApi, PlatformApi, RuntimeFile, Soc, TwinApi, UnitApi
from match_core.emit.interfaces import context_header

from match_diana.analog_kernels import ANALOG_INTERFACES, ANALOG_KERNELS
from match_diana.digital_kernels import DIGITAL_INTERFACES, DIGITAL_KERNELS
from match_diana.sdk.build_files import build_files
from match_diana.timing import CLOCKS, HEADER_NAME, render_timing_header

_HERE = Path(__file__).resolve().parent


def _files(*parts: str, suffixes: tuple[str, ...] = (".h", ".c")) -> tuple[RuntimeFile, ...]:
    folder = _HERE.joinpath(*parts)
    return tuple(
        RuntimeFile(path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir())
        if path.suffix in suffixes
    )


def unit_api(unit: str, soc: Soc) -> UnitApi:
    """The API of ``digital`` or ``analog``. Both have the same twin."""
    digital = unit == "digital"
    other = "match_diana_analog" if digital else "match_diana_digital"
    interfaces = DIGITAL_INTERFACES if digital else ANALOG_INTERFACES
    return UnitApi(
        platform=PlatformApi(start="match_diana_start", stop="match_diana_stop", call="match_diana_call"),
        memory=_memory(unit),
        kernels=DIGITAL_KERNELS if digital else ANALOG_KERNELS,
        headers=("match_diana_api.h", f"match_diana_{unit}.h"),
        runtime=(
            *(file for file in _files("runtime") if not file.name.startswith(other)),
            *map(context_header, interfaces),
        ),
        twin=_twin(),
        build=build_files(soc.home),
        clock=unit,
    )


def _memory(unit: str) -> MemoryApi:
    prefix = f"match_diana_{unit}"
    return MemoryApi(
        copy_in_1d=f"{prefix}_copy_in_1d",
        copy_in_2d=f"{prefix}_copy_in_2d",
        copy_in_3d=f"{prefix}_copy_in_3d",
        copy_out_1d=f"{prefix}_copy_out_1d",
        copy_out_2d=f"{prefix}_copy_out_2d",
        copy_out_3d=f"{prefix}_copy_out_3d",
        wait=f"{prefix}_copy_wait",
    )


def _twin() -> TwinApi:
    return TwinApi(
        headers=(
            *_files("twin", "include"),
            *_files("twin", "src", suffixes=(".h",)),
            RuntimeFile(HEADER_NAME, render_timing_header()),
        ),
        sources=_files("twin", "src", suffixes=(".c",)),
        clocks=CLOCKS,
        arenas={"l1": "match_diana_twin_l1({bytes})", "l2": "match_diana_twin_l2({bytes})"},
    )
