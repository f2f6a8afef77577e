"""Checks whether a model can run on a target: which unit runs what, and why units refuse nodes. Emits nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import InfeasibleError, UnsupportedError
from match_core.contract.observe import NullObserver
from match_core.pipeline import chosen_options, decide, prepare
from match_core.summary.document import report_document

from match_report.advice.nearest import obstacles

if TYPE_CHECKING:
    from match_core.contract.errors import MatchError
    from match_core.contract.observe import StageObserver
    from match_core.pipeline import CompileRequest
    from match_core.plugin.facade import Plugins

    from match_report.advice.nearest import Obstacle


@dataclass(frozen=True)
class Check:
    """``error``: why the model cannot run, None if it can; then ``report`` is the report of the program that
    ``match compile`` would write. ``obstacles``: nodes that a unit cannot run at all. ``quantised_cycles``: modelled
    cycles in 8 bits of a network that is float and runs on the host alone; None for others, or if not known."""

    name: str
    target: str
    error: MatchError | None
    obstacles: tuple[Obstacle, ...]
    report: dict[str, Any] | None
    quantised_cycles: int | None = None


def check_model(request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None) -> Check:
    """Run all stages up to the plan. ModelError if the model cannot be read; an unsupported node or a program that does
    not fit is an answer, not an error."""
    observer = observer or NullObserver()
    prepared = prepare(request, plugins, observer)
    found = obstacles(prepared.model, prepared.candidates)
    try:
        planned, _ = decide(prepared, plugins, observer)
    except (UnsupportedError, InfeasibleError) as error:
        return Check(prepared.model.name, prepared.soc.name, error, found, None)
    report = report_document(planned, chosen_options(request, planned.soc))
    cycles = None
    if report["all_on_host"] and any(fallback["cause"] == "float" for fallback in report["fallbacks"]):
        from match_report.advice.quantised import quantised_cycles

        cycles = quantised_cycles(planned.source, request, plugins)
    return Check(planned.model.name, planned.soc.name, None, found, report, cycles)
