"""The patterns of cores with their own kernels; all others are the host's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.structure import Constraint, Match
from match_core.contract.workload import Workload
from match_host.fusion import FUSIONS
from match_host.kernels.built import Builder, inline_kernel
from match_host.workload import host_workload

from match_cortexm.cores import Core
from match_cortexm.kernels.layer import layer_of
from match_cortexm.kernels.product_dsp import build_product_dsp

if TYPE_CHECKING:
    from match_core.contract.unit_api import InlineKernel

#: The host's patterns that get kernels of their own, and their names here.
_FUSED = {
    "host_conv_integer_requant": "cortexm_conv",
    "host_pad_conv_integer_requant": "cortexm_pad_conv",
    "host_mat_mul_integer_requant": "cortexm_dense",
}


@dataclass(frozen=True)
class Kernel:
    """A pattern and the builder of its kernels."""

    pattern: Pattern
    build: Builder


def _workload(kind: str, build: Builder, match: Match) -> Workload:
    return host_workload(kind, build(match.nodes, "kernel"), match.outputs)


def _refusal(match: Match) -> str | None:
    found = layer_of(match.nodes)
    return found if isinstance(found, str) else None


LAYER = Constraint("layer", "int8 weights, sums and factors of 32 bits", _refusal)


def kernels_of(core: Core) -> tuple[Kernel, ...]:
    """The core's own kernels."""
    if not core.dsp:
        return ()
    found = []
    for fusion in FUSIONS:
        if fusion.name not in _FUSED:
            continue
        name = _FUSED[fusion.name]
        build = build_product_dsp
        pattern = Pattern(
            name=name,
            description=f"{fusion.description}: dual multiply-accumulates",
            structure=fusion.structure,
            constraints=(*fusion.constraints, LAYER),
            workload=partial(_workload, name, build),
        )
        found.append(Kernel(pattern, build))
    return tuple(found)


def inline_kernels(core: Core) -> dict[str, InlineKernel]:
    """The core's own kernels by pattern name."""
    return {kernel.pattern.name: inline_kernel(kernel.build) for kernel in kernels_of(core)}
