"""The first lines of a verb's result (how long, on which units, in which memories) and its last (the next command)."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from match_core.io.sizes import bytes_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.cli.terminal import Terminal

_MEMORY = ("name", "used_bytes", "available_bytes")


def headline(report: Mapping[str, Any], named: str | None) -> dict[str, Any]:
    """The headline (docs/cli.md) of a report document, with the cycles of the twin if it has them. ``named``: the
    target as the user named it. An estimated clock gives no time."""
    clock, twin, busy = report["target"]["clock_hz"], report["measured"], Counter[str]()
    for layer in report["layers"]:
        busy[layer["unit"]] += layer["predicted_cycles"]
    counted = twin is not None and twin["cycles"] > 0
    total, busy = (twin["cycles"], Counter(twin["units"])) if counted else (report["predicted_cycles"], busy)
    clock_hz = None if clock is None or clock["estimate"] else clock["value"]
    return {
        "model": report["name"],
        "target": report["target"]["name"],
        "target_chosen": "only one installed" if named is None else "by name",
        "cycles": total,
        "cycles_from": "twin" if counted else "model",
        "milliseconds": 1e3 * total / clock_hz if clock_hz else None,
        "clock_hz": clock_hz,
        "memories": [{key: memory[key] for key in _MEMORY} for memory in report["memories"]],
        "units": {unit: cycles / max(1, total) for unit, cycles in busy.most_common() if cycles},
    }


def show_headline(terminal: Terminal, told: Mapping[str, Any]) -> None:
    """Lines of at most 80 columns, without units below half a percent."""
    only = " (the only target installed)" if told["target_chosen"] != "by name" else ""
    text = f"{told['cycles']:,} cycles, {'modelled' if told['cycles_from'] == 'model' else 'on the twin'}"
    if told["milliseconds"] is not None:
        text = f"{told['milliseconds']:,.3g} ms at {told['clock_hz'] / 1e6:,.4g} MHz ({text})"
    units = ", ".join(f"{unit} {share:.0%}" for unit, share in told["units"].items() if share >= 0.005)
    memories = ", ".join(_used(m["name"], m["used_bytes"], m["available_bytes"]) for m in told["memories"])
    terminal.paragraph(f"{told['model']} on {told['target']}{only}: {text}", style="bold")
    terminal.paragraph(f"  {units}; {memories}", style="bold")


def command_line(*words: object) -> str:
    """A command line of match, quoted for shells."""
    return shlex.join(("match", *map(str, words)))


def show_next(terminal: Terminal, following: str | None) -> None:
    """The last line: the next command, never wrapped."""
    if following:
        terminal.line(f"next: {following}")


def _used(name: str, used: int, available: int) -> str:
    """One word for line breaks."""
    return f"{name} {bytes_text(used)} of {bytes_text(available)}".replace(" ", "\xa0")
