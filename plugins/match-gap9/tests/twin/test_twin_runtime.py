"""Clocks, run modes, DMA, team and allocators of the twin."""

from __future__ import annotations

import json

import numpy as np
import pytest
from clock_names import CONTROL, DMA_IN, DMA_OUT, clocks
from match_gap9 import formulas_dma
from match_gap9.constants import values

# ---- clocks, log, profile ------------------------------------------------------------------------------------


def test_spend_log_and_profile(driver, script):
    script.add("profile begin 3")
    script.add("spend 1 40")
    script.add("profile end 3")
    script.add("profile cycles 3")
    script.add("busy 1")
    script.add("clocks")
    script.add("events")
    lines = driver.run(script.text())
    assert lines[0] == "40"
    assert lines[1] == "40"
    assert clocks(lines[2])[:2] == [1000, 1040]
    events = [json.loads(line) for line in lines[3:]]
    work = {"clock": 1, "name": "control", "kind": "work", "start": 1000, "end": 1040, "node": 3}
    assert {**work, "context": "host"} in events
    assert events[0]["node"] == -1


def test_summary_is_json_lines(driver, script):
    script.add("profile begin 7")
    script.add("spend 3 5")
    script.add("profile end 7")
    script.add("summary")
    rows = [json.loads(line) for line in driver.run(script.text())]
    assert {"node": 7, "cycles": 0, "calls": 1} in rows  # NE16 was behind the controller's clock
    assert any(row.get("name") == "ne16" and row["busy"] == 5 for row in rows)


def test_reset_clears_clocks_and_refuses_pending_work(driver, script):
    script.add("reset")
    script.add("clocks")
    assert clocks(driver.run(script.text())[0]) == [0] * 7
    script.add("mode lazy")
    script.add("dma 0 in 0 0 64 0 0")
    script.add("reset")
    assert "never waited for" in driver.fault(script.text())


def test_profile_must_nest(driver, script):
    script.add("profile end 1")
    assert "without a begin" in driver.fault(script.text())


def test_performance_counter_reads_the_controllers_clock(driver, script):
    script.add("perf")
    script.add("spend 1 123")
    script.add("perfread")
    assert driver.run(script.text()) == ["123"]


# ---- team and offload ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_barrier_joins_all_cores(driver, script, dumped, mode):
    script.add("mode", mode)
    script.add("call barrier 0 1")
    script.dump(0, 16)
    assert dumped(driver.run(script.text())[0]).tolist() == [*range(1, 9), *range(2, 9), 1]


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_a_missing_barrier_shows(driver, script, dumped, mode):
    script.add("mode", mode)
    script.add("call barrier 0 0")
    script.dump(0, 16)
    assert dumped(driver.run(script.text())[0]).tolist()[8:] != [*range(2, 9), 1]


def test_a_core_that_skips_a_barrier_faults(driver):
    assert "never reach" in driver.fault("call lost_core\n")


def test_controller_id(driver):
    assert driver.run("cores\n") == ["8"]


def test_closed_cluster_and_fabric_controller_dma_fault(driver):
    assert "not open" in driver.fault("", "closed")
    assert "fabric controller" in driver.fault("", "host-dma")


def test_asynchronous_task(driver):
    before, after = (clocks(line) for line in driver.run("spend 1 500\n", "async"))
    assert before[:2] == [1000, 1500]
    assert after[:2] == [1500, 1500]


def test_allocators(driver):
    """First block at the start of L1; a second that does not fit is NULL; a freed block is found again."""
    assert driver.run("", "malloc") == ["1 1"]


# ---- DMA -----------------------------------------------------------------------------------------------------


def fill(script, name, offset, size, seed):
    data = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)
    script.add("write", name, offset, data.tobytes().hex())
    return data


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_dma_moves_rows(driver, script, dumped, mode):
    script.add("mode", mode)
    source = fill(script, "l2", 100, 4000, 1)
    script.add("dma 0 in 100 8 1000 0 0")
    script.add("dma 1 in 103 2001 600 97 20")
    script.add("wait 1")
    script.add("wait 0")
    script.add("dump l1 8 1000")
    script.add("dump l1 2001 600")
    script.add("dma 2 out 9000 2001 600 33 30")
    script.add("flush")
    script.add("dump l2 9000", 33 * 19 + 30)
    first, second, third = (dumped(line) for line in driver.run(script.text()))
    rows = np.stack([source[3 + 97 * row : 23 + 97 * row] for row in range(30)]).reshape(-1)
    np.testing.assert_array_equal(first, source[:1000])
    np.testing.assert_array_equal(second, rows)
    for row in range(20):
        np.testing.assert_array_equal(third[33 * row : 33 * row + 30], rows[30 * row : 30 * row + 30])


def test_lazy_mode_shows_a_missing_wait_inwards(driver, script, dumped):
    source = fill(script, "l2", 0, 64, 2)
    script.add("dma 0 in 0 0 64 0 0")
    script.add("dump l1 0 64")
    script.add("deferred")
    script.add("flush")
    eager = driver.run(script.text())
    np.testing.assert_array_equal(dumped(eager[0]), source)
    assert eager[1] == "0"
    lazy = driver.run("mode lazy\n" + script.text())
    assert set(dumped(lazy[0]).tolist()) == {0xA5}
    assert lazy[1] == "1"


