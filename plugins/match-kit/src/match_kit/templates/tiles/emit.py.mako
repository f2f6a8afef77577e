"""The array's interface in C."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from match_core import Kernel, KernelInterface, Match, MemoryApi, PlatformApi, RuntimeFile, TwinApi, UnitApi, Workload
from match_core.lower.interfaces import context_header
from match_core.patterns.packing import packed
from numpy.typing import NDArray

from ${module}.hardware import ARRAY, VALUES

_ENDS = (("input", "input"), ("output", "output"))
_CONSTANTS = (("weight", "constant"), ("multiplier", "constant"), ("addend", "constant"))
_DENSE = KernelInterface("${name}_dense", (*_ENDS, *_CONSTANTS), ("N", "K", "C"), (), ("shift", "low", "high"))
_COPIES = [f"copy_{way}_{rank}d" for way in ("in", "out") for rank in (1, 2, 3)]


def _pack(match: Match, workload: Workload) -> Mapping[str, NDArray[np.generic]]:
    """Constants in the order of the workload's axes: one row of weights for each output."""
    return packed(match)


def _file(name: str) -> RuntimeFile:
    return RuntimeFile(name, (Path(__file__).parent / "c" / name).read_text("utf-8"))


def unit_api() -> UnitApi:
    """The SDK's functions; on the twin they take the cycles of ``hardware.py``."""
    return UnitApi(
        platform=PlatformApi(),
        memory=MemoryApi(**{name: f"${name}_{name}" for name in _COPIES}, wait="${name}_copy_wait"),
        kernels={"${name}_dense": Kernel(_DENSE, launch="${name}_dense", wait="${name}_wait", pack=_pack)},
        headers=("${name}_sdk.h",),
        runtime=(_file("${name}_sdk.h"), context_header(_DENSE)),
        twin=TwinApi(
            sources=(_file("${name}_twin.c"),),
            clocks=("host", "dma", ARRAY.name),
            defines=tuple(f"{name.upper()}={value}u" for name, value in VALUES.items()),
        ),
        clock=ARRAY.name,
    )
