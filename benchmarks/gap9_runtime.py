"""What the changes of GAP9's runtime save: ``python -m benchmarks.gap9_runtime``.

Modelled cycles of the MLPerf Tiny networks, one task after another, with the figures of the preset ``open-sdk`` and
with those of the runtime before the changes: statics in L2, ``steps[]`` cleared byte by byte, all words of every NE16
job of stride 2, kernels without the patches. The earlier figures are medians of ``../shared/data/referee`` (GVSoC, not
silicon), where the simulated totals of ResNet8 before and after are too (``gains.csv``).
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator

from match_core.contract.passes import Precision
from match_core.deploy.figures import Figures
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_gap9.constants import values
from match_gap9.hardware import hardware

from benchmarks.gap9_simulator import PRESET, referee_rows
from benchmarks.runs import NETWORKS, PRECISIONS, TARGET, network, told
from benchmarks.tables import PAGE, Column, Table

COMMAND = "benchmarks.gap9_runtime"
#: Cycles of a layer to clear its steps: about 1200 (referee's README, "steps_array_not_zeroed").
CLEARING_CYCLES = 1200
#: Kernels with a patch, and how the names of their figures begin.
PATCHED = {"add": "sdk_add_", "avgpool": "sdk_avgpool_", "ne16_requant": "sdk_requant_", "wide_conv2d": "sdk_wide_"}


def _issue(column: str, chosen: Callable[[dict[str, str]], bool]) -> list[int]:
    return [int(row[column]) for row in referee_rows("issue.csv") if chosen(row)]


def _copies(dimensions: int) -> int:
    """Median cycles until the call of a copy returns, statics in L2."""
    return round(statistics.median(_issue("l2_next_issue", lambda r: r["name"].endswith(f"_{dimensions}d"))))


def _one(column: str, name: str, index: int = 0) -> int:
    return _issue(column, lambda r: r["name"] == name)[index]


def earlier() -> Iterator[tuple[str, int]]:
    """Figures of the runtime before the changes, by name."""
    now = values(PRESET)
    jobs = next(r for r in referee_rows("issue.csv") if (r["name"], r["p0"]) == ("ne16_depthwise_s2_tile", "12"))
    program = int(jobs["l2_next_total"]) // 36
    planes = next(r for r in referee_rows("issue.csv") if (r["name"], r["p0"]) == ("copy_in_3d", "32"))
    wait = (_one("l2_next_total", "copies_in_1d_x8") - _one("l2_next_issue", "copies_in_1d_x8")) // 8
    yield "dma_api_cycles", _copies(1)
    yield "dma_rows_cycles", _copies(2) - _copies(1)
    yield "dma_plane_issue_cycles", (int(planes["l2_next_issue"]) - _copies(2)) // 31
    yield "dma_wait_in_cycles", wait
    yield "dma_wait_out_cycles", wait
    yield "team_offload_cycles", now["team_offload_cycles"] + _one("l2_next_issue", "team_empty") - 18
    yield "ne16_program_cycles", program
    yield "ne16_word_cycles", 0
    yield "ne16_words_cycles", _one("l2_first_issue", "ne16_conv3x3_tile") - program
    yield "step_cycles", now["step_cycles"] + CLEARING_CYCLES
    for kernel, prefix in PATCHED.items():
        rows = [row for row in referee_rows("kernels.csv") if row["kernel"] == kernel and row["x_patched"]]
        slower = statistics.median(int(row["x"]) / int(row["x_patched"]) for row in rows)
        yield from ((name, round(slower * value)) for name, value in now.items() if name.startswith(prefix))


def cycles(name: str, precision: Precision, figures: Figures | None, plugins: Plugins) -> int:
    """Modelled cycles of a network."""
    model, _ = network(name)
    request = CompileRequest(model, TARGET, precision=precision, execution="sequential", figures=figures)
    return compile_model(request, plugins).compilation.program.predicted_cycles


def table(plugins: Plugins) -> Table:
    """Both programs of every network and precision, beside the simulator's where it ran both."""
    known = {(unit.name, c.name) for unit in hardware().units for c in unit.constants_of(PRESET)}
    found = [(unit, name, value) for unit in ("cluster", "ne16") for name, value in earlier()]
    before = Figures("before", TARGET, PRESET, tuple(row for row in found if row[:2] in known))
    gains = {(r["network"], r["precision"]): r for r in referee_rows("gains.csv") if r["patch"].startswith("add+pool")}
    rows = []
    for name in NETWORKS:
        for precision in PRECISIONS:
            old, new = (cycles(name, precision, figures, plugins) for figures in (before, None))
            simulated = gains.get((name, precision))
            saved = None if simulated is None else int(simulated["saved_permille_of_base_l2"]) / 1000
            rows.append((name, precision, old, new, 1 - new / old, saved))
            told(f"{name}, {precision}: done")
    columns = (
        Column("network"),
        Column("precision"),
        Column("before, modelled cycles", ",d"),
        Column("now, modelled cycles", ",d"),
        Column("saved, modelled", ".1%"),
        Column("saved, simulated on the same program", ".1%"),
    )
    about = f"*preset {PRESET}, one task after another, `python -m {COMMAND}`*"
    return Table("gap9-runtime", about, columns, tuple(rows))


def main(arguments: list[str]) -> None:
    """Prints the table; ``--update`` puts it into the page."""
    made = table(Plugins.load())
    sys.stdout.write(f"{made.markdown()}\n")
    if "--update" in arguments:
        made.put(PAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
