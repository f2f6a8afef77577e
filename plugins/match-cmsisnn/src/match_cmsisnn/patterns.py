"""The patterns of layers whose results the library computes bit for bit, and those that it does not, with the
reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.structure import Constraint, Match, Structure
from match_host.fusion import FUSIONS
from match_host.kernels.built import Builder, inline_kernel
from match_host.workload import host_workload

from match_cmsisnn.kernels.call import Counted
from match_cmsisnn.kernels.layers import build_convolution, build_dense, build_depthwise
from match_cmsisnn.layer import layer_of

if TYPE_CHECKING:
    from match_core.contract.unit_api import InlineKernel
    from match_core.contract.workload import Workload

_NAME = "cmsis_nn"


@dataclass(frozen=True)
class Kernel:
    """A pattern and the builder of its kernels."""

    pattern: Pattern
    build: Builder


def _workload(kind: str, build: Callable[..., Counted], match: Match) -> Workload:
    built = build(match.nodes, "kernel")
    plain = host_workload(kind, built, match.outputs)
    return replace(plain, macs=built.macs, geometry=(plain.geometry[0], *built.counts))


def _kernel(
    name: str,
    words: str,
    structure: Structure,
    constraints: tuple[Constraint, ...],
    build: Callable[..., Counted],
    helium: bool,
) -> Kernel:
    builder = partial(build, helium=helium)
    kind = f"{_NAME}_{name}"
    return Kernel(Pattern(kind, words, structure, constraints, partial(_workload, kind, builder)), builder)


def _refused(depthwise: bool, match: Match) -> str | None:
    found = layer_of(match.nodes, depthwise)
    return found if isinstance(found, str) else None


_LAYER = Constraint("layer", "the layer's arithmetic is that of the library with single rounding", partial(_refused, False))
_DEPTHWISE = Constraint("depthwise", "depthwise, and the library's arithmetic with single rounding", partial(_refused, True))

#: The host's patterns that get kernels of their own: its name, the name here, words, the constraint, the builder.
_FUSED: tuple[tuple[str, str, str, Constraint, Callable[..., Counted]], ...] = (
    ("host_conv_integer_requant", "conv", "convolution and requantisation", _LAYER, build_convolution),
    ("host_pad_conv_integer_requant", "pad_conv", "padding, convolution and requantisation", _LAYER, build_convolution),
    ("host_mat_mul_integer_requant", "dense", "dense layer and requantisation", _LAYER, build_dense),
    ("host_conv_integer_requant", "depthwise", "depthwise convolution and requantisation", _DEPTHWISE, build_depthwise),
    (
        "host_pad_conv_integer_requant",
        "pad_depthwise",
        "padding, depthwise convolution and requantisation",
        _DEPTHWISE,
        build_depthwise,
    ),
)


@lru_cache(maxsize=2)
def kernels_of(helium: bool) -> tuple[Kernel, ...]:
    """What the library computes on a core with or without Helium."""
    fusions = {fusion.name: fusion for fusion in FUSIONS}
    return tuple(
        _kernel(name, words, fusions[fused].structure, (*fusions[fused].constraints, constraint), build, helium)
        for fused, name, words, constraint, build in _FUSED
    )


def patterns_of(helium: bool) -> tuple[Pattern, ...]:
    """The patterns of a unit."""
    return tuple(kernel.pattern for kernel in kernels_of(helium))


def inline_kernels(helium: bool) -> dict[str, InlineKernel]:
    """The kernels by pattern name."""
    return {kernel.pattern.name: inline_kernel(kernel.build) for kernel in kernels_of(helium)}
