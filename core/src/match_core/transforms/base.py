"""A pass: a named function from Model to Model with a declared place in the order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from match_core.hardware import Soc, Unit
    from match_core.ir.model import Model


class Phase(IntEnum):
    """Coarse order of passes. Within a phase ``before`` and ``after`` decide, then the name."""

    CLEAN = 10  # folding, dead code, identities
    FLOAT = 20  # rewrites that keep real-valued results (batch norm, padding)
    INTEGER = 30  # quantised operators become integer operators with explicit requantisation
    LAYOUT = 40  # activation layouts that units want
    TARGET = 50  # what a target adds
    FINAL = 60  # last clean-up


#: How close a requantisation keeps to the real-valued rounding: ``exact`` takes the wider arithmetic of the units
#: wherever the fast one is expected to differ, ``fast`` only where it would differ often.
Precision = Literal["exact", "fast"]


@dataclass(frozen=True, slots=True)
class PassContext:
    """What a pass may ask about the target: the Soc and all its units (also those the user disabled, so that the
    arithmetic of the program does not depend on the choice of units), and the wanted precision."""

    soc: Soc
    units: tuple[Unit, ...]
    precision: Precision = "exact"


@dataclass(frozen=True, slots=True)
class Pass:
    """``run`` takes a valid model and returns a valid model; it must not change its argument."""

    name: str
    phase: Phase
    run: Callable[[Model, PassContext], Model]
    description: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    #: whether results must stay equal bit for bit (True) or within 1e-5 relative; None: the pass chooses arithmetic.
    exact: bool | None = True
    #: whether a user may leave it out: that changes arithmetic or speed, never whether the program is right.
    optional: bool = False
