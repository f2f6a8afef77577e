"""Models that are rewritten to fit: what the core requests from packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Assignment, Mapping
    from match_core.contract.model import Model
    from match_core.contract.unit_api import Overwrite


@dataclass(frozen=True)
class FitRequest:
    """Requests a model that computes the same and fits. ``model`` does not fit with ``mapping``, its cheapest
    sequential mapping, whose assignments are the model's layers with their cycles. A rewritten model divides layers
    along rows into several of the same operators; it lists the Slice and Concat nodes between them in ``Model.parts``,
    and the tensors whose home is the Soc's store in ``Model.away``. ``attempt`` returns the modelled cycles of its
    program, None if it does not fit; it receives an assignment for every node in ``parts``; ``without``: of ``model``
    without these candidates (indices), None also if more had to go. ``overlaps`` of kernels. ``divisible``: False if no
    rewritten model can run. ``candidates``: all; ``offered``: with schedules; ``streams``: one may stream constants."""

    model: Model
    soc: Soc
    mapping: Mapping
    attempt: Callable[[Model, tuple[Assignment, ...]], int | None]
    overlaps: tuple[Overwrite, ...] = ()
    divisible: bool = True
    offered: tuple[Assignment, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    streams: Callable[[Candidate], bool] = bool
    without: Callable[[frozenset[int]], int | None] = lambda _: None


@dataclass(frozen=True)
class Fit:
    """``model``: one that an attempt showed to fit, or None. ``reason``: in words, a lower bound of its home memory."""

    model: Model | None
    reason: str = ""
