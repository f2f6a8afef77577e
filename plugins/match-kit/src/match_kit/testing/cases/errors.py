"""Level ``errors``: limits cause errors with codes, not crashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_core.contract.errors import MatchError

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

LEVEL = "errors"
#: Size of a memory that is too small for any layer.
_TINY = 64


def _coded(subject: Subject) -> Iterator[Finding]:
    """A memory that is much too small is either unused or causes an error with a code."""
    from match_core.contract.observe import NullObserver
    from match_core.pipeline import CompileRequest, decide, prepare

    model = subject.programs[0]
    for name in sorted({subject.soc.home, *(unit.memory for unit in subject.units if unit.memory is not None)}):
        request = CompileRequest(
            model=subject.path(model), target=subject.target, memory=((name, _TINY),), execution="sequential"
        )
        try:
            decide(prepare(request, subject.plugins, NullObserver()), subject.plugins, NullObserver())
        except MatchError as error:
            if not error.code or not error.why.strip():
                yield Finding(f"memory {name} of {_TINY} bytes", "the error has no code or no reason")
        except Exception as error:  # the case looks for exactly these
            yield Finding(f"memory {name} of {_TINY} bytes", f"{type(error).__name__}: {error}")


CASES = (Case(LEVEL, "coded", "a memory that is too small causes an error with a code", _coded),)
