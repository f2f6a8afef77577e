"""Shares of an operator: the dimensions of a workload that may be divided among units, and the workload of a part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING

from match_core.contract.candidate import Share
from match_core.contract.geometry import axis_tile, far_strides

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.workload import Axis, Operand, Workload


@dataclass(frozen=True, slots=True)
class Divisible:
    """A dimension that may be divided: ``axis`` is the number of the output's axis that it indexes; parts begin at
    multiples of ``granularity``."""

    dim: str
    axis: int
    size: int
    granularity: int


@lru_cache(maxsize=256)
def divisible(workload: Workload) -> tuple[Divisible, ...]:
    """The dimensions along which the workload may be divided, in the order of the output's axes."""
    outputs = [operand for operand in workload.operands if operand.role == "output"]
    if len(outputs) != 1:
        return ()
    found = []
    for number, axis in enumerate(outputs[0].axes):
        dim = _plain_dim(axis)
        if dim is None or not workload.dim(dim).tileable or not all(_sliceable(o, dim) for o in workload.operands):
            continue
        granularity = lcm(workload.dim(dim).granularity, *_packing(workload, dim))
        if granularity < workload.dim(dim).size:
            found.append(Divisible(dim, number, workload.dim(dim).size, granularity))
    return tuple(found)


def restricted(workload: Workload, dim: str, first: int, size: int) -> Workload:
    """The workload of the part [first, first + size) of a dimension (docs/programs.md). ValueError if the part is
    empty, exceeds the dimension or does not begin at a multiple of its granularity."""
    kind = next((kind for kind in divisible(workload) if kind.dim == dim), None)
    if kind is None:
        raise ValueError(f"{workload.kind}: dimension {dim} cannot be divided")
    if first % kind.granularity or first < 0 or size <= 0 or first + size > kind.size:
        raise ValueError(f"{workload.kind}: no part [{first}, {first + size}) of {dim} = {kind.size}")
    return replace(
        workload,
        dims=tuple(replace(d, size=size) if d.name == dim else d for d in workload.dims),
        operands=tuple(operand_part(workload, operand, dim, first, size) for operand in workload.operands),
        macs=workload.macs * size // kind.size,
    )


def operand_part(workload: Workload, operand: Operand, dim: str, first: int, size: int) -> Operand:
    """The part [first, first + size) of a dimension of one operand."""
    number = next((n for n, axis in enumerate(operand.axes) if any(name == dim for name, _ in axis.terms)), None)
    if number is None:
        return operand
    axis = operand.axes[number]
    if operand.role == "constant":
        axes = (*operand.axes[:number], replace(axis, size=size), *operand.axes[number + 1 :])
        return replace(operand, axes=axes)
    sizes = {d.name: size if d.name == dim else d.size for d in workload.dims}
    tile = axis_tile(axis, {dim: first}, sizes)
    view = replace(axis, size=tile.extent, offset=tile.pad_before, pitch=axis.pitch or axis.size)
    base = operand.base + tile.first * far_strides(operand)[number]
    return replace(operand, axes=(*operand.axes[:number], view, *operand.axes[number + 1 :]), base=base)


def share_of(candidate: Candidate, dim: str, first: int, size: int) -> Candidate:
    """The candidate for that part of an operator; the candidate itself for the whole."""
    whole = candidate.workload if candidate.share is None else candidate.share.whole
    if (first, size) == (0, whole.dim(dim).size):
        return replace(candidate, workload=whole, share=None)
    return replace(candidate, workload=restricted(whole, dim, first, size), share=Share(dim, first, size, whole))


def _plain_dim(axis: Axis) -> str | None:
    """The dimension whose index equals the axis' index."""
    if len(axis.terms) != 1 or axis.windowed or axis.round_up != 1 or axis.pitch:
        return None
    return axis.terms[0][0]


def _sliceable(operand: Operand, dim: str) -> bool:
    """Whether parts of the operand begin at whole bytes, and constants at whole indices of one axis."""
    used = [axis for axis in operand.axes if any(name == dim for name, _ in axis.terms)]
    if operand.role != "constant":
        return len(used) <= 1 and (not used or operand.element_bits % 8 == 0)
    return not used or (len(used) == 1 and len(used[0].terms) == 1 and not used[0].windowed)


def _packing(workload: Workload, dim: str) -> list[int]:
    """Groups in which operands store the indices of a dimension."""
    axes = [axis for operand in workload.operands for axis in operand.axes]
    return [axis.round_up for axis in axes if any(name == dim for name, _ in axis.terms)]
