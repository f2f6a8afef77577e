"""Checks whether a model can run on a target: which unit runs what, and why units refuse nodes. Emits nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import InfeasibleError, UnsupportedError
from match_core.contract.observe import NullObserver
from match_core.pipeline import chosen_options, decide, prepare
from match_core.summary.document import report_document

from match_report.advice.nearest import obstacles
from match_report.advice.recommendation import ordered
from match_report.advice.variants import fitting, refused, variants

if TYPE_CHECKING:
    from match_core.contract.errors import MatchError
    from match_core.contract.observe import StageObserver
    from match_core.pipeline import CompileRequest
    from match_core.plugin.facade import Plugins

    from match_report.advice.nearest import Obstacle
    from match_report.advice.recommendation import Recommendation


#: Changes of options are planned if this share of the cycles depends on them: each plan takes as long as the first.
SHARE_MIN = 0.05


@dataclass(frozen=True)
class Check:
    """``error``: why the model cannot run, None if it can; then ``report`` is the report of the program that
    ``match compile`` would write. ``obstacles``: nodes that a unit cannot run at all. ``quantised_cycles``: modelled
    cycles in 8 bits of a network that is float and runs on the host alone; None for others, or if not known.
    ``recommendations``: by what they save."""

    name: str
    target: str
    error: MatchError | None
    obstacles: tuple[Obstacle, ...]
    report: dict[str, Any] | None
    quantised_cycles: int | None = None
    recommendations: tuple[Recommendation, ...] = ()


def check_model(request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None) -> Check:
    """Run all stages up to the plan of a sequential program. ModelError if the model cannot be read; an unsupported
    node or a program that does not fit is an answer, not an error."""
    observer = observer or NullObserver()
    prepared = prepare(replace(request, execution="sequential"), plugins, observer)
    found = obstacles(prepared.model, prepared.candidates)
    try:
        planned, _ = decide(prepared, plugins, observer)
    except (UnsupportedError, InfeasibleError) as error:
        advice = tuple(fitting(prepared, error, request, plugins))
        return Check(prepared.model.name, prepared.soc.name, error, found, None, None, advice)
    report = report_document(planned, chosen_options(request, planned.soc))
    tried = tuple(variants(report, planned, request, plugins, SHARE_MIN))
    in_8_bits = [entry.planned.program.predicted_cycles for entry in tried if entry.advice.kind == "quantise"]
    #: Float layers of a network that should be quantised are not worth a search.
    moves = refused(report, prepared.source, request, plugins, 2 if in_8_bits else SHARE_MIN)
    advice = ordered((*(entry.advice for entry in tried), *moves))
    return Check(planned.model.name, planned.soc.name, None, found, report, next(iter(in_8_bits), None), advice)
