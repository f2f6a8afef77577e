"""Errors meant for the user. Any other exception is a bug (exit code 70)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import ClassVar


@dataclass(frozen=True)
class MatchError(Exception):
    """An error in four parts, from which both the text and the JSON form are made.

    ``code`` is stable and documented; ``what`` failed; ``where`` names the ONNX node and source name, the file or the
    plugin; ``why`` gives the reason in numbers; ``help`` is an ordered list of changes that would help.
    """

    code: str
    what: str
    where: str
    why: str
    help: tuple[str, ...] = ()

    exit_code: ClassVar[int] = 1

    def __post_init__(self) -> None:
        Exception.__init__(self, self.what)

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.what}", f"  where: {self.where}", f"  why:   {self.why}"]
        lines += [f"  help:  {line}" for line in self.help]
        return "\n".join(lines)

    def as_json(self) -> dict[str, object]:
        """The same fields as a JSON object."""
        return {**asdict(self), "help": list(self.help), "exit_code": self.exit_code}


class UsageError(MatchError):
    """A wrong option, a missing file, an output directory that match did not write."""

    exit_code = 2


class ModelError(MatchError):
    """The model cannot be read, or is not static, or is not valid ONNX."""


class UnsupportedError(MatchError):
    """No enabled unit runs one of the operators."""


class InfeasibleError(MatchError):
    """The program does not fit a memory."""


class PluginError(MatchError):
    """A target package is broken, written for another contract, or clashes with another one."""

    exit_code = 3


class ToolError(MatchError):
    """The C compiler or a program it built failed."""


def no_room(where: str, why: str) -> ToolError:
    """MATCH-T006: the machine has no room for the work."""
    help_ = ("free disk space or memory", "set TMPDIR and MATCH_CACHE_DIR to folders on another disk")
    return ToolError("MATCH-T006", "this machine has no room for the work", where, why, help_)


def did_you_mean(name: str, known: Iterable[str], form: str = "{}") -> tuple[str, ...]:
    """A line of help with the most similar known name in ``form``; case does not count. None if no name is similar."""
    from difflib import get_close_matches  # not at start-up

    folded = {other.casefold(): other for other in known}
    close = get_close_matches(name[:80].casefold(), folded, n=1)
    return tuple(f"did you mean {form.format(folded[other])}?" for other in close)
