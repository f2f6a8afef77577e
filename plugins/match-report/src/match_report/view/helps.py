"""What would make a program faster, from its report alone. Every saving is an upper limit: the work has to be done
somewhere, and the report does not hold the cost of programs that were not compiled."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from match_report.view.bottleneck import split
from match_report.view.roofline import unit_roofs
from match_report.view.timeline import computed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Smaller savings, relative to the program's cycles, are not worth a line; nor are more lines than this.
_SHARE_MIN, _LINES_MAX = 0.01, 5
_ACTIONS = {
    "float": "Compute in 8-bit integers",
    "disabled": "Use {unit}",
    "rule": "Meet the rules of {unit}",
    "no pattern": "Replace an operator that only the host runs",
    "data size": "Fix the sizes of results",
    "memory": "Make room in a memory of {unit}",
}


@dataclass(frozen=True, slots=True)
class Help:
    """``action``: what to do; ``why``: the reason in numbers; ``cycles``: modelled cycles that it saves at most;
    ``share``: these relative to the program's; ``next``: a command, or an option to add; ``layer``: index of the layer
    it is about, None for several."""

    action: str
    why: str
    cycles: int
    share: float
    next: str
    layer: int | None = None


def helps(report: Mapping[str, Any]) -> tuple[Help, ...]:
    """What saves most first; empty if nothing that the report knows saves one percent."""
    found = [*_fallbacks(report), *_concurrency(report), *_slow_layers(report), *_copies(report)]
    worth = (help_ for help_ in found if help_.share >= _SHARE_MIN)
    return tuple(sorted(worth, key=lambda help_: -help_.cycles)[:_LINES_MAX])


def _help(report: Mapping[str, Any], action: str, why: str, cycles: int, step: str, layer: int | None = None) -> Help:
    total = report["predicted_cycles"]
    return Help(action, why, min(cycles, total), min(1.0, cycles / max(1, total)), step, layer)


def _fallbacks(report: Mapping[str, Any]) -> Iterator[Help]:
    """Work that the host does although the chip has other units."""
    host = "the host" if report["target"]["host"] == "host" else report["target"]["host"]
    for row in report["fallbacks"]:
        names = row["onnx_names"]
        where = f"{names[0]} runs" if len(names) == 1 else f"{len(names)} nodes, {names[0]} among them, run"
        action = _ACTIONS.get(row["cause"], row["cause"]).format(unit=row["unit"])
        why = f"{where} on {host}. Required: {row['rule']}. Found: {row['value']}."
        yield _help(report, action, why, row["cycles"], next(iter(row["help"]), ""))


def _concurrency(report: Mapping[str, Any]) -> Iterator[Help]:
    """A concurrent program that was not kept, because the model may be wrong by more than it saves."""
    declined, total = report["declined_cycles"], report["predicted_cycles"]
    if declined is not None and declined < total:
        why = f"Modelled at {declined:,} cycles; the model may be off by {_percent(report['uncertainty'])}."
        yield _help(report, "Run units concurrently", why, total - declined, "add --concurrent")


def _slow_layers(report: Mapping[str, Any]) -> Iterator[Help]:
    """The layer that would gain most if it ran at the best rate that its unit reaches in this program."""
    roofs, best = unit_roofs(report), None
    for layer in computed(report):
        ideal = layer["macs"] / roofs[layer["unit"]] if layer["macs"] else 0.0
        gain = int(split(layer)["compute"] - ideal) if ideal else 0
        if gain > 0 and (best is None or gain > best[0]):
            best = (gain, ideal, layer)
    if best is not None:
        gain, ideal, layer = best
        used, unit = layer["schedule"]["cost"]["compute_cycles"], layer["unit"]
        why = (
            f"{_main(layer)} computes {layer['macs']:,} MACs in {used:,} cycles: {_percent(ideal / max(1, used))} of "
            f"the best rate that {unit} reaches in this program."
        )
        model, target = report["source"]["file"], report["target"]["name"]
        step = f"match explain {quote(model)} {quote(_main(layer))} -t {target}"
        yield _help(report, f"Change the layer that suits {unit} least", why, gain, step, layer["index"])


def _main(layer: Mapping[str, Any]) -> str:
    """The layer's first node in its title, which leaves out nodes that only convert values."""
    named = [name for name in layer["onnx_names"] if layer["title"].startswith(name)]
    return str(max(named, key=len, default=next(iter(layer["onnx_names"]), layer["title"])))


def _copies(report: Mapping[str, Any]) -> Iterator[Help]:
    """Copies that kernels wait for."""
    waits = [(split(layer)["copies"], layer) for layer in computed(report)]
    total = sum(cycles for cycles, _ in waits)
    if not total:
        return
    most, layer = max(waits, key=lambda entry: entry[0])
    streamed = sum(1 for cycles, layer in waits if cycles and layer["schedule"]["streamed"])
    full = [m["name"] for m in report["memories"] if m["used_bytes"] > 0.9 * m["available_bytes"]]
    why = f"Kernels wait for {total:,} cycles of copies, most of all {_main(layer)} ({most:,})."
    if streamed:
        why += f" {streamed} {'layer streams' if streamed == 1 else 'layers stream'} constants from the store."
    if full:
        why += f" More than 90 % of {' and '.join(full)} is used; smaller tensors would leave room to copy ahead."
    yield _help(report, "Hide copies behind computation", why, total, "", layer["index"])


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
