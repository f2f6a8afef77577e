"""The C interface of Carfield's units, and the twin that replaces their SDKs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from match_core import (
    PlatformApi,
    QueueApi,
    RuntimeFile,
    Soc,
    StoreApi,
    SwapApi,
    TwinApi,
    UnitApi,
)
from match_core.lower.interfaces import context_header
from match_host.chip import memory_api, runtime_files, twin_api
from match_host.headers.half import half_header

from match_carfield.constants import preset_of, signalling_of
from match_carfield.half.interfaces import HALF_INTERFACES
from match_carfield.int8.interfaces import INT8_INTERFACES
from match_carfield.kernels import PULP_KERNELS, SPATZ_KERNELS
from match_carfield.sdk.build_files import PULP_ENTRY, SPATZ_ENTRY, build_files
from match_carfield.timing import CLOCKS, HEADER_NAME, render_timing_header

_HERE = Path(__file__).resolve().parent
CONFIG_NAME = "match_carfield_config.h"

#: How the names of C files begin that are not part of the host's image. Those of a unit are part of its own only.
_UNIT_PREFIXES = {
    "pulp": ("match_carfield_pulp", "match_carfield_half_pulp", "match_carfield_half_redmule", "match_carfield_int8"),
    "spatz": ("match_carfield_spatz", "match_carfield_half_spatz"),
}


def _runtime(unit: str) -> tuple[RuntimeFile, ...]:
    """All headers, the host's C files and the unit's own."""
    found: list[RuntimeFile] = []
    for file in runtime_files(_HERE / "runtime"):
        owner = next((name for name, prefixes in _UNIT_PREFIXES.items() if file.name.startswith(prefixes)), None)
        if file.name.endswith(".h"):
            found.append(file)
        elif owner is None or owner == unit:
            found.append(replace(file, image="host" if owner is None else "unit"))
    return tuple(found)


def config_header(signalling: str) -> RuntimeFile:
    """``match_carfield_config.h``: the signalling of host and units, and the addresses of the units' images."""
    text = (
        f"/* {CONFIG_NAME} - signalling by {signalling}. SPDX-License-Identifier: Apache-2.0 */\n"
        "#ifndef MATCH_CARFIELD_CONFIG_H\n#define MATCH_CARFIELD_CONFIG_H\n\n"
        "/* 1: both sides look at counters; 0: mailboxes wake the one that sleeps. */\n"
        f"#define MATCH_CARFIELD_POLL {int(signalling == 'poll')}\n\n"
        "/* First instructions of the units' images. */\n"
        f"#define MATCH_CARFIELD_PULP_ENTRY 0x{PULP_ENTRY:08X}u\n"
        f"#define MATCH_CARFIELD_SPATZ_ENTRY 0x{SPATZ_ENTRY:08X}u\n\n#endif\n"
    )
    return RuntimeFile(CONFIG_NAME, text)


def unit_api(unit: str, soc: Soc) -> UnitApi:
    """The API of ``pulp`` or ``spatz`` in a program for ``soc``. Both have the same twin; each ships the runtime that
    it and the host need."""
    signalling = signalling_of(soc)
    name = f"match_carfield_{unit}"
    headers = tuple(context_header(interface) for interface in (*HALF_INTERFACES, *INT8_INTERFACES))
    return UnitApi(
        platform=PlatformApi(start=f"{name}_start", stop=f"{name}_stop", call=f"{name}_call"),
        memory=memory_api(name),
        kernels=PULP_KERNELS if unit == "pulp" else SPATZ_KERNELS,
        headers=("match_carfield_api.h",),
        runtime=(*_runtime(unit), *headers, half_header(), config_header(signalling)),
        twin=_twin(signalling, preset_of(soc)),
        store=_store(soc),
        build=build_files(),
        clock=unit,
        queue=_queue(name, signalling),
        swap=SwapApi(
            copy_out="match_carfield_swap_out", copy_in="match_carfield_swap_in", busy="match_carfield_swap_busy"
        ),
    )


def _queue(name: str, signalling: str) -> QueueApi:
    rings = signalling == "event"
    return QueueApi(
        launch=f"{name}_launch",
        join=f"{name}_join",
        wait=f"{name}_wait",
        signal=f"{name}_signal" if rings else "",
        notify=f"{name}_notify" if rings else "",
    )


def _store(soc: Soc) -> StoreApi | None:
    """The system DMA has one set of registers: in concurrent programs the host uses it for swaps."""
    if soc.mode == "concurrent":
        return None
    return StoreApi(copy_1d="match_carfield_store_copy_1d", wait="match_carfield_store_wait")


def _twin(signalling: str, preset: str) -> TwinApi:
    arenas = {
        "l1_pulp": "match_carfield_twin_l1_pulp({bytes})",
        "l1_spatz": "match_carfield_twin_l1_spatz({bytes})",
        "l3": "match_carfield_twin_l3({bytes})",
    }
    timing = RuntimeFile(HEADER_NAME, render_timing_header(signalling, preset))
    return twin_api(_HERE / "twin", timing, CLOCKS, arenas, "match_carfield_twin_store({data}, {bytes})")
