"""Spatial unrolling and the cost model made of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.cost import TransferShape
from match_core.hardware import Link
from match_core.schedule.engine import schedule
from match_core.schedule.loops import LoopSchedule, ScheduleRequest
from match_core.schedule.spatial import (
    SpatialCost,
    SpatialEnergy,
    Unrolled,
    commands,
    padded_sizes,
    turns_of,
    unroll,
)
from match_core.schedule.workload import Dim, Operand, Workload

from core.tests.schedule.random_layers import axes, chip


@pytest.mark.parametrize(
    ("size", "lanes", "expected"),
    [
        (32, 16, Unrolled(16, 2)),
        (24, 16, Unrolled(12, 2)),  # fewer lanes, as many turns
        (25, 16, Unrolled(16, 2)),  # 5 lanes would take 5 turns: padded
        (7, 16, Unrolled(7, 1)),
        (17, 16, Unrolled(16, 2)),
        (12, 1, Unrolled(1, 12)),
    ],
)
def test_dimensions_on_lanes(size: int, lanes: int, expected: Unrolled) -> None:
    assert unroll(size, lanes) == expected


@given(size=st.integers(1, 300), lanes=st.integers(1, 40))
def test_the_rule_word_by_word(size: int, lanes: int) -> None:
    divisor = max(d for d in range(1, lanes + 1) if size % d == 0)
    turns = -(-size // lanes)
    found = unroll(size, lanes)
    assert found == (Unrolled(divisor, turns) if size // divisor == turns else Unrolled(lanes, turns))
    sizes = np.array([size])
    assert (turns_of(sizes, lanes)[0], padded_sizes(sizes, lanes)[0]) == (found.turns, found.padded)


def test_sizes_and_lanes_are_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        unroll(0, 4)


def product(unrolled: bool = True) -> Workload:
    operands = (
        Operand("x", "input", axes(("N", 6), ("C", 20))),
        Operand("w", "constant", axes(("K", 10), ("C", 20))),
        Operand("y", "output", axes(("N", 6), ("K", 10))),
    )
    dims = (Dim("N", 6), Dim("K", 10), Dim("C", 20, tileable=False))
    return Workload("product", dims, operands, 1200, unroll=(("K", 8), ("C", 16)) if unrolled else ())


def test_cycles_and_energy_of_a_kernel_call() -> None:
    soc, _ = chip(False, False)
    tile = {"N": np.array([6, 1]), "K": np.array([10, 5]), "C": np.array([20, 20])}
    cost = SpatialCost(soc, cycles_per_turn=3, launch=9, layer=70)
    assert cost.kernel_cycles(product(), tile).tolist() == [3 * 6 * 2 * 2, 3 * 1 * 1 * 2]
    assert cost.launch_cycles(product(), tile).tolist() == [9, 9]
    assert cost.layer_cycles(product()) == 70
    energy = SpatialEnergy(0.5, (("home", "near", 2.0),))
    # 10 on 8 lanes: 5 lanes twice; 20 on 16 lanes: 10 lanes twice.
    assert energy.kernel_energy_pj(product(), tile).tolist() == [600.0, 50.0]
    assert energy.kernel_energy_pj(replace(product(), macs=0), tile).tolist() == [0.0, 0.0]


def shape(row_bytes: int, rows: int = 1, planes: int = 1) -> TransferShape:
    return TransferShape("in", np.array([row_bytes]), np.array([rows]), np.array([planes]), "home", "near")


def test_copies_follow_their_link() -> None:
    soc, _ = chip(False, False)
    link = Link("dma", "near", "home", 8.0, setup_cycles=30, chunk_cycles=2)
    cost = SpatialCost(replace(soc, links=(link,)))
    parts = cost.transfer_cycles(product(), shape(20, 3, 2))
    assert (parts.issue[0], parts.data[0], parts.wait[0]) == (30, 15 + 12, 0)
    energy = SpatialEnergy(0.5, (("home", "near", 2.0),))
    assert energy.transfer_energy_pj(product(), shape(20, 3, 2)).tolist() == [240.0]
    with pytest.raises(ValueError, match="no link joins near and home"):
        SpatialCost(replace(soc, links=())).transfer_cycles(product(), shape(4))


@pytest.mark.parametrize(
    ("max_dims", "max_bytes", "expected"),
    [(2, None, 1), (1, None, 4), (0, None, 20), (2, 100, 4), (1, 50, 8), (0, 10, 40)],
)
def test_commands_of_a_copy(max_dims: int, max_bytes: int | None, expected: int) -> None:
    link = Link("dma", "near", "home", 8.0, max_dims=max_dims, max_bytes=max_bytes)
    assert commands(link, shape(20, 5, 4)).tolist() == [expected]


def test_strides_that_are_not_used_need_no_command() -> None:
    link = Link("dma", "near", "home", 8.0, max_dims=1)
    assert commands(link, shape(20, 5, 1)).tolist() == [1]
    assert commands(link, shape(20, 1, 4)).tolist() == [1]


def test_a_unit_described_by_data_alone_is_scheduled() -> None:
    soc, unit = chip(True, False)
    energy = SpatialEnergy(0.5, (("home", "near", 2.0), ("home", "weights", 3.0)))
    request = ScheduleRequest(soc, unit, "p", product(), SpatialCost(soc, energy=energy), 200)
    latency = schedule(request)
    least = schedule(replace(request, objective="energy"))
    assert isinstance(latency, LoopSchedule) and isinstance(least, LoopSchedule)
    assert latency.cost.energy_pj is not None and least.cost.energy_pj is not None
    assert least.cost.energy_pj <= latency.cost.energy_pj
    # Everything moves once, and no operation is on padding.
    assert least.cost.energy_pj == 0.5 * 1200 + 2.0 * (120 + 60) + 3.0 * 200
