"""How GAP9's units are called in C, and the twin that stands in for the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from match_core import (
    Kernel,
    KernelInterface,
    Match,
    MemoryApi,
    PlatformApi,
    QueueApi,
    RuntimeFile,
    StoreApi,
    TwinApi,
    UnitApi,
    Workload,
)
from match_core.emit.interfaces import ADD, CONV2D, DEPTHWISE2D, LINEAR, POOL2D, context_header
from numpy.typing import NDArray

from match_gap9.constants import DEFAULT_PRESET
from match_gap9.layout import CLIP, FLIP, QUANTIZE, TRANSPOSE
from match_gap9.ne16_weights import encode_weights
from match_gap9.patterns import addend_array, multiplier_array
from match_gap9.sdk.build_files import build_files
from match_gap9.timing import CLOCKS, HEADER_NAME, render_timing_header
from match_gap9.wide_kernels import HEADER, WIDE_CLUSTER_KERNELS, WIDE_NE16_KERNELS

Arrays = dict[str, NDArray[np.generic]]

_HERE = Path(__file__).resolve().parent
_INTERFACES = (ADD, CLIP, CONV2D, DEPTHWISE2D, FLIP, LINEAR, POOL2D, QUANTIZE, TRANSPOSE)

#: How the names of files begin that only the cluster needs.
_CLUSTER_FILES = (
    "match_gap9_cluster",
    "match_gap9_kernels",
    "match_gap9_layout",
    "match_gap9_wide.c",
    "match_gap9_wide_depthwise",
)

_MEMORY = MemoryApi(
    copy_in_1d="match_gap9_copy_in_1d",
    copy_in_2d="match_gap9_copy_in_2d",
    copy_in_3d="match_gap9_copy_in_3d",
    copy_out_1d="match_gap9_copy_out_1d",
    copy_out_2d="match_gap9_copy_out_2d",
    copy_out_3d="match_gap9_copy_out_3d",
    wait="match_gap9_copy_wait",
)


#: The loops of units side by side, with the queues' functions.
_BESIDE = "match_gap9_beside"
_QUEUES = {
    unit: QueueApi(launch=f"match_gap9_{side}_loop", join=f"match_gap9_{side}_join", wait="match_gap9_queue_wait")
    for unit, side in (("cluster", "team"), ("ne16", "ne16"))
}


def _files(*parts: str, suffixes: tuple[str, ...] = (".h", ".c")) -> tuple[RuntimeFile, ...]:
    folder = _HERE.joinpath(*parts)
    return tuple(
        RuntimeFile(path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir())
        if path.suffix in suffixes
    )


def _requant(match: Match, channels: int) -> Arrays:
    return {"multiplier": multiplier_array(match, channels), "addend": addend_array(match, channels)}


def _pack_ohwi(match: Match, workload: Workload) -> Arrays:
    """PULP-NN convolution weights: (Ko, Ky, Kx, Ci) (sheet 2.2)."""
    weight = match.const("weight")
    return {"weight": np.ascontiguousarray(weight.transpose(0, 2, 3, 1)), **_requant(match, weight.shape[0])}


def _pack_depthwise(match: Match, workload: Workload) -> Arrays:
    """PULP-NN depthwise weights: (C, Ky, Kx) (sheet 2.2)."""
    weight = match.const("weight")
    return {"weight": np.ascontiguousarray(weight[:, 0]), **_requant(match, weight.shape[0])}


def _pack_dense(match: Match, workload: Workload) -> Arrays:
    """PULP-NN linear weights: (Ko, Ci)."""
    weight = match.const("weight")
    return {"weight": np.ascontiguousarray(weight.T), **_requant(match, weight.shape[1])}


def _pack_nothing(match: Match, workload: Workload) -> Arrays:
    return {}


def _encoded(weight: NDArray[np.generic], workload: Workload, depthwise: bool = False) -> Arrays:
    """NE16's bit-serial weights (sheet 5.2), in the width that the workload states."""
    bits = workload.parameters["weight_bits"]
    return {"weight": encode_weights(weight.astype(np.int8), bits=bits, depthwise=depthwise)}


def _pack_ne16(match: Match, workload: Workload) -> Arrays:
    weight = match.const("weight")
    return {**_encoded(weight, workload), **_requant(match, weight.shape[0])}


def _pack_ne16_depthwise(match: Match, workload: Workload) -> Arrays:
    weight = match.const("weight")
    return {**_encoded(weight, workload, depthwise=True), **_requant(match, weight.shape[0])}


def _pack_ne16_dense(match: Match, workload: Workload) -> Arrays:
    weight = match.const("weight").T[:, :, None, None]
    return {**_encoded(weight, workload), **_requant(match, weight.shape[0])}


