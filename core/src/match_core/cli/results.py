"""Cycles, nodes and memories in JSON and in tables, the same for every verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from match_core.cli.tables import Table, shortened
from match_core.io.sizes import bytes_text

if TYPE_CHECKING:
    from pathlib import Path

    from match_core.cli.terminal import Terminal


def modelled(title: str, preset: str) -> str:
    """The title of a table that shows cycles, with the preset that they come from."""
    return f"{title} (preset {preset})" if preset else title


def energy_line(energy: Mapping[str, Any]) -> str:
    """The modelled energy, or the units that publish no figures."""
    if energy["pj"] is None:
        return f"energy: no figures are published for {', '.join(energy['unpublished'])}"
    return f"energy: {energy['pj'] / 1e6:,.3f} uJ (modelled)"


def side_by_side_lines(document: Mapping[str, Any]) -> list[str]:
    """The gain of concurrent units and the gap to the lower bound, or the concurrent program that was declined."""
    declined = document["declined_cycles"]
    if not document["queues"] and declined is None:
        return []
    if declined is not None:
        gain = f"{1 - declined / document['predicted_cycles']:.1%}, is smaller than the uncertainty of the model"
        return [f"concurrent: {declined:,} cycles (modelled); the gain, {gain}; --concurrent compiles it"]
    cycles, before = document["predicted_cycles"], document["sequential_cycles"]
    line = f"concurrent: {cycles:,} cycles (modelled)"
    if before is not None:
        line = f"concurrent: {cycles:,} cycles, sequential: {before:,} (modelled), gain {1 - cycles / before:.1%}"
    bounds = document["bounds"]
    if bounds is None:
        return [line]
    lower = max(bounds["work"], bounds["path"])
    return [line, f"lower bound {lower:,} cycles, gap {document['gap']:.1%}"]


def memory_table(memory: Mapping[str, Mapping[str, int]]) -> Table:
    """The used part of each memory."""
    rows = [
        (name, bytes_text(use["used"]), bytes_text(use["available"]), f"{use['used'] / use['available']:.1%}")
        for name, use in memory.items()
    ]
    return Table("memory", ("name", "used", "available", "share"), rows, frozenset({"used", "available", "share"}))


#: Fallbacks below this share of the cycles, and those after the first ones, share a line.
_SHARE_MIN, _FALLBACKS_MAX = 0.01, 5


def show_fallbacks(terminal: Terminal, document: Mapping[str, Any], model: Path) -> None:
    """What runs on the host, one line for each cause; a warning if nothing runs elsewhere."""
    first = next((entry["onnx_names"][0] for entry in document["fallbacks"] if entry["onnx_names"]), "")
    rows = document.get("nodes") or document.get("layers") or ()
    host = next((row["unit"] for row in rows if first in row["onnx_names"]), "host").replace("host", "the host")
    file, path = f" {quote(model.name)} ", f" {quote(str(model))} "  # a report does not name the folder
    helped = ([f"{line} ".replace(file, path).rstrip() for line in entry["help"]] for entry in document["fallbacks"])
    found = [{**entry, "help": lines} for entry, lines in zip(document["fallbacks"], helped, strict=True)]
    large = [entry for entry in found if entry["share"] >= _SHARE_MIN][:_FALLBACKS_MAX]
    rest = found[len(large) :]
    if found:
        terminal.line(f"on {host} and not on another unit (modelled)")
    for entry in large:
        names = entry["onnx_names"] or ["inserted"]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        terminal.paragraph(f"{_amount([entry])}: {_cause(entry)} ({shortened(names[0])}{more})", entry["help"])
    if rest:
        command = f"match check {model} -t {document['target']} --json"
        terminal.paragraph(f"{_amount(rest)}: {'other' if large else 'small'} causes", [command])
    if document["all_on_host"]:
        total = f"{document['predicted_cycles']:,} cycles (modelled)"
        text = f"warning: the whole network runs on {host}, {total}: {_cause(found[0])}"
        terminal.paragraph(text, found[0]["help"], warning=True)


def _cause(entry: Mapping[str, Any]) -> str:
    wants = f"{entry['unit']} requires: " if entry["cause"] in ("rule", "disabled") else ""
    return f"{wants}{entry['rule']}, but {entry['value']}"


def _amount(entries: Sequence[Mapping[str, Any]]) -> str:
    count = sum(len(entry["onnx_names"]) for entry in entries)
    cycles, share = (sum(entry[key] for entry in entries) for key in ("cycles", "share"))
    return f"{count:,} node{'s' if count > 1 else ''}, {cycles:,} cycles ({share:.1%})"
