"""Charts of the benchmarks as SVG. The same figures give the same bytes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import OUTPUT

#: Fixed ids, text as text: nothing depends on the run or on the machine's fonts.
_STYLE = {
    "svg.hashsalt": "match",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.4,
}
_MISSING = "no charts: install matplotlib with pip install -r benchmarks/requirements.txt\n"


@dataclass(frozen=True, slots=True)
class Axes:
    """Title of the chart and of its axes."""

    title: str
    x: str
    y: str


def lines(
    name: str, axes: Axes, series: Mapping[str, Sequence[tuple[float, float]]], folder: Path = OUTPUT
) -> Path | None:
    """One curve per series of (x, y) points, both axes logarithmic. None, with a message, where there is no
    matplotlib."""
    pyplot = _pyplot()
    if pyplot is None:
        return None
    with pyplot.rc_context(_STYLE):
        figure, plot = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
        for label, points in series.items():
            xs, ys = zip(*points, strict=True)
            plot.plot(xs, ys, label=label, marker="o", markersize=3, linewidth=1.2)
        plot.set_xscale("log", base=2)
        ticks = sorted({x for points in series.values() for x, _ in points})
        plot.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks], rotation=45)
        plot.minorticks_off()
        return _save(pyplot, figure, plot, name, axes, folder)


def bars(name: str, axes: Axes, groups: Sequence[str], series: Mapping[str, Sequence[float]]) -> Path | None:
    """Groups of bars, one of every series in each, with a logarithmic axis. Two series that follow each other share a
    colour, the second one is hatched: ours and the published one."""
    pyplot = _pyplot()
    if pyplot is None:
        return None
    width = 0.8 / len(series)
    with pyplot.rc_context(_STYLE):
        figure, plot = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
        for index, (label, heights) in enumerate(series.items()):
            left = [group - 0.4 + (index + 0.5) * width for group in range(len(groups))]
            style = {"alpha": 0.5, "hatch": "////"} if index % 2 else {}
            plot.bar(left, heights, width, label=label, color=f"C{index // 2}", **style)
        plot.set_xticks(range(len(groups)), groups)
        return _save(pyplot, figure, plot, name, axes)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        sys.stderr.write(_MISSING)
        return None
    matplotlib.use("svg")
    from matplotlib import pyplot

    return pyplot


def _save(pyplot: Any, figure: Any, plot: Any, name: str, axes: Axes, folder: Path = OUTPUT) -> Path:
    plot.set(title=axes.title, xlabel=axes.x, ylabel=axes.y)
    plot.set_yscale("log")
    plot.legend(fontsize=7, ncols=2)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    return path
