"""Outcomes by the content of their points, on disk: what one study computed, none computes again."""

from __future__ import annotations

from pathlib import Path

from match_core.io.cache_dir import cache_directory
from match_core.io.entries import Entries
from match_core.version import __version__

from match_explore.points import FORMAT, Point
from match_explore.task import Outcome

#: Outcomes of the engine, not of the point: the next run tries these again.
_AGAIN = ("MATCH-T02",)


class Store:
    """``code``: digest of the code that computes outcomes; those of other code do not count."""

    def __init__(self, code: str, directory: Path | None = None) -> None:
        self.code = code
        self._entries = Entries(directory or cache_directory("explore"), FORMAT, __version__)

    def find(self, point: Point) -> Outcome | None:
        """The outcome of a point; None if there is none."""
        found = self._entries.read(point.key(self.code))
        return found["outcome"] if isinstance(found, dict) else None

    def keep(self, point: Point, outcome: Outcome, seconds: float) -> None:
        """Store an outcome with the seconds that it took, which no table shows."""
        if not str(outcome.get("code", "")).startswith(_AGAIN):
            self._entries.write(point.key(self.code), {"outcome": outcome, "seconds": round(seconds, 4)})

    def seconds(self, point: Point) -> float | None:
        """How long a point took when it was computed."""
        found = self._entries.read(point.key(self.code))
        return found["seconds"] if isinstance(found, dict) else None
