"""Which nodes keep exact arithmetic: what the core requests from packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from match_core.contract.model import Model
    from match_core.contract.passes import Observer

#: Names of source nodes, or ``PASS:NODE`` for one lossy pass alone.
Exact = tuple[str, ...]


@dataclass(frozen=True)
class ExactRequest:
    """Requests the nodes of ``source`` whose arithmetic lossy passes must not change, so that the outputs have a signal
    to quantisation noise ratio of at least ``max_loss_db``. ``samples``: a file of inputs, None for random ones.
    ``transform``: the integer graph with such nodes, passes observed. ``cycles``: the modelled cycles of the
    sequential program with such nodes, by the source nodes of its steps."""

    source: Model
    max_loss_db: float
    samples: Path | None
    transform: Callable[[Exact, Sequence[Observer]], Model]
    cycles: Callable[[Exact], Sequence[tuple[tuple[str, ...], int]]]


@dataclass(frozen=True)
class ExactChoice:
    """The chosen nodes, ``notes`` for the user, and a JSON object that reports the choice."""

    exact: Exact
    notes: tuple[str, ...]
    document: Mapping[str, Any]
