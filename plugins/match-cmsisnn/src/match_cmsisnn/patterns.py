"""The patterns of layers that the library computes; their constraints refuse those whose bits would differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.structure import Any, Const, Constraint, Match, Op, Structure
from match_host.fusion import FUSIONS
from match_host.kernels.built import Builder, inline_kernel
from match_host.workload import host_workload

from match_cmsisnn.kernels.add import ADD_REQUANT, build_add, sum_of
from match_cmsisnn.kernels.call import Counted
from match_cmsisnn.kernels.layers import build_convolution, build_dense, build_depthwise
from match_cmsisnn.kernels.pools import average_of, build_average, build_maximum, maximum_of
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


_LAYER = Constraint(
    "layer", "the layer's arithmetic is that of the library with single rounding", partial(_refused, False)
)
_DEPTHWISE = Constraint(
    "depthwise", "depthwise, and the library's arithmetic with single rounding", partial(_refused, True)
)

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


def _reason(found: object) -> str | None:
    return found if isinstance(found, str) else None


_REQUANT, _WINDOWS = "match.arith::RequantI8", "match.nhwc::ConvInteger"
#: Name, words, structure, constraint, builder.
_OWN: tuple[tuple[str, str, Structure, Constraint, Callable[..., Counted]], ...] = (
    (
        "average",
        "average of windows",
        Op(_REQUANT, "requant", (Op(_WINDOWS, "conv", (Any("x"), Const("weight"))),)),
        Constraint(
            "average", "an average, rounded as the library does", lambda match: _reason(average_of(match.nodes))
        ),
        build_average,
    ),
    (
        "maximum",
        "maximum of windows",
        Op("match.nhwc::MaxPool", "pool", (Any("x"),)),
        Constraint("maximum", "int8, without dilations", lambda match: _reason(maximum_of(match.node("pool")))),
        build_maximum,
    ),
    (
        "add",
        "sum of two tensors, scaled",
        Op(ADD_REQUANT, "op", (Any("a"), Any("b"))),
        Constraint(
            "sum",
            "two int8 tensors of one shape, equal for all pairs of values",
            lambda match: _reason(sum_of(match.node("op"))),
        ),
        build_add,
    ),
)


@lru_cache(maxsize=2)
def kernels_of(helium: bool) -> tuple[Kernel, ...]:
    """What the library computes on a core with or without Helium."""
    fusions = {fusion.name: fusion for fusion in FUSIONS}
    fused = tuple(
        _kernel(name, words, fusions[host].structure, (*fusions[host].constraints, constraint), build, helium)
        for host, name, words, constraint, build in _FUSED
    )
    own = (_kernel(name, words, structure, (rule,), build, helium) for name, words, structure, rule, build in _OWN)
    return (*fused, *own)


def patterns_of(helium: bool) -> tuple[Pattern, ...]:
    """The patterns of a unit."""
    return tuple(kernel.pattern for kernel in kernels_of(helium))


def inline_kernels(helium: bool) -> dict[str, InlineKernel]:
    """The kernels by pattern name."""
    return {kernel.pattern.name: inline_kernel(kernel.build) for kernel in kernels_of(helium)}
