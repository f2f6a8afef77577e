"""What counters must be before a fit is worth anything: enough different layers, and not in conflict with themselves or
with the model. Everything else is refused with the numbers that say why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_calibrate.programs import Measured, Run
    from match_calibrate.solve import Array

#: Layers that differ in pattern, sizes or schedule.
DIFFERENT_MIN = 8
#: Layers that no constant tells apart differ at most by this factor. Caches that are cold or warm made 1.7 of it on a
#: simulator of GAP9.
SPREAD_MAX = 2.0
#: A run takes at least as long as its layers, up to reading the counter.
TOTAL_SLACK = 0.01
#: The mean error of a fit is at most this.
ERROR_MAX = 0.5


def check_amount(layers: Sequence[Measured], groups: Sequence[int]) -> None:
    """UsageError MATCH-U075 if there are too few different layers."""
    different = len(set(groups))
    if different < DIFFERENT_MIN:
        raise UsageError(
            "MATCH-U075",
            "there are too few counters",
            "option --counters",
            f"{different} of {len(layers)} layers differ in kernel, sizes or tiles; at least {DIFFERENT_MIN} must",
            ("measure more networks, and give a --counters for each",),
        )


def check_totals(runs: Sequence[Run], layers: Sequence[Sequence[Measured]]) -> None:
    """UsageError MATCH-U076 if the layers of a run take longer than the whole run."""
    for run, mine in zip(runs, layers, strict=True):
        total, parts = run.counters.total, sum(layer.cycles for layer in mine)
        if total is not None and parts > total * (1 + TOTAL_SLACK):
            raise _conflict(run.counters.file, f"its layers take {parts:,.0f} cycles, the whole run {total:,.0f}")


def check_spread(layers: Sequence[Measured], groups: Sequence[int]) -> None:
    """UsageError MATCH-U076 if equal layers have very different counters."""
    for group in dict.fromkeys(groups):
        mine = sorted((m for m, g in zip(layers, groups, strict=True) if g == group), key=lambda layer: layer.cycles)
        low, high = mine[0], mine[-1]
        if high.cycles > low.cycles * SPREAD_MAX:
            why = (
                f"{low.program}, layer {low.index}: {low.cycles:,.0f} cycles; {high.program}, layer {high.index}: "
                f"{high.cycles:,.0f}; both run {low.pattern} with the same sizes and tiles, so they are modelled alike"
            )
            raise _conflict(f"layers {low.title[:80]} and {high.title[:80]}", why)


def check_result(layers: Sequence[Measured], before: Array, after: Array, errors: tuple[float, float, float]) -> None:
    """UsageError MATCH-U076 if no values of the constants explain the counters. ``errors``: mean relative errors
    before, after, and of layers that the fit did not see."""
    start, found, unseen = errors
    if found <= ERROR_MAX and unseen <= max(start, found):
        return
    measured = np.array([layer.cycles for layer in layers])
    worst = layers[int(np.argmax(np.abs(after - measured) / measured))]
    number = layers.index(worst)
    told = f"{worst.program}, layer {worst.index}: {worst.cycles:,.0f} measured, {before[number]:,.0f} modelled before"
    why = (
        f"mean error {start:.0%} before, {found:.0%} fitted, {unseen:.0%} for layers that the fit does not see; worst: "
        f"{told}, {after[number]:,.0f} fitted"
    )
    raise _conflict("the fit", why)


def _conflict(where: str, why: str) -> UsageError:
    help_ = "check that all counters are cycles of one clock and come from these programs"
    return UsageError("MATCH-U076", "the counters contradict each other or the model", where, why, (help_,))
