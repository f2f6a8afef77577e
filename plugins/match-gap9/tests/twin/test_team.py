"""The team beside the controller that offloads to it: time, order of work, faults."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from clock_names import CLUSTER, CONTROL, clocks
from match_gap9 import formulas
from match_gap9.cluster import counted
from match_gap9.constants import values
from numpy.typing import NDArray

from .conftest import Driver, Script

Dumped = Callable[..., NDArray[np.generic]]


def test_the_team_runs_beside_the_controller(driver: Driver, script: Script) -> None:
    timing = values("as-published")
    script.add("config 8")
    script.add("offload own_add 0 1000 2000 1 1 0 1 800")
    script.add("clocks")
    script.add("spend", CONTROL, 300)
    script.add("join")
    script.add("clocks")
    work = int(formulas.team_kernel(timing)) + int(counted.add(timing, elements=800))
    assert work > 300
    started = 1000 + formulas.team_launch(timing)
    for mode in ("eager", "lazy"):
        early, late = (clocks(line) for line in driver.run(f"mode {mode}\n" + script.text()))
        assert early[CONTROL] == started
        assert late[CONTROL] == late[CLUSTER] == started + work


def test_lazy_mode_shows_a_missing_join(driver: Driver, script: Script, dumped: Dumped) -> None:
    """The kernel's result is not there before the wait, and an input that changes too early is seen."""
    script.add("write l1 0", "01" * 8)
    script.add("config 8")
    script.add("offload own_add 0 0 64 1 1 0 0 8")
    script.dump(64, 8)
    script.add("write l1 0", "07" * 8)
    script.add("join")
    script.dump(64, 8)
    assert [dumped(line).tolist() for line in driver.run(script.text())] == [[2] * 8] * 2
    assert [dumped(line).tolist() for line in driver.run("mode lazy\n" + script.text())] == [[0] * 8, [14] * 8]


ADD = "offload own_add 0 0 64 1 1 0 0 8"


@pytest.mark.parametrize("mode", ["eager", "lazy"])
@pytest.mark.parametrize(
    ("commands", "message"),
    [
        (ADD, "before pi_team_config_offload"),
        ("config 9", "a team of 9 cores"),
        (f"config 8\n{ADD}\n{ADD}", "while another one"),
        (f"config 8\n{ADD}\nconfig 4", "not waited for"),
        (f"config 8\n{ADD}", "ended before the team"),
        ("join", "was not offloaded"),
    ],
)
def test_team_faults(driver: Driver, mode: str, commands: str, message: str) -> None:
    assert message in driver.fault(f"mode {mode}\n{commands}\n")


#: A dense layer of one input and one output that reads its weight at 64.
LINEAR = "linear 0 -1 512 64 256 260 1 0 4 1 1 1"


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_a_kernel_that_reads_what_a_copy_still_writes_faults(driver: Driver, mode: str) -> None:
    copy = "dma 0 in 0 64 4 0 0"
    assert "was not waited for" in driver.fault(f"mode {mode}\n{copy}\ncall {LINEAR}\n")
    assert driver.run(f"mode {mode}\n{copy}\nwait 0\ncall {LINEAR}\n") == []


def test_lazy_mode_faults_on_a_copy_into_a_tile_in_use(driver: Driver) -> None:
    """Issued after the launch: the kernel reads at the wait, when the copy is still in flight."""
    commands = f"config 8\noffload {LINEAR}\ndma 0 in 0 64 4 0 0\njoin\nwait 0\n"
    assert "was not waited for" in driver.fault("mode lazy\n" + commands)


def test_ne16_faults_on_a_copy_in_flight(driver: Driver, script: Script) -> None:
    from ne16_harness import Layer

    layer = Layer(pads=(0, 0, 0, 0))
    script.add("ne16 init")
    layer.place(script)
    script.add("dma 0 in 0", layer.offsets["x"], "4 0 0")
    script.add(layer.command())
    assert "NE16 input: a DMA copy" in driver.fault(script.text())


def test_values_survive_many_teams(driver: Driver, script: Script, dumped: Dumped) -> None:
    """Offload, join, offload again: the second team sees what the first wrote."""
    script.add("write l1 0", "01" * 8)
    script.add("config 8")
    for _ in range(5):
        script.add("offload own_add 0 0 0 1 1 0 0 8")
        script.add("join")
    script.dump(0, 8)
    for mode in ("eager", "lazy"):
        np.testing.assert_array_equal(dumped(driver.run(f"mode {mode}\n" + script.text())[0]), np.full(8, 32))
