"""GAP9's model of copies and NE16 tiles against cycles of the open simulator (``../shared/data/referee/issue.csv``).

The columns with the runtime's statics in L1, the fourth of four calls in a row. Tiles of stride 2 and those that the
cores requantise are left out: the runtime has other code for them since these rows were measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from match_gap9 import formulas_dma
from match_gap9.ne16 import formulas as ne16_formulas
from rich.table import Table

Row = Mapping[str, str]
_COPIES = MappingProxyType({"copy_in": "in", "copy_out": "out"})
_TILES: Mapping[str, ne16_formulas.Operation] = MappingProxyType(
    {
        "ne16_conv3x3_tile": "conv3x3",
        "ne16_conv1x1_tile": "conv1x1",
        "ne16_depthwise_tile": "depthwise3x3",
        "ne16_linear_tile": "conv1x1",
    }
)


@dataclass(frozen=True)
class Issue:
    """A row: cycles until the call returns, and until the copy or job has ended, modelled and measured."""

    name: str
    issue: tuple[int, int]
    total: tuple[int, int]


def issues(timing: Mapping[str, int], rows: list[dict[str, str]]) -> Iterator[Issue]:
    """The rows that the model has a formula for."""
    for row in rows:
        found = _copy(timing, row) or _tile(timing, row)
        if found is not None:
            yield Issue(
                row["name"],
                (found[0], int(row["l1_next_issue"])),
                (found[0] + found[1], int(row["l1_next_total"])),
            )


def _sizes(row: Row) -> tuple[int, int, int, int]:
    return int(row["p0"]), int(row["p1"]), int(row["p2"]), int(row["p3"])


def _copy(timing: Mapping[str, int], row: Row) -> tuple[int, int] | None:
    """Issue of a copy, and what follows until its wait is over."""
    direction = _COPIES.get(row["name"].rpartition("_")[0])
    if direction is None:
        return None
    planes, rows, row_bytes, _ = _sizes(row)
    issue, data, wait = formulas_dma.dma_copy(
        timing, planes=planes, rows=rows, row_bytes=row_bytes, direction="in" if direction == "in" else "out"
    )
    return int(issue), int(data) + int(wait)


def _tile(timing: Mapping[str, int], row: Row) -> tuple[int, int] | None:
    """Issue of a tile of NE16, and its job: the scale has 32 bits, as in all our programs."""
    operation = _TILES.get(row["name"])
    if operation is None:
        return None
    y, x, k, c = _sizes(row)
    quant = ne16_formulas.Ne16Quant(weight_bits=8, scale_bits=32, bias=True)
    job = ne16_formulas.ne16_layer(
        timing,
        operation,
        out_y=y,
        out_x=x,
        k_out=k,
        k_in=k if operation == "depthwise3x3" else c,
        program=False,
        quant=quant,
    )
    return timing["ne16_words_cycles"] + timing["ne16_program_cycles"], int(job)


def issue_table(found: list[Issue]) -> Table:
    """Median and worst error by name."""
    table = Table("call", "rows", "issue: median", "worst", "until the end: median", "worst", title="issue of work")
    for name in dict.fromkeys(issue.name for issue in found):
        rows = [issue for issue in found if issue.name == name]
        cells = []
        for pairs in ([issue.issue for issue in rows], [issue.total for issue in rows]):
            off = [abs(modelled / measured - 1) for modelled, measured in pairs]
            cells += [f"{100 * f(off):.1f} %" for f in (np.median, np.max)]
        table.add_row(name, str(len(rows)), *cells)
    return table
