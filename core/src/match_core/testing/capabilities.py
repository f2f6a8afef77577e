"""What a package says of itself, so that the suite knows what to ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

    from match_core.transforms.base import Precision


@dataclass(frozen=True, slots=True)
class SampleModel:
    """A small network that cases compile. ``make`` gives the model, always the same one. ``runs`` False: it is only
    matched and scheduled, and no program is built of it. ``precision`` is that of ``match compile``."""

    name: str
    make: Callable[[], onnx.ModelProto]
    runs: bool = True
    precision: Precision = "exact"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the cases run on; every skip follows from a field of this class, never from a name.

    ``package``: the distribution. ``targets`` and ``units``: those to look at, empty for all that the package defines.
    ``models``: networks that between them use each unit; empty for small 8-bit ones of the core (``samples.default``).
    ``modes``: the ways in which programs run on the twin; "threads" counts where units run side by side.
    ``peak_macs_per_cycle``: by unit, multiply-accumulates that its hardware cannot exceed; a unit that is not named has
    no such roofline. ``slow_below``: by unit, the size of a dimension below which its kernels take another, slower way,
    so that fewer elements may cost more; 1 where a unit is not named.
    """

    package: str
    targets: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    models: tuple[SampleModel, ...] = ()
    modes: tuple[str, ...] = ("eager", "lazy", "threads")
    peak_macs_per_cycle: Mapping[str, float] = field(default_factory=dict)
    slow_below: Mapping[str, int] = field(default_factory=dict)
