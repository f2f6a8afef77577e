"""The counts of own kernels that figures multiply: what compilers do with their loops, besides what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_cortexm.moves import TURNS

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: Blocks of channels that compilers compute without a loop, taps whose addresses have registers, and columns of images
#: that are no wider than padding: counted with gcc 12.2 for M4 and M55.
_PEELED_BLOCKS, _PEELED_TAPS, _NARROW = 6, 8, 2
#: Taps of windows that are lines, as far as counts tell.
_LINE_TAPS = 3
#: Results of 32 bits in a vector.
_LANES = 4


def own_counts(workload: Workload, counts: Mapping[str, int]) -> Mapping[str, int]:
    """The counts of an own kernel that tells ``counts``."""
    return _apart({**counts, **_unrolled(workload)})


def _apart(counts: Mapping[str, int]) -> Mapping[str, int]:
    """The counts of windows of bytes and int16: taps of those outside tell as much as blocks, and loops over taps take
    the same inside and outside."""
    looped = {name.removesuffix("_loops") for name in counts if name.startswith("max") and name.endswith("_loops")}
    left = {
        *(name for name in counts if name.endswith("_outside_blocks")),
        *(f"{form}_outside_steps" for form in looped),
    }
    return {name: count for name, count in counts.items() if name not in left}


def _unrolled(workload: Workload) -> Mapping[str, int]:
    """What compilers do with the loops of own kernels: taps of more addresses than there are registers, in a loop over
    blocks that has turns; taps of windows of more than a line, ``wide``; ``apart_blocks``, which have the registers of
    a function of their own; rows that a function copies, as some are clipped, and rows of images that are narrower than
    windows, whose lengths are known."""
    counts, source = workload.parameters, workload.operands[0]
    found: dict[str, int] = {}
    for name, count in counts.items():
        form, _, part = name.rpartition("_")
        if (
            form in ("max_dsp", "sum_dsp")
            and part == "loops"
            and _is_line_of_taps(workload, count // max(1, counts[f"{form}_blocks"]))
        ):
            found[name] = 0
        if form == "real_max" and part == "blocks" and count > _PEELED_BLOCKS * counts[f"{form}_tiles"]:
            steps = counts[f"{form}_steps"]
            found[f"{form}_turns"] = steps * (steps > _PEELED_TAPS * count and not counts.get(f"{form}_loops"))
        if form == "real_max" and part == "blocks" and counts[f"{form}_steps"] > _LINE_TAPS * count:
            found[f"{form}_wide"] = counts[f"{form}_steps"]
        if name.endswith("_apart_tiles"):  # blocks of a function of their own
            base = form.removesuffix("_apart")
            found |= {f"{form}_blocks": counts[f"{base}_blocks"], f"{base}_blocks": 0, f"{base}_tiles": 0}
        if name == "mve_single_blocks":
            found |= _held(counts)
        if name == "mve_tiles" and count == 1:  # a dense layer
            found["mve_partial_calls"] = counts["mve_results"] % _LANES > 0
        if name.endswith("_rows_clipped") and count:
            narrow = source.axes[-2].size <= _NARROW
            found[name] = 0 if narrow else count
            kind, rows = (
                ("narrow", 0) if narrow else ("called", counts.get(f"{form.removesuffix('_rows')}_rows_inside", 0))
            )
            found[f"{form}_{kind}"] = count + rows
            if narrow:
                found[f"{form}_ended"] = 0
    return found


def _held(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Blocks whose weights are one vector or two, which stay in registers."""
    count, steps = counts["mve_single_blocks"], counts["mve_steps"]
    if any("bytes" in name for name in counts):
        return {}
    if steps == count:
        return {"mve_held": count, "mve_held_calls": 1, "mve_steps": 0}
    two = (
        steps == 2 * count
        and counts.get("mve_tiles", 0) > 1
        and not counts.get("mve_rows")
        and not counts.get("mve_loops")
    )
    return {"mve_held_pairs": count, "mve_steps": 0} if two else {}


def _is_line_of_taps(workload: Workload, taps: int) -> bool:
    """Whether windows are whole lines of an image, or images, of so few taps that compilers unroll the loop over them:
    counted with gcc 12.2 for M4."""
    return taps <= TURNS and workload.operands[-1].axes[-2].size == 1
