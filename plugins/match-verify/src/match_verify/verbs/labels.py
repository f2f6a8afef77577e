"""How well the outputs fit the labels, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import Terminal

from match_verify.judge import SQNR_DB

if TYPE_CHECKING:
    from match_verify.labels import LabelCheck, Score
    from match_verify.layers import LayerNoise

#: What labels of a kind are, and the words for the shares of those that are right.
_WORDS = {
    "classes": ("samples", "top-1", "top-5"),
    "positions": ("positions", "right class", "in the five best"),
    "labels": ("labels", "right", ""),
    "values": ("values", "", ""),
}


def show_labels(terminal: Terminal, checks: Sequence[LabelCheck], fall: LayerNoise | None) -> None:
    """A table for each output of a program; then the layer where it and the original model part."""
    for check in checks:
        show_check(terminal, check, ("original model", "program"))
    terminal.line(_where(fall))


def show_check(terminal: Terminal, check: LabelCheck, sides: tuple[str, str]) -> None:
    """A table of one output. ``sides``: words for the two that are compared."""
    what, *_ = _WORDS[check.kind]
    before, after = _measures(check, check.original), _measures(check, check.program)
    rows = [(name, _text(first), _text(second)) for (name, first), (_, second) in zip(before, after, strict=True)]
    title = f"output {check.name} against {check.count:,} labels ({what})"
    terminal.table(Table(title, ("measure", *sides), rows, frozenset(sides)))
    if check.same is not None:
        terminal.line(f"both choose the same for {check.same:.1%} of the {what}")


def _where(fall: LayerNoise | None) -> str:
    if fall is None:
        return "no layer of the program differs from the original model"
    place = f"{shortened(', '.join(fall.nodes))}: {fall.sqnr_db:.1f} dB"
    if fall.sqnr_db < SQNR_DB:
        return f"they part at {place}"
    drop = "" if not fall.drop_db else f", {fall.drop_db:.1f} dB below the layers that it reads"
    return f"no layer is below {SQNR_DB:g} dB; the largest drop is at {place}{drop}"


def _measures(check: LabelCheck, score: Score) -> list[tuple[str, float | None]]:
    _, first, five = _WORDS[check.kind]
    if check.kind == "values":
        return [("mean absolute error", score.mean_abs), ("root mean square error", score.rms)]
    shares = [(first, score.top1), (five, score.top5)]
    return [(f"{name} %", None if share is None else 100 * share) for name, share in shares if share is not None]


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
