"""The C interface of the two arrays, and the twin that replaces the published kernel library and the chip."""

from __future__ import annotations

from pathlib import Path

from match_core import PlatformApi, RuntimeFile, Soc, TwinApi, UnitApi
from match_core.lower.interfaces import context_header
from match_host.chip import memory_api, runtime_files, twin_api

from match_diana.analog.kernels import ANALOG_INTERFACES, ANALOG_KERNELS
from match_diana.digital.kernels import DIGITAL_INTERFACES, DIGITAL_KERNELS
from match_diana.sdk.build_files import build_files
from match_diana.timing import CLOCKS, HEADER_NAME, render_timing_header

_HERE = Path(__file__).resolve().parent


def unit_api(unit: str, soc: Soc) -> UnitApi:
    """The API of ``digital`` or ``analog``. Both have the same twin."""
    digital = unit == "digital"
    other = "match_diana_analog" if digital else "match_diana_digital"
    interfaces = DIGITAL_INTERFACES if digital else ANALOG_INTERFACES
    return UnitApi(
        platform=PlatformApi(start="match_diana_start", stop="match_diana_stop", call="match_diana_call"),
        memory=memory_api(f"match_diana_{unit}"),
        kernels=DIGITAL_KERNELS if digital else ANALOG_KERNELS,
        headers=("match_diana_api.h", f"match_diana_{unit}.h"),
        runtime=(
            *(file for file in runtime_files(_HERE / "runtime") if not file.name.startswith(other)),
            *map(context_header, interfaces),
        ),
        twin=_twin(),
        build=build_files(soc.home),
        clock=unit,
    )


def _twin() -> TwinApi:
    timing = RuntimeFile(HEADER_NAME, render_timing_header())
    return twin_api(
        _HERE / "twin", timing, CLOCKS, {"l1": "match_diana_twin_l1({bytes})", "l2": "match_diana_twin_l2({bytes})"}
    )
