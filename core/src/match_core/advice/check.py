"""Whether a model can run on a target: who runs what, what was refused and why. Nothing is emitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_core.advice.nearest import obstacles
from match_core.errors import InfeasibleError, UnsupportedError
from match_core.observe import NullObserver
from match_core.pipeline import chosen_options, decide, prepare
from match_core.report.document import report_document

if TYPE_CHECKING:
    from match_core.advice.nearest import Obstacle
    from match_core.errors import MatchError
    from match_core.observe import StageObserver
    from match_core.pipeline import CompileRequest
    from match_core.plugin.host import Plugins


@dataclass(frozen=True)
class Check:
    """``error``: why the model cannot run, None where it can; then ``report`` is the report of the program as it would
    be compiled. ``obstacles``: what units cannot run at all."""

    name: str
    target: str
    error: MatchError | None
    obstacles: tuple[Obstacle, ...]
    report: dict[str, Any] | None


def check_model(request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None) -> Check:
    """Everything up to the plan. ModelError where the model cannot be read at all; that no unit runs a node, or that
    something does not fit, is an answer."""
    observer = observer or NullObserver()
    prepared = prepare(request, plugins, observer)
    found = obstacles(prepared.model, prepared.candidates)
    try:
        planned, _ = decide(prepared, plugins, observer)
    except (UnsupportedError, InfeasibleError) as error:
        return Check(prepared.model.name, prepared.soc.name, error, found, None)
    report = report_document(planned, chosen_options(request, planned.soc.preset))
    return Check(planned.model.name, planned.soc.name, None, found, report)
