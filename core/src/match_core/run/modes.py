"""The modes in which a program can run on the twin (docs/twin.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from match_core.contract.errors import UsageError


def is_threads(mode: str) -> bool:
    """Whether the mode requires a program built for threads."""
    return mode == "threads" or mode.startswith("threads:")


def queues_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the queues that have tasks; none for a sequential program. ``document``: the manifest."""
    return tuple(queue["name"] for queue in document.get("queues", ()) if queue["tasks"])


def modes_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Every mode, all of which must compute the same bytes; ``document``: the manifest."""
    queues = queues_of(document)
    threads = ("threads",) if queues else ()
    return ("eager", "lazy", *(f"lazy:{queue}" for queue in queues), *threads)


def check_mode(mode: str, document: Mapping[str, Any]) -> None:
    """UsageError MATCH-U029 if the program cannot run in this mode; ``document``: the manifest."""
    queues = queues_of(document)
    known = mode in ("eager", "lazy", "threads")
    seeded = mode.startswith("threads:") and mode.removeprefix("threads:").isdecimal()
    held = mode.startswith(("lazy:", "hang:")) and mode.partition(":")[2] in queues
    if not (known or seeded or held):
        ways = ["eager", "lazy", *(f"lazy:{queue}" for queue in queues), "threads", "threads:SEED"]
        what, where = f"the program cannot be run in mode {mode!r}", f"option --mode, program {document['name']}"
        why = f"its queues are {', '.join(queues)}" if queues else "it is sequential and has no queues"
        raise UsageError("MATCH-U029", what, where, why, (f"choose one of --mode {', '.join(ways)}",))
