"""Watching the stages of a compilation: progress, timing and dumps are observers, not code in the stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Facts = Mapping[str, "int | float | str"]


class Watch(Protocol):
    """Told how far the running stage got. What it is told depends on nothing but the work, and the work does not depend
    on it."""

    def progress(self, facts: Facts) -> None:
        """So far: steps done and how many there are, the best value and the bound of a search, in cycles or bytes. Each
        call replaces the one before."""
        ...


class StageObserver(Watch, Protocol):
    """Told of each stage in order. A stage that raises is started and never finished."""

    def stage_started(self, name: str) -> None:
        """The stage begins. Stages do not nest."""
        ...

    def stage_finished(self, name: str, facts: Facts) -> None:
        """The stage is done; ``facts`` are its counts in the order they should be shown ({"nodes": 42})."""
        ...

    def note(self, text: str) -> None:
        """Something the user should know that is not an error; one line."""
        ...


class NullObserver:
    """Watches nothing."""

    def stage_started(self, name: str) -> None:
        """Ignored."""

    def stage_finished(self, name: str, facts: Facts) -> None:
        """Ignored."""

    def note(self, text: str) -> None:
        """Ignored."""

    def progress(self, facts: Facts) -> None:
        """Ignored."""
