"""Capabilities that a package declares, so that the suite knows which cases apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx
    from match_core.contract.passes import Precision


@dataclass(frozen=True, slots=True)
class SampleModel:
    """A small network that cases compile. ``make`` returns the model, always the same one. ``runs`` False: it is only
    matched and scheduled, and no program is built from it. ``precision`` is that of ``match compile``."""

    name: str
    make: Callable[[], onnx.ModelProto]
    runs: bool = True
    precision: Precision = "exact"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The input of the cases; every skip follows from a field of this class, never from a name.

    ``package``: the distribution. ``targets`` and ``units``: those to test, empty for all that the package defines.
    ``models``: networks that together use every unit; empty for small 8-bit ones (``samples.default``).
    ``modes``: the modes in which programs run on the twin; "threads" applies if units run at the same time.
    ``peak_macs_per_cycle``: by unit, multiply-accumulates that its hardware cannot exceed; units that are not listed
    have no such roofline. ``slow_below``: by unit, the size of a dimension below which its kernels use slower code, so
    that fewer elements may cost more; 1 for units that are not listed.
    """

    package: str
    targets: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    models: tuple[SampleModel, ...] = ()
    modes: tuple[str, ...] = ("eager", "lazy", "threads")
    peak_macs_per_cycle: Mapping[str, float] = field(default_factory=dict)
    slow_below: Mapping[str, int] = field(default_factory=dict)
