"""In which ways a program can be run on the twin (docs/twin.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_threads(mode: str) -> bool:
    """Whether the mode wants a program built for threads."""
    return mode == "threads" or mode.startswith("threads:")


def queues_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the queues that have tasks; none for a sequential program. ``document``: the manifest."""
    return tuple(queue["name"] for queue in document.get("queues", ()) if queue["tasks"])


def modes_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every mode in which the program must give the same bytes; ``document``: the manifest."""
    queues = queues_of(document)
    threads = ("threads",) if queues else ()
    return ("eager", "lazy", *(f"lazy:{queue}" for queue in queues), *threads)
