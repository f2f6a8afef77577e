"""What can end a task other than its own answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["died", "late", "memory", "worker"]

#: Code and first words of the row that a task gets after its second incident.
CODES: dict[str, tuple[str, str]] = {
    "died": ("MATCH-T020", "the process that evaluated the point ended"),
    "late": ("MATCH-T021", "the point took longer than the study's limit"),
    "memory": ("MATCH-T022", "the point needed more memory than the study's limit"),
    "worker": ("MATCH-T020", "the worker that evaluated the point was lost"),
}


@dataclass(frozen=True, slots=True)
class Incident:
    """``why``: with numbers, the same on every machine; ``worker``: where it happened, empty if that is not known."""

    kind: Kind
    why: str
    worker: str = ""
