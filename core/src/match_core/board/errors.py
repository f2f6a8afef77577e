"""Errors of a board file that is well-formed but describes no usable board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError

if TYPE_CHECKING:
    from match_core.board.document import BoardDocument


def unit_error(board: BoardDocument, unit: str, why: str, *help_: str) -> UsageError:
    """MATCH-U061: a unit that the board cannot use."""
    where = f"{board.file}, unit {unit}"
    return UsageError("MATCH-U061", f"board {board.name} lists a unit that cannot be used", where, why, help_)


def memory_error(board: BoardDocument, what: str, why: str, *help_: str) -> UsageError:
    """MATCH-U062: a memory or link that is incomplete or wrong. ``what`` is "memory NAME" or "link NAME"."""
    where = f"{board.file}, {what}"
    return UsageError("MATCH-U062", f"board {board.name} has a memory or link that cannot be used", where, why, help_)


def reach_error(board: BoardDocument, unit: str, why: str, *help_: str) -> UsageError:
    """MATCH-U063: a unit that cannot reach its data."""
    where = f"{board.file}, unit {unit}"
    return UsageError("MATCH-U063", f"a unit of board {board.name} cannot reach its data", where, why, help_)


def names_error(board: BoardDocument, why: str, *help_: str) -> UsageError:
    """MATCH-U064: names that clash or are unknown."""
    return UsageError("MATCH-U064", f"board {board.name} has a name that cannot be used", board.file, why, help_)