def test_lazy_mode_shows_a_buffer_reused_too_early(driver, script, dumped):
    """The source of an outward copy is read when the copy is waited for."""
    fill(script, "l1", 0, 64, 3)
    script.add("dma 0 out 0 0 64 0 0")
    script.add("write l1 0", "00" * 64)
    script.add("wait 0")
    script.add("dump l2 0 64")
    assert set(dumped(driver.run("mode lazy\n" + script.text())[0]).tolist()) == {0}
    assert set(dumped(driver.run(script.text())[0]).tolist()) != {0}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("dma 0 in 0 0 0 0 0", "0 bytes"),
        ("dma 0 in 0 131000 100 0 0", "outside of L1"),
        ("dma 0 in 0 -4 16 0 0", "outside of L1"),
        ("dma 0 in 0 0 100 50 30", "rows of 30"),
        ("dma 0 out 0 0 100 10 20", "10 bytes apart"),
        ("dma 0 in -2 64 16 0 0", "is in L1"),
        ("dma 0 in -4 64 16 0 0", "no known memory"),
        ("dma 0 out -3 64 16 0 0", "not writable"),
        ("wait 5", "not issued"),
        ("dma 0 in 0 0 16 0 0", "never waited for"),
        ("dma 0 in 0 0 16 0 0\ndma 0 in 0 64 16 0 0", "reused before"),
        ("\n".join(f"dma {slot} in 0 0 16 0 0" for slot in range(17)), "more than 16"),
    ],
)
def test_dma_faults(driver, command, message):
    assert message in driver.fault(command + "\n")


def test_constant_data_can_be_read(driver, script, dumped):
    script.add("dma 0 in -3 0 3 0 0")
    script.add("wait 0")
    script.add("dump l1 0 3")
    assert dumped(driver.run(script.text())[0]).tolist() == [1, 2, 3]


@pytest.mark.parametrize("preset", ["as-published", "engine"])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_dma_time_of_single_and_plane_copies(build, new_script, preset, direction):
    """Copies with one wait take what the Python formulas say."""
    timing = values(preset)
    shapes = [(1, 1, 3000), (1, 7, 33), (1, 64, 1), (5, 6, 40), (12, 25, 1), (3, 34, 96)]
    script = new_script()
    for planes, rows, row_bytes in shapes:
        script.add("clocks")
        for plane in range(planes):
            length = 0 if planes == rows == 1 else row_bytes
            script.add("dma 0", direction, 0, 0, rows * row_bytes, row_bytes + 8, length, int(plane > 0))
        script.add("wait 0")
        script.add("clocks")
    lines = [clocks(line)[CONTROL] for line in build(preset).run(script.text())]
    for index, (planes, rows, row_bytes) in enumerate(shapes):
        elapsed = lines[2 * index + 1] - lines[2 * index]
        parts = formulas_dma.dma_copy(timing, planes=planes, rows=rows, row_bytes=row_bytes, direction=direction)
        assert elapsed == sum(int(part) for part in parts), (planes, rows, row_bytes)


def test_opposite_directions_overlap_and_equal_ones_queue(engine_driver, script):
    script.add("dma 0 in 0 0 8192 0 0")
    script.add("dma 1 in 0 8192 8192 0 0")
    script.add("dma 2 out 16384 16384 8192 0 0")
    script.add("clocks")
    script.add("flush")
    line = clocks(engine_driver.run(script.text())[0])
    issue = 13
    assert line[CONTROL] == 1000 + 3 * issue
    assert line[DMA_IN] == 1000 + issue + 2 * 1024
    assert line[DMA_OUT] == 1000 + 3 * issue + 32 * 33


def test_published_software_cost_is_paid_once_per_transfer(driver, script):
    """Merged commands share it; two copies of equal shape do not."""
    script.add("dma 0 in 0 0 64 32 16 0")
    script.add("dma 0 in 0 64 64 32 16 1")
    script.add("clocks")
    script.add("wait 0")
    script.add("dma 1 in 0 128 64 32 16 0")
    script.add("dma 2 in 0 192 64 32 16 0")
    script.add("clocks")
    script.add("flush")
    first, second = (clocks(line) for line in driver.run(script.text()))
    assert first[CONTROL] == 1000 + 920
    assert second[CONTROL] == first[DMA_IN] + 2 * 920


def test_a_merged_transfer_is_waited_for_as_one(driver, script, dumped):
    source = fill(script, "l2", 0, 400, 4)
    for part in range(20):
        script.add("dma 0 in", 20 * part, 20 * part, 20, 0, 0, int(part > 0))
    script.add("wait 0")
    script.dump(0, 400)
    for mode in ("eager", "lazy"):
        got = dumped(driver.run(f"mode {mode}\n" + script.text())[0])
        np.testing.assert_array_equal(got, source)


@pytest.mark.parametrize("commands", ["dma 0 in 0 0 16 0 0 1", "dma 0 in 0 0 16 0 0 0\nwait 0\ndma 0 in 0 0 16 0 0 1"])
def test_merging_needs_a_transfer_in_flight(driver, commands):
    assert "merged with a transfer" in driver.fault(commands + "\n")
