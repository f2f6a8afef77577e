"""Judges the distance of a program to the original model: its loss of accuracy.

Real values must have a signal to quantisation noise ratio of at least ``SQNR_DB``. Of class scores ([1, classes] a
sample) and of labels, at least ``AGREEMENT`` must agree, where at least ``ROWS`` were compared: with fewer, one sample
would decide. An output that is nowhere more than one step of its quantiser away passes: rounding alone does that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from match_core.contract.errors import MatchError

from match_verify.meaning import Meaning
from match_verify.noise import Array, agreement, noise_of

SQNR_DB = 20.0
AGREEMENT = 0.95
ROWS = 20
#: Classes of float outputs without a step of their own tie within this share of the range of the original's scores:
#: one step of 8 bits.
_TIE = 1 / 255


class AccuracyError(MatchError):
    """The program is too far from the original model."""


@dataclass(frozen=True, slots=True)
class OutputLoss:
    """``sqnr_db``: None for labels; ``agreement``: share of ``rows`` (samples, or elements of labels) that agree, None
    for an output that is neither labels nor class scores; ``worst_steps``: the largest difference in steps of the
    output's quantiser, None where it has none. ``failed``: one sentence for each limit that does not hold."""

    name: str
    sqnr_db: float | None
    agreement: float | None
    rows: int
    worst_steps: float | None
    failed: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """The entry of ``match verify --json``."""
        judged = self.agreement is not None and self.rows >= ROWS
        return {
            "sqnr_db": self.sqnr_db,
            "equal": self.sqnr_db == math.inf or (self.sqnr_db is None and self.agreement == 1),
            "agreement": self.agreement,
            "rows": self.rows,
            "agreement_judged": judged,
            "worst_steps": self.worst_steps,
            "ok": not self.failed,
        }


def judge(name: str, original: Array, got: Array, meaning: Meaning) -> OutputLoss:
    """The loss of one output over all samples (first axis)."""
    if meaning.labels:
        same = original == got if original.shape == got.shape else np.zeros(original.shape, bool)
        share = float(same.mean()) if same.size else 1.0
        return OutputLoss(name, None, share, same.size, None, _disagreement(share, same.size, "labels agree"))
    wanted, found = meaning.real(original), meaning.real(got)
    sqnr, worst = noise_of(wanted, found).sqnr_db, _worst(wanted, found)
    steps = worst / meaning.step if meaning.step else None
    failed: tuple[str, ...] = ()
    if sqnr < SQNR_DB and not (steps is not None and steps <= 1.01):  # real values of steps are float32
        failed = (f"{sqnr:.1f} dB of signal to quantisation noise, {SQNR_DB:g} dB are required",)
    scores = _scores(wanted), _scores(found)
    if scores[0] is None or scores[1] is None or scores[0].shape != scores[1].shape:
        return OutputLoss(name, sqnr, None, 0, steps, failed)
    share = agreement(scores[0], scores[1], meaning.step or _range(scores[0]) * _TIE)
    failed += _disagreement(share, len(scores[0]), "samples have the same largest class")
    return OutputLoss(name, sqnr, share, len(scores[0]), steps, failed)


def loss_error(lost: Sequence[OutputLoss], where: str, layer: str, help_: Sequence[str]) -> AccuracyError:
    """MATCH-V001. ``layer``: a sentence on the layer where the accuracy falls, if it is known."""
    why = "; ".join(f"output {output.name}: {', '.join(output.failed)}" for output in lost)
    return AccuracyError(
        code="MATCH-V001",
        what="the program is too far from the original model",
        where=where,
        why=f"{why}; {layer}" if layer else why,
        help=tuple(help_),
    )


def _disagreement(share: float, rows: int, what: str) -> tuple[str, ...]:
    if rows < ROWS or share >= AGREEMENT:
        return ()
    return (f"{share:.1%} of {rows} {what}, {AGREEMENT:.0%} are required",)


def _scores(values: Array) -> Array | None:
    """[rows, classes] of an output [samples, rows, classes]; None for other shapes, and for a single class."""
    if values.ndim != 3 or values.shape[-1] < 2:
        return None
    return values.reshape(-1, values.shape[-1])


def _range(scores: Array) -> float:
    finite = scores[np.isfinite(scores)].astype(np.float64)
    return float(finite.max() - finite.min()) if finite.size else 0.0


def _worst(wanted: Array, found: Array) -> float:
    if wanted.shape != found.shape:
        return math.inf
    with np.errstate(invalid="ignore"):
        distance = np.abs(wanted.astype(np.float64) - found.astype(np.float64))
    return float(np.nanmax(distance, initial=0.0)) if distance.size else 0.0
