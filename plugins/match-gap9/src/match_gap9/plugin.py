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
    """The rewriting of what the kernels do not have: bounds, splits, transposes of floats."""
    if not set(_UNITS) & set(soc.units):
        return ()
    from match_gap9.split_saturation import SPLIT_SATURATION
    from match_gap9.split_slices import SPLIT_SLICES
    from match_gap9.transposed_bytes import TRANSPOSED_BYTES

    return (SPLIT_SLICES, SPLIT_SATURATION, TRANSPOSED_BYTES)


@hookimpl
def match_patterns(unit: Unit) -> tuple[Pattern, ...]:
    """Patterns of the two units."""
    if unit.name not in _UNITS:
        return ()  # other targets save the imports
    from match_gap9.cluster.layout import LAYOUT_PATTERNS
    from match_gap9.cluster.patterns import CLUSTER_PATTERNS
    from match_gap9.elements import patterns as elements
    from match_gap9.moves import patterns as moves
    from match_gap9.ne16.patterns import NE16_PATTERNS
    from match_gap9.wide.patterns import WIDE_CLUSTER_PATTERNS, WIDE_NE16_PATTERNS

    return {
        "cluster": (
            *(*CLUSTER_PATTERNS, *LAYOUT_PATTERNS, *WIDE_CLUSTER_PATTERNS),
            *(*elements.PATTERNS, *moves.PATTERNS),
        ),
        "ne16": (*NE16_PATTERNS, *WIDE_NE16_PATTERNS),
    }[unit.name]


@hookimpl
def match_cost(soc: Soc, unit: Unit, pattern: Pattern) -> CostModel | None:
    """Published formulas."""
    if unit.name not in _UNITS:
        return None
    from match_gap9.cost import cost_of

    return cost_of(soc, unit.name, pattern.name)


@hookimpl
def match_emit_api(soc: Soc, unit: Unit) -> UnitApi | None:
    """PMSIS, PULP-NN, pulp-nnx."""
    if unit.name not in _UNITS:
        return None
    from match_gap9.constants import preset_of, table_of
    from match_gap9.emit import unit_api

    return unit_api(unit.name, preset_of(soc), soc.mode, table_of(soc))
