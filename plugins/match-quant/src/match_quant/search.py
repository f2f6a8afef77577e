"""The choice of ranges and scales that loses least on samples that did not determine them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_quant.losses import Distance, Outputs, distance, scores_of
from match_quant.static import Method, Quantiser, Row, Scheme

if TYPE_CHECKING:
    from match_core.contract.observe import Watch

#: Every so many samples, one is held out.
HELD_OUT = 4
_METHODS: tuple[Method, ...] = ("minmax", "percentile", "entropy")
_PERCENTILES = (99.999, 99.99, 99.9)


@dataclass(frozen=True, slots=True)
class Trial:
    """A scheme, and what its network loses on the samples that are held out: ``distances`` of the outputs, before
    Softmax."""

    scheme: Scheme
    distances: tuple[Distance, ...]

    @property
    def sqnr_db(self) -> float:
        """Of the output that loses most."""
        return min((each.sqnr_db for each in self.distances), default=float("inf"))

    @property
    def agreement(self) -> float | None:
        """The share of samples with the same largest element, of the output with the lowest share; None where there
        are no class scores."""
        return min((each.top1_agreement for each in self.distances if each.top1_agreement is not None), default=None)

    def as_json(self) -> dict[str, object]:
        """The entry of ``match quantize --json``."""
        return {
            "method": self.scheme.method,
            "percentile": self.scheme.percentile if self.scheme.method == "percentile" else None,
            "per_channel": self.scheme.per_channel,
            "sqnr_db": self.sqnr_db,
            "top1_agreement": self.agreement,
        }


def divided(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Samples that determine ranges, and every fourth, which is held out; all for both if there are fewer than four."""
    if len(rows) < HELD_OUT:
        return list(rows), list(rows)
    held = [row for index, row in enumerate(rows) if index % HELD_OUT == HELD_OUT - 1]
    return [row for index, row in enumerate(rows) if index % HELD_OUT != HELD_OUT - 1], held


def search(
    quantiser: Quantiser, first: Scheme, fixed: frozenset[str], held: Sequence[Row], watch: Watch
) -> tuple[Trial, ...]:
    """Try all methods, then the best one with one scale per tensor; ``fixed``: fields of ``first`` that do not change.
    The trials in their order; the best one is ``best_of(trials)``."""
    trials: list[Trial] = []
    before = scores_of(quantiser.network, held)
    for scheme in _methods(first, fixed):
        watch.progress({"trial": len(trials) + 1, "ranges": scheme.title})
        trials.append(_tried(quantiser, scheme, held, before))
    if "per_channel" not in fixed:
        scheme = replace(best_of(trials).scheme, per_channel=False)
        watch.progress({"trial": len(trials) + 1, "ranges": scheme.title})
        trials.append(_tried(quantiser, scheme, held, before))
    return tuple(trials)


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial with the least noise; of equal ones, that with the largest agreement, then the first."""
    return max(trials, key=lambda trial: (trial.sqnr_db, trial.agreement or 0.0))


def _methods(first: Scheme, fixed: frozenset[str]) -> Iterator[Scheme]:
    for method in (first.method,) if "method" in fixed else _METHODS:
        if method == "percentile":
            percentiles = (first.percentile,) if "percentile" in fixed else _PERCENTILES
            yield from (replace(first, method=method, percentile=percentile) for percentile in percentiles)
        else:
            yield replace(first, method=method)


def _tried(quantiser: Quantiser, scheme: Scheme, held: Sequence[Row], before: Outputs) -> Trial:
    after = scores_of(quantiser.quantised(scheme), held)
    return Trial(scheme, tuple(distance(name, before[name], after[name]) for name in before))
