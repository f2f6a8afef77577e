"""The badge that a package ships: the results of its conformance cases, which match-kit writes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from match_core.plugin.places import import_folder

FILE_NAME = "match-badge.json"
SCHEMA = "match.badge"


def shipped_badge(distribution: str, plugin: str) -> dict[str, Any] | None:
    """The badge of an installed package, a file next to its modules; None if it ships none."""
    folder = import_folder(distribution, plugin)
    with suppress(OSError, RecursionError, ValueError, KeyError, TypeError):
        badge: dict[str, Any] = json.loads((folder / FILE_NAME).read_text("utf-8")) if folder is not None else {}
        if badge["schema"] == SCHEMA and badge_state(badge, "", 0):
            return badge
    return None


def badge_state(badge: dict[str, Any], version: str, contract: int) -> str:
    """The text that ``match plugins`` shows for an installed package of this version."""
    state = f"{len(badge['levels'])} of {badge['of']} levels"
    same = (badge["version"], badge["contract"]) == (version, contract)
    return state if same else f"of {badge['version']}, contract {badge['contract']}"