def _cluster(interface: KernelInterface, name: str, pack: object) -> Kernel:
    return Kernel(interface, launch=name, wait="match_gap9_team_wait", pack=pack)  # type: ignore[arg-type]


def _ne16(interface: KernelInterface, name: str, pack: object) -> Kernel:
    return Kernel(interface, launch=name, wait="match_gap9_ne16_wait", pack=pack)  # type: ignore[arg-type]


_CLUSTER_KERNELS = {
    "conv2d": _cluster(CONV2D, "match_gap9_conv2d", _pack_ohwi),
    "pointwise": _cluster(CONV2D, "match_gap9_pointwise", _pack_ohwi),
    "depthwise": _cluster(DEPTHWISE2D, "match_gap9_depthwise", _pack_depthwise),
    "linear": _cluster(LINEAR, "match_gap9_linear", _pack_dense),
    "add": _cluster(ADD, "match_gap9_add", _pack_nothing),
    "avgpool": _cluster(POOL2D, "match_gap9_avgpool", _pack_nothing),
    "avgpool_even": _cluster(POOL2D, "match_gap9_avgpool", _pack_nothing),
    "maxpool": _cluster(POOL2D, "match_gap9_maxpool2d", _pack_nothing),
    "transpose": _cluster(TRANSPOSE, "match_gap9_transpose", _pack_nothing),
    "quantize": _cluster(QUANTIZE, "match_gap9_quantize_tensor", _pack_nothing),
    "clip": _cluster(CLIP, "match_gap9_clip", _pack_nothing),
    "flip": _cluster(FLIP, "match_gap9_flip", _pack_nothing),
    **WIDE_CLUSTER_KERNELS,
}
_NE16_KERNELS = {
    "conv3x3": _ne16(CONV2D, "match_gap9_ne16_conv3x3", _pack_ne16),
    "conv1x1": _ne16(CONV2D, "match_gap9_ne16_conv1x1", _pack_ne16),
    "depthwise3x3": _ne16(DEPTHWISE2D, "match_gap9_ne16_depthwise", _pack_ne16_depthwise),
    "ne16_linear": _ne16(LINEAR, "match_gap9_ne16_linear", _pack_ne16_dense),
    **WIDE_NE16_KERNELS,
}


def _led(kernels: Mapping[str, Kernel]) -> dict[str, Kernel]:
    """The kernels where no core watches the team: those that workers compute are done when their launch returns."""
    team = "match_gap9_team_wait"
    return {name: replace(kernel, wait="") if kernel.wait == team else kernel for name, kernel in kernels.items()}


def unit_api(
    unit: str, preset: str = DEFAULT_PRESET, mode: Literal["sequential", "concurrent"] = "sequential"
) -> UnitApi:
    """The API of ``cluster`` or ``ne16`` in a program of that kind. Both have the same twin, with the cycles of a
    preset; each ships only the runtime it needs. Side by side there is no store: its requests are the controller's."""
    beside = mode == "concurrent"
    prefix = "match_gap9" if unit == "cluster" else "match_gap9_ne16"
    left_out: tuple[str, ...] = ("match_gap9_ne16",) if unit == "cluster" else _CLUSTER_FILES
    left_out += () if beside else (_BESIDE,)
    headers = tuple(context_header(interface) for interface in _INTERFACES)
    kernels = _CLUSTER_KERNELS if unit == "cluster" else _NE16_KERNELS
    return UnitApi(
        platform=PlatformApi(start=f"{prefix}_start", stop=f"{prefix}_stop", call="match_gap9_call"),
        memory=_MEMORY,
        kernels=_led(kernels) if beside else kernels,
        headers=("match_gap9_api.h", HEADER, *((f"{_BESIDE}.h",) if beside else ())),
        runtime=(*(file for file in _files("runtime") if not file.name.startswith(left_out)), *headers),
        twin=TwinApi(
            headers=(
                *_files("twin", "include"),
                *_files("twin", "src", suffixes=(".h",)),
                RuntimeFile(HEADER_NAME, render_timing_header(preset)),
            ),
            sources=_files("twin", "src", suffixes=(".c",)),
            clocks=CLOCKS,
            arenas={"l1": "pi_l1_malloc(NULL, {bytes})"},
            load_store="match_gap9_store_load({data}, {bytes})",
        ),
        build=build_files(),
        store=None if beside else StoreApi(copy_1d="match_gap9_store_copy_1d", wait="match_gap9_store_wait"),
        clock="cluster" if unit == "cluster" else "ne16",
        queue=_QUEUES[unit] if beside else None,
    )
