"""The options of one operand in a given order of loops: the depth at which its buffer is refilled, and double
buffering.

Only depths that end with a loop of the operand's own dimensions are tried. Any other depth has the same buffer as the
next smaller one and refills it more often: every step has the same copies and more. (Exact if all waits of a cost model
are equal; else within the difference of two waits per step.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from match_core.contract.geometry import far_sizes

if TYPE_CHECKING:
    from match_core.contract.cost import Overlap
    from match_core.contract.workload import Axis, Operand
    from numpy.typing import NDArray

    from match_schedule.space import Cut

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Option:
    """``cuts``: the operand's own cuts among the first ``depth`` loops, which cut its buffer. For a streamed operand,
    ``stage`` is the depth of its staging buffer, and ``stage_cuts`` are the cuts of that buffer."""

    depth: int
    buffers: Literal[1, 2]
    cuts: tuple[int, ...]
    stage: int | None = None
    stage_cuts: tuple[int, ...] = ()

    @property
    def stage_buffers(self) -> Literal[1, 2]:
        """2 for a staging buffer that is filled more than once, else 1."""
        return 2 if self.stage else 1


@dataclass(frozen=True, slots=True)
class Choice:
    """An option, its bytes in the unit's or a private memory and in the home memory (HUGE if kernels could not read
    it), and its share of the cycles, a row for each of ``bounds.Share``."""

    option: Option
    bytes: Array
    stage_bytes: Array
    share: Array


def options_of(
    own: Sequence[int], order: Sequence[int], reductions: Sequence[int], overlap: Overlap, *, streamed: bool
) -> list[Option]:
    """All options of an operand. ``own``: the cuts that its axes use; ``order``: the cuts that have a loop, outermost
    first; ``reductions``: those that must be inside its depth (for an output, else none)."""
    limit = next((place for place, cut in enumerate(order) if cut in reductions), len(order))
    depths = [0, *(place + 1 for place, cut in enumerate(order) if cut in own)]
    found: list[Option] = []
    for depth in (depth for depth in depths if depth <= limit):
        stages = [outer for outer in depths if outer <= depth] if streamed else [None]
        for stage in stages:
            cuts = tuple(cut for cut in order[:depth] if cut in own)
            stage_cuts = tuple(cut for cut in order[: stage or 0] if cut in own)
            found.append(Option(depth, 1, cuts, stage, stage_cuts))
            if depth and overlap != "none":
                found.append(Option(depth, 2, cuts, stage, stage_cuts))
    return found


def is_dense(
    operand: Operand, option: Option, order: Sequence[int], cuts: Sequence[Cut], tiles: Sequence[Array]
) -> Flags | bool:
    """For every tiling, whether the part that a kernel reads is one dense block of the buffer.

    Of the axes that loops inside the depth cut, the innermost may be partial; the part has one index of every axis
    outside it. Parts with elements smaller than a byte start at whole bytes: the inner axes are then never cut.
    """
    inner = {cuts[cut].dim.name for cut in order[option.depth :]}
    partial = [n for n, axis in enumerate(operand.axes) if any(name in inner for name, _ in axis.terms)]
    if not partial:
        return True
    looped = {cuts[cut].dim.name: cut for cut in order}
    block = partial[-1]
    if operand.element_bits % 8 and any(_is_looped(axis, looped) for axis in operand.axes[block + 1 :]):
        return False
    dense: Flags | bool = True
    for axis, size in zip(operand.axes[:block], far_sizes(operand)[:block], strict=True):
        if size == 1:
            continue
        if axis.windowed or axis.round_up > 1 or not _is_looped(axis, looped):
            return False
        cut = next(looped[name] for name, _ in axis.terms if name in looped)
        dense = dense & (tiles[cut] == 1)
    return dense


def _is_looped(axis: Axis, looped: dict[str, int]) -> bool:
    return any(name in looped for name, _ in axis.terms)
