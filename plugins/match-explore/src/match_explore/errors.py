"""The errors of studies, one function for each code."""

from __future__ import annotations

from match_core.contract.errors import ToolError, UsageError


def study_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U110: the file is not a study."""
    return UsageError("MATCH-U110", "the study cannot be used", where, why, help_ or ("see docs/explore.md",))


def axis_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U111: an axis or one of its values does not exist."""
    return UsageError("MATCH-U111", "an axis of the study cannot be used", where, why, help_)


def model_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U112: a model or a file of it is missing."""
    return UsageError("MATCH-U112", "the study has no model", where, why, help_)


def aim_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U113: constraints or objectives that nothing can meet."""
    what = "the constraints or objectives of the study cannot be met"
    return UsageError("MATCH-U113", what, where, why, help_)


def scheduler_error(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U114: the scheduler cannot be reached, or has no worker."""
    return UsageError("MATCH-U114", "the scheduler cannot be used", where, why, help_)


def other_code(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U115: workers run another version of match or of a package."""
    return UsageError("MATCH-U115", "a worker would give other results", where, why, help_)


def cluster_lost(where: str, why: str) -> ToolError:
    """MATCH-T023: the cluster ended during the study."""
    help_ = ("run the same command again: it goes on where it stopped",)
    return ToolError("MATCH-T023", "the cluster was lost during the study", where, why, help_)
