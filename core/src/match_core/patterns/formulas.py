"""Helpers for figures and cycle formulas of chips: types, shares of the busiest core, the version of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from match_core.contract.hardware import Constant, Signalling, Soc

Timing = Mapping[str, int]
Cycles = NDArray[np.int64]
Tile = Mapping[str, Cycles]


def cycles(name: str, value: int, source: str, *, estimate: bool = False) -> Constant:
    """A figure in cycles."""
    return Constant(name, value, "cycles", source, estimate)


def by_name(constants: Iterable[Constant]) -> Mapping[str, int]:
    """Integer figures: values by name."""
    return MappingProxyType({constant.name: int(constant.value) for constant in constants})


def fitted(constants: tuple[Constant, ...], soc: Soc, *units: str) -> tuple[Constant, ...]:
    """The table of a preset with the values that the Soc's figures file gives for constants of these units; they are
    no estimates."""
    given = {name: value for unit, name, value in soc.figures if unit in units}
    return tuple(
        replace(item, value=given[item.name], estimate=False) if item.name in given else item for item in constants
    )


def signalling(kind: Literal["event", "poll"], figures: Timing, session_cycles: int) -> Signalling:
    """The Soc's signalling with the figures ``post_cycles``, ``wake_cycles``, ``notify_cycles`` and ``task_cycles``."""
    each = {name: figures[name] for name in ("post_cycles", "wake_cycles", "notify_cycles", "task_cycles")}
    return Signalling(kind, **each, session_cycles=session_cycles)


def up(size: Cycles, divisor: int | Cycles) -> Cycles:
    """The quotient, rounded up."""
    return -(-size // divisor)


def touched(groups: Cycles, size: Cycles, items: Cycles) -> Cycles:
    """The largest number of groups, of ``groups`` with ``size`` items each, that ``items`` contiguous items lie in."""
    parts = np.where(size % items == 0, 1, (items - 2) // size + 2)
    return np.minimum(np.where(items % size == 0, items // size, parts), groups)


def figures_version(formulas: int, timing: Timing) -> str:
    """A version that changes with the formulas (a number, set by hand) and with the figures (a checksum)."""
    figures = ",".join(f"{name}={value}" for name, value in sorted(timing.items()))
    return f"{formulas}-{crc32(figures.encode()):08x}"
