"""How ITA and the compute cores are called in C, and the twin that stands in for the Snitch runtime and ITA."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from match_core import Kernel, MemoryApi, PlatformApi, QueueApi, RuntimeFile, Soc, TwinApi, UnitApi
from match_core.emit.interfaces import context_header

from match_ita.constants import preset_of, values
from match_ita.ita_interfaces import ITA_INTERFACES
from match_ita.ita_kernels import ITA_KERNELS
from match_ita.timing import CLOCKS, HEADER_NAME, render_timing_header

_HERE = Path(__file__).resolve().parent
CONFIG_NAME = "match_ita_config.h"

#: Both units' kernels are reached from the DM core, so programs hold the headers of all.
_INTERFACES = ITA_INTERFACES
_SNITCH_KERNELS: Mapping[str, Kernel] = {}
#: How the names of runtime files begin that only programs with units side by side, or with compute cores, need.
_BESIDE = "match_ita_beside"
_SNITCH = "match_snitch_"


def _files(*parts: str, suffixes: tuple[str, ...] = (".h", ".c")) -> tuple[RuntimeFile, ...]:
    folder = _HERE.joinpath(*parts)
    return tuple(
        RuntimeFile(path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir())
        if path.suffix in suffixes
    )


def config_header(preset: str) -> RuntimeFile:
    """``match_ita_config.h``: where ITA's registers lie, and its job contexts."""
    figures = values(preset)
    text = (
        f"/* {CONFIG_NAME} - what the runtime has to know of the chip. SPDX-License-Identifier: Apache-2.0 */\n"
        "#ifndef MATCH_ITA_CONFIG_H\n#define MATCH_ITA_CONFIG_H\n\n"
        "/* First of ITA's registers. The address in the cluster is not public: define it for your chip. */\n"
        "#ifndef MATCH_ITA_BASE\n"
        f"#define MATCH_ITA_BASE 0x{figures['base_address']:08X}u\n"
        "#endif\n"
        f"#define MATCH_ITA_CONTEXTS {figures['contexts']}u\n\n#endif\n"
    )
    return RuntimeFile(CONFIG_NAME, text)


def unit_api(unit: str, soc: Soc) -> UnitApi:
    """The API of ``ita`` or ``snitch`` in a program for ``soc``. Both have the same twin."""
    beside = soc.mode == "concurrent"
    left_out = () if beside else (_BESIDE,)
    if unit != "snitch":
        left_out = (*left_out, _SNITCH)
    return UnitApi(
        platform=PlatformApi(start="match_ita_start", stop="match_ita_stop", call="match_ita_call"),
        memory=_memory("match_snitch" if unit == "snitch" and beside else "match_ita"),
        kernels=ITA_KERNELS if unit == "ita" else _SNITCH_KERNELS,
        headers=("match_ita_api.h", *((f"{_BESIDE}.h",) if beside else ())),
        runtime=(
            *(file for file in _files("runtime") if not file.name.startswith(left_out)),
            *map(context_header, _INTERFACES),
            config_header(preset_of(soc)),
        ),
        twin=_twin(preset_of(soc)),
        clock=unit,
        queue=_queue(unit) if beside else None,
    )


def _memory(prefix: str) -> MemoryApi:
    return MemoryApi(
        copy_in_1d=f"{prefix}_copy_in_1d",
        copy_in_2d=f"{prefix}_copy_in_2d",
        copy_in_3d=f"{prefix}_copy_in_3d",
        copy_out_1d=f"{prefix}_copy_out_1d",
        copy_out_2d=f"{prefix}_copy_out_2d",
        copy_out_3d=f"{prefix}_copy_out_3d",
        wait=f"{prefix}_copy_wait",
    )


def _queue(unit: str) -> QueueApi:
    name = f"match_ita_{unit}"
    return QueueApi(launch=f"{name}_loop", join=f"{name}_join", wait=f"{name}_wait")


def _twin(preset: str) -> TwinApi:
    return TwinApi(
        headers=(
            *_files("twin", "include"),
            *_files("twin", "src", suffixes=(".h",)),
            RuntimeFile(HEADER_NAME, render_timing_header(preset)),
        ),
        sources=_files("twin", "src", suffixes=(".c",)),
        clocks=CLOCKS,
        arenas={"l1": "match_ita_twin_l1({bytes})"},
    )
