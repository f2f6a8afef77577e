"""The C interface of GAP9's units, and the twin that replaces the SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from match_core import (
    Constant,
    Kernel,
    KernelInterface,
    Match,
    PlatformApi,
    QueueApi,
    RuntimeFile,
    StoreApi,
    SwapApi,
    UnitApi,
    Workload,
)
from match_core.lower.interfaces import context_header
from match_core.patterns.packing import Arrays, Pack, nothing, packed
from match_host.chip import memory_api, runtime_files, twin_api

from match_gap9.cluster.layout import CLIP, FLIP, QUANTIZE, TRANSPOSE
from match_gap9.constants import DEFAULT_PRESET
from match_gap9.elements.kernels import ELEMENT_KERNELS
from match_gap9.interfaces import ADD, CONV2D, DEPTHWISE2D, LINEAR, POOL2D
from match_gap9.moves.kernels import MOVE_KERNELS
from match_gap9.ne16.weights import packed_weights
from match_gap9.sdk.build_files import build_files
from match_gap9.timing import CLOCKS, HEADER_NAME, render_timing_header
from match_gap9.wide.kernels import HEADER, WIDE_CLUSTER_KERNELS, WIDE_NE16_KERNELS

_HERE = Path(__file__).resolve().parent
#: The kernels' contexts, each a C structure.
INTERFACES = (ADD, CLIP, CONV2D, DEPTHWISE2D, FLIP, LINEAR, POOL2D, QUANTIZE, TRANSPOSE)

#: How the names of files begin that only the cluster needs.
_CLUSTER_FILES = (
    "match_gap9_cluster",
    "match_gap9_kernels",
    "match_gap9_layout",
    "match_gap9_wide.c",
    "match_gap9_wide_depthwise",
)

#: The loops of concurrent units, with the queues' functions.
_BESIDE = "match_gap9_beside"
_QUEUES = {
    unit: QueueApi(launch=f"match_gap9_{side}_loop", join=f"match_gap9_{side}_join", wait="match_gap9_queue_wait")
    for unit, side in (("cluster", "team"), ("ne16", "ne16"))
}


#: Copies of activations, by the fabric controller while it waits for the cluster.
_SWAP = SwapApi(
    copy_out="match_gap9_swap_out",
    copy_in="match_gap9_swap_in",
    wait="match_gap9_swap_wait",
    files=tuple(runtime_files(_HERE / "runtime" / "swap")),
)


def _pack_rows(match: Match, workload: Workload) -> Arrays:
    """PULP-NN's weights: (Ko, Ky, Kx, Ci) of convolutions, (C, Ky, Kx) of depthwise ones, (Ko, Ci) (sheet 2.2)."""
    return packed(match, addend="int32")


def _pack_ne16(match: Match, workload: Workload) -> Arrays:
    return {**packed(match, addend="int32"), "weight": packed_weights(match, workload)}


def _cluster(interface: KernelInterface, name: str, pack: Pack) -> Kernel:
    return Kernel(interface, launch=name, wait="match_gap9_team_wait", pack=pack)


def _ne16(interface: KernelInterface, name: str, pack: Pack) -> Kernel:
    return Kernel(interface, launch=name, wait="match_gap9_ne16_wait", pack=pack)


_CLUSTER_KERNELS = {
    "conv2d": _cluster(CONV2D, "match_gap9_conv2d", _pack_rows),
    "pointwise": _cluster(CONV2D, "match_gap9_pointwise", _pack_rows),
    "depthwise": _cluster(DEPTHWISE2D, "match_gap9_depthwise", _pack_rows),
    "linear": _cluster(LINEAR, "match_gap9_linear", _pack_rows),
    "add": _cluster(ADD, "match_gap9_add", nothing),
    "avgpool": _cluster(POOL2D, "match_gap9_avgpool", nothing),
    "avgpool_even": _cluster(POOL2D, "match_gap9_avgpool", nothing),
    "maxpool": _cluster(POOL2D, "match_gap9_maxpool2d", nothing),
    "transpose": _cluster(TRANSPOSE, "match_gap9_transpose", nothing),
    "transpose_part": _cluster(TRANSPOSE, "match_gap9_transpose", nothing),
    "quantize": _cluster(QUANTIZE, "match_gap9_quantize_tensor", nothing),
    "clip": _cluster(CLIP, "match_gap9_clip", nothing),
    "flip": _cluster(FLIP, "match_gap9_flip", nothing),
    **WIDE_CLUSTER_KERNELS,
    **ELEMENT_KERNELS,
    **MOVE_KERNELS,
}
_NE16_KERNELS = {
    "conv3x3": _ne16(CONV2D, "match_gap9_ne16_conv3x3", _pack_ne16),
    "conv1x1": _ne16(CONV2D, "match_gap9_ne16_conv1x1", _pack_ne16),
    "depthwise3x3": _ne16(DEPTHWISE2D, "match_gap9_ne16_depthwise", _pack_ne16),
    "ne16_linear": _ne16(LINEAR, "match_gap9_ne16_linear", _pack_ne16),
    **WIDE_NE16_KERNELS,
}


def _led(kernels: Mapping[str, Kernel]) -> dict[str, Kernel]:
    """The kernels where no core watches the team: those that workers compute are done when their launch returns."""
    team = "match_gap9_team_wait"
    return {name: replace(kernel, wait="") if kernel.wait == team else kernel for name, kernel in kernels.items()}


def unit_api(
    unit: str,
    preset: str = DEFAULT_PRESET,
    mode: Literal["sequential", "concurrent"] = "sequential",
    figures: tuple[Constant, ...] | None = None,
) -> UnitApi:
    """The API of ``cluster`` or ``ne16`` in a program of that kind. Both have the same twin, with the cycles of a
    preset or of ``figures``; each ships only the runtime it needs. Side by side there is no store: its requests are the
    controller's."""
    beside = mode == "concurrent"
    prefix = "match_gap9" if unit == "cluster" else "match_gap9_ne16"
    left_out: tuple[str, ...] = ("match_gap9_ne16",) if unit == "cluster" else _CLUSTER_FILES
    left_out += () if beside else (_BESIDE,)
    headers = tuple(context_header(interface) for interface in INTERFACES)
    kernels = _CLUSTER_KERNELS if unit == "cluster" else _NE16_KERNELS
    return UnitApi(
        platform=PlatformApi(start=f"{prefix}_start", stop=f"{prefix}_stop", call="match_gap9_call"),
        memory=memory_api("match_gap9"),
        kernels=_led(kernels) if beside else kernels,
        headers=("match_gap9_api.h", HEADER, *((f"{_BESIDE}.h",) if beside else ())),
        runtime=(*(file for file in runtime_files(_HERE / "runtime") if not file.name.startswith(left_out)), *headers),
        twin=twin_api(
            _HERE / "twin",
            RuntimeFile(HEADER_NAME, render_timing_header(preset, figures)),
            CLOCKS,
            {"l1": "pi_l1_malloc(NULL, {bytes})"},
            "match_gap9_store_load({data}, {bytes})",
        ),
        build=build_files(),
        store=None if beside else StoreApi(copy_1d="match_gap9_store_copy_1d", wait="match_gap9_store_wait"),
        swap=None if beside else _SWAP,
        clock="cluster" if unit == "cluster" else "ne16",
        queue=_QUEUES[unit] if beside else None,
    )
