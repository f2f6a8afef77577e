"""Bundles: constants that are used together become one operand with one copy per tile.

A kernel's weights and its parameters per output channel are cut along the same dimension. Each copy costs time on the
core that issues it, often more than the transfer itself. So constants become one operand if their first axis is the
same dimension and no other dimension cuts them. The bundle's array holds, for every piece that one kernel call works
on, the parts one after another; so a piece is one contiguous row at ``first index * bytes per index``, wherever the
loops begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import lcm

from match_core.contract.geometry import round_up
from match_core.contract.hardware import Unit
from match_core.contract.loops import TileLoop
from match_core.contract.workload import Axis, BundlePart, Operand, Workload

#: Name of the operand.
NAME = "constants"


def bundled(workload: Workload, unit: Unit) -> Workload:
    """The workload with one operand in place of the constants that can be bundled. The workload is unchanged if fewer
    than two can be, or if the unit does not use bundles. The operand takes the place of the first of them."""
    if unit.memory is None or not unit.bundles:
        return workload
    groups: dict[tuple[str, str | None], list[Operand]] = {}
    for operand in workload.operands:
        if operand.role == "constant" and _cut_first_only(operand):
            key = (operand.axes[0].terms[0][0], unit.memory_of(operand.name, operand.role))
            groups.setdefault(key, []).append(operand)
    members = max(groups.values(), key=len, default=[])
    if len(members) < 2:
        return workload
    bundle = _bundle(members)
    kept = (bundle if operand is members[0] else operand for operand in workload.operands)
    return replace(workload, operands=tuple(o for o in kept if o is bundle or o not in members))


def _cut_first_only(operand: Operand) -> bool:
    if not operand.axes:
        return False
    first, *others = operand.axes
    plain = len(first.terms) == 1 and not first.windowed and not any(axis.terms for axis in others)
    return plain and _bits_per_index(operand) * first.round_up % 8 == 0


def _bits_per_index(operand: Operand) -> int:
    bits = operand.element_bits
    for axis in operand.axes[1:]:
        bits *= round_up(axis.size, axis.round_up)
    return bits


def _bundle(members: list[Operand]) -> Operand:
    """Wide elements come first, and a piece's bytes per index are a multiple of the widest element, so all stay
    aligned."""
    ordered = sorted(members, key=lambda operand: -operand.element_bits)
    parts = tuple(BundlePart(operand.name, _bits_per_index(operand)) for operand in ordered)
    used = sum(part.bytes_per_index for part in parts)
    first = members[0].axes[0]
    axis = replace(first, round_up=lcm(*(operand.axes[0].round_up for operand in members)))
    width = round_up(used, max(1, ordered[0].element_bits // 8))
    return Operand(NAME, "constant", (axis, Axis("byte", width)), 8, parts)


def pieces(dim: str, size: int, loops: Iterable[TileLoop]) -> tuple[tuple[int, int], ...]:
    """(first index, length) of the pieces of a dimension that single kernel calls work on."""
    found = [(0, size)]
    for loop in loops:
        if loop.dim == dim:
            found = [
                (start + first, min(loop.tile, length - first))
                for start, length in found
                for first in range(0, length, loop.tile)
            ]
    return tuple(found)
