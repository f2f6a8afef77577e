"""Emitted layers, executed: every output element once, halos and remainders right, no copy or wait missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from match_core.cost import TransferCycles, TransferShape
from match_core.hardware import Link, Memory, Soc, Unit
from match_core.schedule.engine import schedule
from match_core.schedule.loops import LoopSchedule, ScheduleRequest
from match_core.schedule.workload import Workload
from numpy.typing import NDArray

from core.tests.emit import layer_program as lp

UNIT = Unit("array", "test unit", memory="near")
SOC = Soc(
    "chip",
    "test chip",
    "array",
    ("array",),
    (Memory("near", 1, lp.NEAR_BYTES, 8), Memory("home", 2, 1 << 20)),
    (Link("dma", "near", "home", 8.0),),
    "home",
)


class FlatCost:
    """Any cost will do: what is tested is that the loops are right."""

    name, version, bound, overlap, energy = "flat", "1", "fitted", "all", None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        total = np.ones_like(next(iter(tile.values())))
        for size in tile.values():
            total = total * size
        return total

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.full_like(next(iter(tile.values())), 50)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        data = transfer.planes * transfer.rows * (1 + transfer.row_bytes // 8)
        return TransferCycles(20 * transfer.planes, data, 0 * data)

    def layer_cycles(self, workload: Workload) -> int:
        return 0


def working_set(workload: Workload) -> int:
    """Bytes of all operands whole."""
    return sum(int(np.prod([a.size for a in o.axes])) * o.element_bits // 8 + 8 for o in workload.operands)


@pytest.mark.parametrize("make", [lp.conv_case_workload, lp.add_case_workload], ids=["conv", "add"])
@pytest.mark.parametrize("seed", range(3))
def test_emitted_loops_compute_the_layer(make: object, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    cases, cut = [], 0
    while len(cases) < 40:
        workload, operands, expected = make(random)  # type: ignore[operator]
        budget = max(64, int(working_set(workload) * random.uniform(0.1, 1.2)))
        found = schedule(ScheduleRequest(SOC, UNIT, "p", workload, FlatCost(), budget))
        if not isinstance(found, LoopSchedule):
            continue
        assert found.memory_bytes <= budget
        cut += bool(found.loops)
        cases.append(lp.Case(workload, found, operands, expected))
    assert cut >= 15  # most budgets force tiles
    lp.write_program(cases, tmp_path)
    outputs = lp.run_program(tmp_path)
    assert len(outputs) == len(cases)
    for number, (case, output) in enumerate(zip(cases, outputs, strict=True)):
        np.testing.assert_array_equal(output, case.expected.reshape(-1), f"case {number}: {case.schedule.loops}")
