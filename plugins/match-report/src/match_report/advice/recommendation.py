"""What would make a program faster: each with the command that shows it, and the modelled cycles that it saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Advice that is shown.
SHOWN_MAX = 5

Kind = Literal["quantise", "precision", "inputs", "disabled", "unit"]


@dataclass(frozen=True, slots=True)
class Recommendation:
    """``cause``: what costs the cycles, in numbers; ``change``: what to do about it; ``command``: a complete command
    that reports the program, or the layer, with the change. ``saves_cycles``: modelled, None if only the command models
    it; ``stake_cycles``: modelled cycles of the layers concerned, of the program's ``total_cycles``."""

    kind: Kind
    cause: str
    change: str
    command: str
    stake_cycles: int
    total_cycles: int
    saves_cycles: int | None = None

    @property
    def saves_percent(self) -> float | None:
        """Of the program's cycles."""
        return None if self.saves_cycles is None else 100 * self.saves_cycles / max(1, self.total_cycles)

    def as_json(self) -> dict[str, object]:
        """The fields of docs/cli.md."""
        return {
            "kind": self.kind,
            "cause": self.cause,
            "change": self.change,
            "command": self.command,
            "stake_cycles": self.stake_cycles,
            "saves_cycles": self.saves_cycles,
            "saves_percent": self.saves_percent,
        }


def ordered(found: Iterable[Recommendation]) -> tuple[Recommendation, ...]:
    """The first ones by what they save, without those that save nothing; the ones that are not modelled last."""
    useful = [entry for entry in found if entry.saves_cycles is None or entry.saves_cycles > 0]
    useful.sort(key=lambda entry: (-(entry.saves_cycles or 0), -entry.stake_cycles))
    return tuple(useful[:SHOWN_MAX])


def reason(fallback: Mapping[str, Any]) -> str:
    """Why nodes run on the host: the unit's rule, and the value that breaks it."""
    wants = f"{fallback['unit']} requires: " if fallback["cause"] in ("rule", "disabled") else ""
    return f"{wants}{fallback['rule']}, but {fallback['value']}"
