"""Observers of the stages of a compilation: progress, timing and dumps are observers, not code in the stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Facts = Mapping[str, "int | float | str"]


class Watch(Protocol):
    """Receives the progress of the running stage. The reports depend on the work alone, which ignores the watch."""

    def progress(self, facts: Facts) -> None:
        """The progress so far: steps done and in total, the best value and the bound of a search, in cycles or bytes.
        Each call replaces the previous one."""
        ...


class StageObserver(Watch, Protocol):
    """Notified of each stage in order. A stage that raises is started and never finished."""

    def stage_started(self, name: str) -> None:
        """The stage begins. Stages do not nest."""
        ...

    def stage_finished(self, name: str, facts: Facts) -> None:
        """The stage is done; ``facts`` are its counts in display order ({"nodes": 42})."""
        ...

    def note(self, text: str) -> None:
        """A message to the user that is not an error; one line."""
        ...


class NullObserver:
    """Ignores all reports."""

    def stage_started(self, name: str) -> None:
        """Ignored."""

    def stage_finished(self, name: str, facts: Facts) -> None:
        """Ignored."""

    def note(self, text: str) -> None:
        """Ignored."""

    def progress(self, facts: Facts) -> None:
        """Ignored."""
