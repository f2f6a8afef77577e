"""Hook implementations of the GAP9 package; each delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl

if TYPE_CHECKING:
    from match_core import CostModel, Hardware, Pass, Pattern, Soc, Unit, UnitApi

match_contract = 1
match_conformance = "match_gap9.conformance"
_UNITS = ("cluster", "ne16")


@hookimpl
def match_hardware() -> Hardware:
    """The Soc ``gap9`` with cluster and NE16."""
    from match_gap9.hardware import hardware

    return hardware()


@hookimpl
def match_transforms(soc: Soc) -> tuple[Pass, ...]:
    """The rewriting of bounds that the kernels do not have."""
    if not set(_UNITS) & set(soc.units):
        return ()
    from match_gap9.split_saturation import SPLIT_SATURATION

    return (SPLIT_SATURATION,)


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """Patterns of the two units."""
    from match_gap9.layout import LAYOUT_PATTERNS
    from match_gap9.patterns import CLUSTER_PATTERNS, NE16_PATTERNS
    from match_gap9.wide import WIDE_CLUSTER_PATTERNS, WIDE_NE16_PATTERNS

    return {
        "cluster": (*CLUSTER_PATTERNS, *LAYOUT_PATTERNS, *WIDE_CLUSTER_PATTERNS),
        "ne16": (*NE16_PATTERNS, *WIDE_NE16_PATTERNS),
    }.get(unit.name, ())


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Published formulas."""
    if unit.name not in _UNITS:
        return None
    from match_gap9.constants import preset_of
    from match_gap9.cost import cost_model

    return cost_model(unit.name, pattern.name, preset_of(soc), soc.mode)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """PMSIS, PULP-NN, pulp-nnx."""
    if unit.name not in _UNITS:
        return None
    from match_gap9.constants import preset_of
    from match_gap9.emit import unit_api

    return unit_api(unit.name, preset_of(soc), soc.mode)
