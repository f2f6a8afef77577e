"""A pass: a named function from Model to Model with a declared place in the order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.model import Model


class Phase(IntEnum):
    """Coarse order of passes. Within a phase ``before`` and ``after`` decide, then the name."""

    CLEAN = 10  # folding, dead code, identities
    FLOAT = 20  # rewrites that keep real-valued results (batch norm, padding)
    INTEGER = 30  # quantised operators become integer operators with explicit requantisation
    LAYOUT = 40  # activation layouts that units use
    TARGET = 50  # passes of target packages
    FINAL = 60  # last clean-up


#: How closely a requantisation follows the real-valued rounding: ``exact`` uses the wider arithmetic of the units
#: wherever the fast one is expected to differ, ``fast`` only where it would differ often.
Precision = Literal["exact", "fast"]


@dataclass(frozen=True, slots=True)
class PassContext:
    """What a pass may know about the target: the Soc and all its units (including those that the user disabled, so that
    the arithmetic of the program does not depend on the choice of units), and the user's options: precision,
    whether quantised inputs and outputs of the graph are integers, the source nodes of which lossy passes must not
    change the arithmetic, and the ``metadata`` of the model's file (``Model.metadata``)."""

    soc: Soc
    units: tuple[Unit, ...]
    precision: Precision = "exact"
    quantized_io: bool = False
    exact_nodes: frozenset[str] = frozenset()
    metadata: tuple[tuple[str, str], ...] = ()

    def changes(self, origin: Iterable[str]) -> bool:
        """Whether a lossy pass may change the arithmetic of nodes that come from these source nodes."""
        return self.exact_nodes.isdisjoint(origin)

    def of(self, item: Pass) -> PassContext:
        """What one pass may know: of names PASS:NODE, its own nodes."""
        own = f"{item.name}:"
        named = {name.removeprefix(own) for name in self.exact_nodes if name.startswith(own)}
        return replace(self, exact_nodes=self.exact_nodes | named) if named else self


@dataclass(frozen=True, slots=True)
class Pass:
    """``run`` takes a valid model and returns a valid model; it must not change its argument."""

    name: str
    phase: Phase
    run: Callable[[Model, PassContext], Model]
    description: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    #: Whether results must stay equal bit for bit (True) or within 1e-5 relative; None: the pass chooses arithmetic.
    exact: bool | None = True
    #: Whether a user may skip it: skipping changes arithmetic or speed, never whether the program is correct.
    optional: bool = False
    #: Whether it may change results by more than the rounding of a layer. It leaves nodes alone for which
    #: ``PassContext.changes`` is false.
    lossy: bool = False


class Observer(Protocol):
    """Observes every pass: progress, dumps, timing and verification are observers."""

    def before_pass(self, item: Pass, model: Model) -> None:
        """Called with the model that the pass will receive."""
        ...

    def after_pass(self, item: Pass, before: Model, after: Model) -> None:
        """Called with the model before and the model after."""
        ...
