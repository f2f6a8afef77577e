"""The host's patterns: one per supported operator, beneficial fusions, views, and regions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.pattern import Pattern
from match_core.contract.structure import Match, Op
from match_core.contract.workload import Workload

from match_host.conversion import conversion_pattern
from match_host.fusion import FUSIONS, Fusion
from match_host.kernels.built import Builder, ForMachine, on_machine
from match_host.kernels.elementwise.loop import build_elementwise
from match_host.kernels.reduction.reduce import build_reduce
from match_host.machine import GENERIC, Machine
from match_host.operator import Operator
from match_host.operators import OPERATORS
from match_host.product_region import build_product_region, find_product_regions
from match_host.region import find_reduced_regions, find_regions, find_regions_between
from match_host.views import VIEW_RULES, find_views
from match_host.workload import host_workload, view_workload

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Patterns that come from a search: name, description, search, builder.
REGIONS: tuple[tuple[str, str, Callable[[gs.Graph], tuple[Match, ...]], Builder], ...] = (
    ("host_region", "elementwise operators of one shape as one loop nest", find_regions, build_elementwise),
    (
        "host_region_between",
        "the same without requantisation, which other units fuse",
        find_regions_between,
        build_elementwise,
    ),
    (
        "host_region_reduce",
        "elementwise operators and a reduction as one loop nest",
        find_reduced_regions,
        build_reduce,
    ),
    (
        "host_product_region",
        "a convolution or matrix product and elementwise operators on its result as one kernel",
        find_product_regions,
        ForMachine(build_product_region),
    ),
)


def _workload(kind: str, build: Builder, match: Match) -> Workload:
    return host_workload(kind, build(match.nodes, "kernel"), match.outputs)


def _view_workload(match: Match) -> Workload:
    return view_workload(match.node("op").inputs[0], match.output)


def _operator_pattern(operator: Operator, machine: Machine) -> Pattern:
    return Pattern(
        name=operator.pattern,
        description=f"{operator.name} in C, generated for the node ({operator.family})",
        structure=Op(operator.name, "op"),
        constraints=tuple(rule.on("op") for rule in operator.rules),
        workload=partial(_workload, operator.pattern, on_machine(operator.build, machine)),
    )


def _fusion_pattern(fusion: Fusion, machine: Machine) -> Pattern:
    return Pattern(
        name=fusion.name,
        description=fusion.description,
        structure=fusion.structure,
        constraints=fusion.constraints,
        workload=partial(_workload, fusion.name, on_machine(fusion.build, machine)),
    )


def _view() -> Pattern:
    return Pattern(
        name="host_view",
        description="the same bytes under another shape (no code)",
        structure=None,
        constraints=tuple(rule.on("op") for rule in VIEW_RULES),
        workload=_view_workload,
        view=True,
        search=find_views,
    )


def _regions(machine: Machine) -> tuple[Pattern, ...]:
    return tuple(
        Pattern(
            name=name,
            description=description,
            structure=None,
            constraints=(),
            workload=partial(_workload, name, on_machine(build, machine)),
            search=search,
        )
        for name, description, search, build in REGIONS
    )


def host_patterns(machine: Machine = GENERIC) -> tuple[Pattern, ...]:
    """All patterns of the host: operators, fusions, views, regions, conversions between stored forms."""
    return (
        *(_operator_pattern(operator, machine) for operator in OPERATORS),
        *(_fusion_pattern(fusion, machine) for fusion in FUSIONS),
        _view(),
        *_regions(machine),
        conversion_pattern(),
    )
