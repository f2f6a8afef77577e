"""The evaluator against a replay of every event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from match_core.contract.cost import Overlap, TransferCycles, TransferShape
from match_core.contract.loops import Placement, ScheduleRequest, TileLoop
from match_core.contract.workload import Dim, Operand, Workload
from match_core.schedule.timeline import cost_of
from match_core.validate.schedule import schedule_faults
from numpy.typing import NDArray

from core.tests.schedule.random_layers import RandomModel, axes, chip, hand_made, workloads
from core.tests.schedule.simulation import Simulation
from tests.examples import examples

MANY = settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class SharpModel(RandomModel):
    """Waits differ by link and direction, kernels and energies vary with every size."""

    waits: tuple[int, ...] = (5, 9, 40)

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        cycles = super().kernel_cycles(workload, tile)
        return cycles + tile[workload.dims[0].name] % 3

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        parts = super().transfer_cycles(workload, transfer)
        far, near = len(transfer.far), len(transfer.near)
        wait = self.waits[(far + near + (transfer.direction == "out")) % len(self.waits)]
        return TransferCycles(parts.issue + transfer.planes, parts.data * far % 91, np.full_like(parts.wait, wait))


class Picojoules:
    """Energy of every operation and byte."""

    def kernel_energy_pj(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float64]:
        energy = np.full(tile[workload.dims[0].name].shape, 0.5)
        for dim in workload.dims:
            energy = energy * tile[dim.name]
        return energy

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        return 2.0 * len(transfer.far) * transfer.row_bytes * transfer.rows * transfer.planes + 8.0


@st.composite
def sharp_models(draw: st.DrawFn) -> SharpModel:
    """Cost models in which every term matters."""
    return SharpModel(
        lanes=tuple(draw(st.lists(st.sampled_from([1, 2, 3, 8]), min_size=1, max_size=6))),
        launch=draw(st.sampled_from([0, 7, 60])),
        command=draw(st.sampled_from([0, 11, 150])),
        row=draw(st.integers(0, 5)),
        bytes_per_cycle=draw(st.sampled_from([1, 4, 8])),
        overlap=draw(st.sampled_from(["all", "data", "none"])),
        energy=draw(st.sampled_from([None, Picojoules()])),
        waits=tuple(draw(st.lists(st.sampled_from([0, 3, 15, 16, 70]), min_size=1, max_size=4))),
    )


@MANY
@given(data=st.data(), workload=workloads(), private=st.booleans(), store=st.booleans(), model=sharp_models())
def test_any_schedule_lasts_as_long_as_its_events_say(
    data: st.DataObject, workload: Workload, private: bool, store: bool, model: SharpModel
) -> None:
    soc, unit = chip(private, store)
    streamed = tuple(o.name for o in workload.operands if o.role == "constant") if store else ()
    request = ScheduleRequest(soc, unit, "p", workload, model, 1 << 20, streamed=streamed, staging_bytes=1 << 20)
    schedule = data.draw(hand_made(workload, soc, unit, model.overlap))
    assume(not schedule_faults(workload, schedule, unit, soc, streamed=streamed))
    simulation = Simulation(request, schedule.loops, schedule.placements)
    length = simulation.run()
    cost = cost_of(request, schedule.loops, dict(schedule.tile), schedule.placements)
    assert cost.total_cycles == length + 50
    assert (cost.compute_cycles, cost.launch_cycles) == (simulation.compute, simulation.launch)
    assert (cost.transfer_cycles, cost.sync_cycles) == (simulation.transfer, 50)
    assert cost.overlapped_cycles >= 0
    if model.energy is None:
        assert cost.energy_pj is None
    else:
        assert cost.energy_pj == pytest.approx(simulation.energy)


@dataclass(frozen=True)
class PlainModel:
    """A kernel call takes as many cycles as it has rows, plus 100; a copy 10 to issue, 1 per byte, and a wait."""

    overlap: str = "all"
    wait_in: int = 3
    wait_out: int = 4
    name: str = "plain"
    version: str = "1"
    bound: str = "exact"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return 100 + tile["Y"]

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return np.full_like(tile["Y"], 7)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        data = transfer.row_bytes * transfer.rows
        wait = self.wait_in if transfer.direction == "in" else self.wait_out
        return TransferCycles(np.full_like(data, 10), data, np.full_like(data, wait))

    def layer_cycles(self, workload: Workload) -> int:
        return 1000


def copy_of_rows(overlap: str, buffers: int, wait_in: int = 3) -> int:
    """Three tiles of 2 rows of 40 bytes in, as much out."""
    shape = axes(("Y", 6), ("C", 40))
    operands = (Operand("x", "input", shape), Operand("y", "output", shape))
    workload = Workload("copy", (Dim("Y", 6), Dim("C", 40)), operands, 0)
    soc, unit = chip(False, False)
    request = ScheduleRequest(soc, unit, "p", workload, PlainModel(overlap, wait_in), 1 << 20)
    placements = [Placement(name, "near", 1, 0, 80, buffers) for name in "xy"]
    cost = cost_of(request, [TileLoop("Y", 6, 2)], {"Y": 2, "C": 40}, placements)
    return cost.total_cycles - 1000


def test_single_buffers_by_hand() -> None:
    # First load 10 + 80 + 3; each step 7 + 102, then store and load side by side: the load ends at 109 + 20 + 80.
    step = 7 + 102 + 10 + 10 + 80 + 3
    assert copy_of_rows("all", 1) == 93 + 2 * step + (7 + 102 + 10 + 80 + 4)
    assert copy_of_rows("data", 1) == copy_of_rows("all", 1)
    assert copy_of_rows("none", 1) == 93 + 2 * (7 + 102 + 94 + 93) + (7 + 102 + 94)


def test_double_buffers_by_hand() -> None:
    # The first and second kernel hide the next load (10 + 80), the second and third the store (10 + 10 + 80).
    assert copy_of_rows("all", 2) == 93 + 3 * (7 + 102) + 10 + 80 + 4
    # Copies are issued before the launch, so their issue is not hidden.
    assert copy_of_rows("data", 2) == 93 + (10 + 109) + (20 + 109) + (10 + 109 + 10 + 80 + 4)


def test_two_buffers_where_copies_block_are_refused() -> None:
    with pytest.raises(ValueError, match="copies block"):
        copy_of_rows("none", 2)


def test_loops_must_lead_to_the_tile() -> None:
    soc, unit = chip(False, False)
    workload = Workload("w", (), (), 0)
    request = ScheduleRequest(soc, unit, "p", workload, PlainModel(), 0)
    with pytest.raises(ValueError, match="end at the tile"):
        cost_of(request, [TileLoop("Y", 6, 2)], {"Y": 3}, [])


def test_depths_must_not_fall() -> None:
    soc, unit = chip(False, True)
    workload = Workload("w", (Dim("Y", 4),), (Operand("w", "constant", axes(("Y", 4))),), 0)
    request = ScheduleRequest(soc, unit, "p", workload, PlainModel(), 0, streamed=("w",))
    way = [Placement("w", "home", 1, 0, 4, 2), Placement("w", "near", 0, 0, 4)]
    with pytest.raises(ValueError, match="depths decrease"):
        cost_of(request, [TileLoop("Y", 4, 1)], {"Y": 1}, way)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads(), st.sampled_from(["all", "data"]), st.data())
def test_nothing_goes_on_beside_copies_over_a_link_that_blocks(
    workload: Workload, overlap: Overlap, data: st.DataObject
) -> None:
    """Whatever the cost model says: the layer is the sum of its parts, as with a model that overlaps nothing."""
    soc, unit = chip(False, False)
    links = tuple(replace(link, blocking=True) for link in soc.links)
    model = data.draw(sharp_models())
    request = ScheduleRequest(replace(soc, links=links), unit, "p", workload, replace(model, overlap=overlap), 1 << 20)
    made = data.draw(hand_made(workload, soc, unit, "none"))
    loops, tile, placements = made.loops, dict(made.tile), made.placements
    plain = replace(request, soc=soc, cost_model=replace(model, overlap="none"))
    assert request.overlap == "none"
    cost = cost_of(request, loops, tile, placements)
    assert cost.overlapped_cycles == 0
    assert cost == cost_of(plain, loops, tile, placements)
    first = placements[0]
    assume(first.depth > 0 and first.memory != soc.home)
    with pytest.raises(ValueError, match="copies block"):
        cost_of(request, loops, tile, (replace(first, buffers=2), *placements[1:]))
