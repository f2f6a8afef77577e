"""A board: a system on chip that a file composes of the units of several packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc, Unit


@dataclass(frozen=True)
class Board:
    """A composed Soc and its units. ``packages``: for each unit, its package's names of the board's memories, if they
    differ. ``text``: the board file, which is stored with programs."""

    soc: Soc
    units: tuple[Unit, ...]
    packages: Mapping[str, Mapping[str, str]]
    text: str
