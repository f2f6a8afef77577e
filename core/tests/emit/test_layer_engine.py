"""The engine's schedules, emitted and executed: every output element once, no copy or wait missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.cost import Bound, Overlap, TransferCycles, TransferShape
from match_core.contract.geometry import far_bytes
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Workload
from match_schedule.engine import schedule
from numpy.typing import NDArray

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import PRIVATE_UNIT, SOC, UNIT
from core.tests.emit.workloads import MAKERS


@dataclass(frozen=True)
class FlatCost:
    """Any cost will do: what is tested is that the loops are right."""

    overlap: Overlap
    name: str = "flat"
    version: str = "1"
    bound: Bound = "fitted"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        total = np.ones_like(next(iter(tile.values())))
        for size in tile.values():
            total = total * size
        return total

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.full_like(next(iter(tile.values())), 5)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        data = transfer.planes * transfer.rows * (1 + transfer.row_bytes // 4)
        return TransferCycles(2 * transfer.planes, data, 0 * data)

    def layer_cycles(self, workload: Workload) -> int:
        return 0


@dataclass(frozen=True)
class Wish:
    """A problem by kind and seed, the share of its bytes that the unit's memory has, and how constants travel."""

    kind: str
    seed: int
    share: float
    overlap: Overlap
    streamed: bool
    private: bool


WISHES = st.builds(
    Wish,
    kind=st.sampled_from(sorted(MAKERS)),
    seed=st.integers(0, 10_000),
    share=st.floats(0.1, 1.5),
    overlap=st.sampled_from(("all", "data", "none")),
    streamed=st.booleans(),
    private=st.booleans(),
)


def answer(wish: Wish) -> lp.Case | None:
    """The engine's schedule; None where nothing fits."""
    problem = MAKERS[wish.kind](np.random.default_rng(wish.seed))
    workload = problem.workload
    whole = sum(far_bytes(operand) for operand in workload.operands)
    constants = [operand for operand in workload.operands if operand.role == "constant"]
    request = ScheduleRequest(
        soc=SOC,
        unit=PRIVATE_UNIT if wish.private and "weight" in problem.operands else UNIT,
        pattern="p",
        workload=workload,
        cost_model=FlatCost(wish.overlap),
        memory_bytes=max(64, int(whole * wish.share)),
        streamed=tuple(operand.name for operand in constants) if wish.streamed else (),
        staging_bytes=sum(far_bytes(operand) for operand in constants),
    )
    found = schedule(request)
    if not isinstance(found, LoopSchedule):
        return None
    return lp.Case(problem, found, asynchronous=wish.overlap == "all", blocking=wish.overlap == "none")


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(wishes=st.lists(WISHES, min_size=12, max_size=20))
def test_schedules_of_the_engine_compute_the_layer(wishes: list[Wish]) -> None:
    cases = [case for case in map(answer, wishes) if case is not None]
    with TemporaryDirectory() as folder:
        lp.check(Path(folder), cases)


def test_the_engine_uses_what_is_tested() -> None:
    """Among these schedules are loops, double buffers, buffers larger than a tile, staging areas and cut sums."""
    random = np.random.default_rng(0)
    cases = []
    for seed in range(40):
        share, kind = float(random.uniform(0.1, 0.8)), ("conv2d", "sum2d", "sum2d")[seed % 3]
        cases.append(answer(Wish(kind, seed, share, "all", bool(seed % 2), False)))
    texts = [lp.layer_text(f"layer_{number}", case) for number, case in enumerate(cases) if case is not None]
    assert len(texts) >= 30
    for part in ("load_ahead", "before", "store_copy", "tile->first"):
        assert any(part in text for text in texts), part
