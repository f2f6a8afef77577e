"""The same network with other options: planned, and compared with the program as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.ir.titles import source_operators
from match_core.pipeline import decide, prepare

from match_report.advice.commands import command_of, quantize_command
from match_report.advice.explain import computing_first
from match_report.advice.flip import find_flip
from match_report.advice.quantised import quantised_plan
from match_report.advice.recommendation import Recommendation, reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from match_core.contract.compilation import Planned
    from match_core.contract.model import Model
    from match_core.pipeline import CompileRequest, Prepared
    from match_core.plugin.facade import Plugins

    from match_report.advice.recommendation import Kind

#: Layers below this share of the cycles are no bottleneck.
_SHARE_MIN = 0.01
_ENDS = frozenset(("QuantizeLinear", "DequantizeLinear"))


@dataclass(frozen=True)
class Variant:
    """A change that was planned: ``planned`` is the program with it, ``advice`` what it saves."""

    planned: Planned
    advice: Recommendation

    def saves(self, before: Planned, names: Iterable[str]) -> int:
        """Modelled cycles that the steps with these source nodes take less."""
        wanted = frozenset(names)
        return _cycles_of(before, wanted) - _cycles_of(self.planned, wanted)


def variants(
    report: Mapping[str, Any], planned: Planned, request: CompileRequest, plugins: Plugins, share_min: float
) -> Iterator[Variant]:
    """The changes of options that may help, and quantisation; those only that affect at least this share of the cycles.
    ``request``: as the user gave it, ``planned`` and ``report``: its sequential program."""
    total, sequential = planned.program.predicted_cycles, replace(request, execution="sequential")

    def variant(kind: Kind, cause: str, change: str, stake: int, changed: CompileRequest) -> Iterator[Variant]:
        other = _plan(replace(changed, execution="sequential"), plugins)
        if other is not None:
            saved = total - other.program.predicted_cycles
            yield Variant(other, Recommendation(kind, cause, change, command_of("check", changed), stake, total, saved))

    for fallback in (entry for entry in report["fallbacks"] if entry["share"] >= share_min):
        cause, stake = reason(fallback), fallback["cycles"]
        if fallback["cause"] == "disabled":
            unit = fallback["unit"]
            left = tuple(name for name in request.without_units if name != unit)
            only = (*request.only_units, unit) if request.only_units else ()
            changed = replace(request, without_units=left, only_units=only)
            yield from variant("disabled", cause, f"enable {unit}", stake, changed)
        elif fallback["cause"] == "float" and report["all_on_host"]:
            made = quantised_plan(planned.source, sequential, plugins)
            if made is not None:
                saved = total - made.program.predicted_cycles
                cause += " (modelled with the ranges of random samples)"
                command = quantize_command(request)
                yield Variant(
                    made, Recommendation("quantise", cause, "quantise to 8 bits", command, stake, total, saved)
                )
    ends = sum(layer["predicted_cycles"] for layer in report["layers"] if set(layer["operators"]) <= _ENDS)
    if ends >= share_min * total and ends and not request.quantized_io and not report["all_on_host"]:
        cause = f"converting float inputs and outputs takes {ends:,} cycles"
        changed = replace(request, quantized_io=True)
        yield from variant("inputs", cause, "--quantized-io", ends, changed)
    if share_min == 0 and request.precision == "exact" and not report["all_on_host"]:
        cause = "rounding as the original does takes wider arithmetic; without it, more values differ by one step"
        yield from variant("precision", cause, "--precision fast", total, replace(request, precision="fast"))


def refused(
    report: Mapping[str, Any], source: Model, request: CompileRequest, plugins: Plugins, share_min: float
) -> Iterator[Recommendation]:
    """Layers that a unit nearly took: the rule that fails, and the command that models what it costs. A change of the
    first of at least ``share_min`` of the cycles is searched: the saving is that of its costliest layer alone.
    ``source``: the network as it is loaded."""
    searched = False
    for fallback in report["fallbacks"]:
        if fallback["cause"] == "rule" and fallback["share"] >= _SHARE_MIN:
            node = fallback["onnx_names"][0]
            change, saved = f"change {node} so that {fallback['unit']} runs it", None
            if fallback["share"] >= share_min and not searched:
                step = next(layer for layer in report["layers"] if node in layer["onnx_names"])
                names = computing_first(step["onnx_names"], source_operators(source))
                flip, searched = find_flip(source, names, request, plugins).flip, True
                if flip is not None and flip.saves_cycles:
                    change, saved = flip.change(names[0]), flip.saves_cycles
                    node = names[0]
            command, total = command_of("explain", request, node), report["predicted_cycles"]
            yield Recommendation("unit", reason(fallback), change, command, fallback["cycles"], total, saved)


def fitting(
    prepared: Prepared, error: MatchError, request: CompileRequest, plugins: Plugins
) -> Iterator[Recommendation]:
    """8 bits, for a float network that does not fit without them."""
    if not any(line.startswith("match quantize") for left in prepared.model.left for line in left.help):
        return
    made = quantised_plan(prepared.source, prepared.request, plugins)
    if made is not None:
        change = f"quantise to 8 bits: it then fits and takes {made.program.predicted_cycles:,} cycles"
        yield Recommendation("quantise", error.what, change, quantize_command(request), 0, 0)


def _plan(request: CompileRequest, plugins: Plugins) -> Planned | None:
    """None if the network cannot run this way."""
    quiet = NullObserver()
    try:
        return decide(prepare(request, plugins, quiet), plugins, quiet)[0]
    except MatchError:
        return None


def _cycles_of(planned: Planned, names: frozenset[str]) -> int:
    """Modelled cycles of all tasks that compute one of these source nodes."""
    return sum(
        task.assignment.schedule.cost.total_cycles
        for task in planned.program.tasks
        if names & set(planned.model.origin(task.assignment.candidate.match.nodes))
    )
