"""The C interface of ITA and the compute cores, and the twin that replaces the Snitch runtime and ITA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from match_core import Kernel, PlatformApi, QueueApi, RuntimeFile, Soc, TwinApi, UnitApi
from match_core.lower.interfaces import context_header
from match_host.chip import memory_api, runtime_files, twin_api

from match_ita import snitch
from match_ita.constants import preset_of, values
from match_ita.ita.interfaces import ITA_INTERFACES
from match_ita.ita.kernels import ita_kernels
from match_ita.sdk.build_files import build_files
from match_ita.timing import CLOCKS, HEADER_NAME, render_timing_header

_HERE = Path(__file__).resolve().parent
CONFIG_NAME = "match_ita_config.h"

#: Prefixes of runtime files that only concurrent programs, or programs with compute cores, require.
_BESIDE = "match_ita_beside"
_SNITCH = "match_snitch_"


def config_header(preset: str) -> RuntimeFile:
    """``match_ita_config.h``: how many jobs ITA holds."""
    text = (
        f"/* {CONFIG_NAME} - what the runtime has to know of ITA. SPDX-License-Identifier: Apache-2.0 */\n"
        "#ifndef MATCH_ITA_CONFIG_H\n#define MATCH_ITA_CONFIG_H\n\n"
        "/* Jobs that can be programmed while one runs, that one included. */\n"
        f"#define MATCH_ITA_CONTEXTS {values(preset)['contexts']}u\n\n#endif\n"
    )
    return RuntimeFile(CONFIG_NAME, text)


def unit_api(unit: str, soc: Soc) -> UnitApi:
    """The API of ``ita`` or ``snitch`` in a program for ``soc``. Both have the same twin."""
    beside, cores = soc.mode == "concurrent", unit == "snitch"
    left_out = (*(() if beside else (_BESIDE,)), *(() if cores else (_SNITCH,)))
    interfaces = (*ITA_INTERFACES, *(snitch.INTERFACES if cores else ()))
    return UnitApi(
        platform=PlatformApi(start="match_ita_start", stop="match_ita_stop", call="match_ita_call"),
        memory=memory_api("match_snitch" if cores and beside else "match_ita"),
        kernels=_led(snitch.KERNELS, beside) if cores else ita_kernels(_softmax(preset_of(soc))),
        headers=("match_ita_api.h", *(snitch.HEADERS if cores else ()), *((f"{_BESIDE}.h",) if beside else ())),
        runtime=(
            *(file for file in runtime_files(_HERE / "runtime") if not file.name.startswith(left_out)),
            *map(context_header, interfaces),
            config_header(preset_of(soc)),
        ),
        twin=_twin(preset_of(soc)),
        build=build_files(),
        clock=unit,
        queue=_queue(unit) if beside else None,
    )


def _softmax(preset: str) -> tuple[int, int]:
    """Shift and numerator."""
    return values(preset)["softmax_shift"], values(preset)["softmax_numerator"]


def _led(kernels: Mapping[str, Kernel], beside: bool) -> Mapping[str, Kernel]:
    """If core 0 leads, kernels have ended when their launch returns."""
    return {name: replace(kernel, wait="") for name, kernel in kernels.items()} if beside else kernels


def _queue(unit: str) -> QueueApi:
    name = f"match_ita_{unit}"
    return QueueApi(launch=f"{name}_loop", join=f"{name}_join", wait=f"{name}_wait")


def _twin(preset: str) -> TwinApi:
    timing = RuntimeFile(HEADER_NAME, render_timing_header(preset))
    return twin_api(_HERE / "twin", timing, CLOCKS, {"l1": "match_ita_twin_l1({bytes})"})
