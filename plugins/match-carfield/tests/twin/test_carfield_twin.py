"""Runtime and twin: boot, hand-over, sessions with events and with polling, copies, teams, swaps, faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from match_carfield import formulas_dma
from match_carfield.constants import SIGNALLINGS, constants, values
from match_carfield.presets import PRESETS
from match_carfield.timing import CLOCKS, render_timing_header
from numpy.typing import NDArray

Get = Callable[..., Any]
UNITS = ("pulp", "spatz")
TIMELINE = ("eager", "lazy")
#: Order of the driver's line of clocks.
HOST, PULP, SPATZ, PULP_IN, PULP_OUT, SPATZ_IN, SPATZ_OUT, SYSDMA = range(8)


def _clocks(lines: list[str]) -> list[int]:
    return [int(word) for word in next(line for line in lines if len(line.split()) == 8).split()]


def _settled(lines: list[str]) -> list[str]:
    """Without what depends on real time: clocks, and whether a copy that has just begun is over."""
    return [line for line in lines if len(line.split()) != 8 and not line.startswith("busy")]


def _bytes(line: str) -> NDArray[np.uint8]:
    return np.frombuffer(bytes.fromhex(line), dtype=np.uint8)


def _home() -> NDArray[np.uint8]:
    index = np.arange(4096)
    return (index * 7 + index // 256).astype(np.uint8)


# ---- copies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", TIMELINE)
@pytest.mark.parametrize("unit", UNITS)
def test_copies_there_and_back(carfield: Get, unit: str, mode: str) -> None:
    home = _home()
    expected = np.zeros(2048, dtype=np.uint8)
    expected[:100] = home[:100]
    for row in range(6):
        expected[128 + 32 * row :][:10] = home[32 * row :][:10]
        for plane in range(3):
            place = 512 * plane + 16 * row
            expected[512 + place :][:10] = home[place:][:10]
    result = _bytes(carfield().run("copies", unit, mode)[-1])
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("unit", UNITS)
def test_modes_take_the_same_cycles(carfield: Get, unit: str) -> None:
    assert carfield().run("copies", unit, "eager") == carfield().run("copies", unit, "lazy")


@pytest.mark.parametrize("unit", UNITS)
def test_a_copy_takes_the_formulas_cycles(carfield: Get, unit: str) -> None:
    figures = values()
    one = {"planes": 1, "rows": 1, "row_bytes": 4096}
    issue, data, wait = (int(part) for part in formulas_dma.dma_copy(figures, unit=unit, **one))
    received = figures["mailbox_receive_cycles"] + figures["unit_wake_cycles"]
    started = figures["mailbox_send_cycles"] + received
    ended = started + issue + data + wait + figures["mailbox_send_cycles"]
    clocks = _clocks(carfield().run("big", unit))
    assert clocks[PULP if unit == "pulp" else SPATZ] == ended
    assert clocks[PULP_IN if unit == "pulp" else SPATZ_IN] == started + issue + data


def test_formulas_of_copies() -> None:
    """By hand: 8 bytes per cycle, 1 per row; on pulp 60 cycles of software, 95 with rows, 55 and 30 per plane more."""
    figures = values()
    issue, data, wait = formulas_dma.dma_copy(figures, unit="pulp", planes=[1, 1, 4], rows=[1, 8, 8], row_bytes=64)
    assert issue.tolist() == [60, 95, 95 + 55 + 3 * 30]
    assert data.tolist() == [8, 64 + 8, 4 * (64 + 8)]
    assert wait.tolist() == [15, 15, 15]
    issue, data, _ = formulas_dma.dma_copy(figures, unit="spatz", planes=[1, 4, 4], rows=[1, 1, 8], row_bytes=64)
    assert issue.tolist() == [25, 25, 100]
    assert data.tolist() == [8, 32 + 4, 4 * (64 + 8)]


def test_published_copies() -> None:
    """370 + 550 cycles of software on both clusters, 10 in the DMA for each further plane of pulp's."""
    figures = values(preset="as-published")
    issue, data, _ = formulas_dma.dma_copy(figures, unit="pulp", planes=[1, 1, 4], rows=[1, 8, 8], row_bytes=64)
    assert issue.tolist() == [920, 920, 920]
    assert data.tolist() == [8, 64 + 8, 4 * (64 + 8) + 3 * 10]
    issue, _, _ = formulas_dma.dma_copy(figures, unit="spatz", planes=1, rows=8, row_bytes=64)
    assert issue.tolist() == 920


@pytest.mark.parametrize("unit", UNITS)
def test_copies_with_dram_are_slower(unit: str) -> None:
    """4 bytes a cycle, 200 cycles until the first word."""
    figures, sizes = values(), {"planes": 1, "rows": 1, "row_bytes": 4096}
    near, far = (formulas_dma.dma_copy(figures, unit=unit, dram=dram, **sizes) for dram in (False, True))
    assert far[0] == near[0] and far[2] == near[2]
    assert (int(near[1]), int(far[1])) == (512, 200 + 1024)


@pytest.mark.parametrize("unit", UNITS)
def test_planes_move_while_others_are_issued(carfield: Get, unit: str) -> None:
    """Which the formula leaves out: at most the issue of all commands but one."""
    figures = values()
    issue, data, wait = (
        int(part) for part in formulas_dma.dma_copy(figures, unit=unit, planes=3, rows=6, row_bytes=10)
    )
    called = 2 * figures["mailbox_send_cycles"] + figures["mailbox_receive_cycles"] + figures["unit_wake_cycles"]
    taken = _clocks(carfield().run("one-planes", unit))[PULP if unit == "pulp" else SPATZ] - called
    assert issue + data // 3 <= taken < issue + data + wait


@pytest.mark.parametrize("kind", ["rows", "far"])
@pytest.mark.parametrize("unit", UNITS)
def test_other_copies_take_the_formulas_cycles(carfield: Get, unit: str, kind: str) -> None:
    figures = values()
    shape = {"rows": (1, 6, 10), "far": (1, 1, 4096)}[kind]
    sizes = dict(zip(("planes", "rows", "row_bytes"), shape, strict=True))
    issue, data, wait = (int(part) for part in formulas_dma.dma_copy(figures, unit=unit, dram=kind == "far", **sizes))
    called = 2 * figures["mailbox_send_cycles"] + figures["mailbox_receive_cycles"] + figures["unit_wake_cycles"]
    clocks = _clocks(carfield().run(f"one-{kind}", unit))
    assert clocks[PULP if unit == "pulp" else SPATZ] == called + issue + data + wait


# ---- hand-over -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_can_be_stopped_and_started_again(carfield: Get, unit: str, signalling: str) -> None:
    lines = carfield(signalling).run("twice", unit)
    assert [line for line in lines if line.startswith(("start", "call"))] == ["start 0", "call 0"] * 2


@pytest.mark.parametrize("mode", TIMELINE)
@pytest.mark.parametrize(("unit", "cores"), [("pulp", 8), ("spatz", 2)])
def test_teams_run_on_all_cores_with_barriers(carfield: Get, unit: str, cores: int, mode: str) -> None:
    result = _bytes(carfield().run("teams", unit, mode)[-1]).reshape(2, 2, 16)
    numbers = np.arange(1, cores + 1)
    for team in result:
        assert np.array_equal(team[0, :cores], numbers)
        assert np.array_equal(team[1, :cores], np.roll(numbers, -1))


@pytest.mark.parametrize("mode", [*TIMELINE, "held"])
@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
@pytest.mark.parametrize("unit", UNITS)
def test_a_session_runs_all_tasks(carfield: Get, unit: str, signalling: str, mode: str) -> None:
    """``held``: the unit goes on only when the host cannot."""
    lines = carfield(signalling).run("session", unit, f"lazy:{unit}" if mode == "held" else mode)
    assert lines[:3] == ["start 0", "launch 0", "again -1"]
    assert lines[3] == "join 0 timeouts 0"
    assert np.array_equal(_bytes(lines[4]), _home()[:5] + 1)


@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
def test_signalling_costs_what_the_soc_says(carfield: Get, signalling: str) -> None:
    """Five tasks of 1000 cycles, each posted behind the end of the one before, then the last letter."""
    figures = values(signalling)
    signals = sum(figures[f"{name}_cycles"] for name in ("post", "wake", "notify"))
    host = _clocks(carfield(signalling).run("session"))[HOST]
    assert 5 * (1000 + signals) <= host < 5 * (1000 + signals) + formulas_dma.call_cycles(figures) + signals


@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
@pytest.mark.parametrize("unit", UNITS)
def test_a_session_is_cancelled(carfield: Get, unit: str, signalling: str) -> None:
    lines = carfield(signalling).run("cancel", unit, "lazy")
    assert lines[3] == "join 0 timeouts 0"
    assert _bytes(lines[4]).tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
def test_a_hung_unit_is_reported(carfield: Get, signalling: str) -> None:
    lines = carfield(signalling).run("hung", mode="hang:pulp")
    assert lines[1:] == ["launch 0", "wait 1", "join -1", "launch -1"]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["copies", "teams", "session", "cancel", "swaps"])
@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
@pytest.mark.parametrize("unit", UNITS)
def test_threads(carfield: Get, unit: str, signalling: str, scenario: str) -> None:
    expected = carfield(signalling).run(scenario, unit)
    for seed in (1, 2, 3):
        lines = carfield(signalling, threads=True).run(scenario, unit, f"threads:{seed}")
        assert _settled(lines) == _settled(expected)


# ---- swaps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", TIMELINE)
@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
def test_swaps_there_and_back(carfield: Get, signalling: str, mode: str) -> None:
    figures = values(signalling)
    lines = carfield(signalling).run("swaps", mode=mode)
    assert lines[1] == "busy 1" and lines[-1] == "same 0"
    _, data, _ = formulas_dma.l3_copy(figures, commands=1, size_bytes=1000)
    assert _clocks(lines)[SYSDMA] == figures["sysdma_issue_cycles"] + int(data)


# ---- faults --------------------------------------------------------------------------------------------------------

FAULTS = {
    "pulp-outside": "outside of the L1 of pulp",
    "pulp-constant": "not writable",
    "pulp-l1-to-l1": "or in L1",
    "pulp-counters": "more than 16 copies of MCHAN",
    "pulp-no-counter": "without a counter",
    "pulp-long": "1 to 131071 are possible",
    "pulp-overlap": "rows of 16 bytes only 8 bytes apart",
    "pulp-no-wait": "1 copies were never waited for",
    "pulp-early": "a copy that was not waited for writes",
    "pulp-operand": "are not in the L1 of pulp",
    "pulp-freed": "was not allocated",
    "pulp-event": "is not modelled",
    "pulp-redmule": "while its clock was gated",
    "worker-copies": "only core 0 of pulp",
    "spatz-outside": "one side in its L1",
    "spatz-constant": "not writable",
    "spatz-overlap": "rows of 16 bytes only 8 bytes apart",
    "spatz-no-wait": "1 copies were never waited for",
    "spatz-id": "which was not started",
    "spatz-mchan": "only core 0 of pulp",
    "spatz-barrier": "a barrier of pulp outside of it",
    "spatz-vector": "vector operand: 64 bytes are not in the L1 of spatz",
    "host-dma": "only core 0 of pulp",
    "not-booted": "which was not booted",
    "no-domain": "while its domain was off",
    "no-boot-address": "without a boot address",
    "register": "is not modelled",
    "endless-sleep": "without a timer that ends it",
    "deaf-sleep": "no interrupt can wake it",
    "two-swaps": "was started while a copy was not known to be over",
    "swap-outside": "are given out",
}


@pytest.mark.parametrize("scenario", FAULTS)
def test_a_fault_is_told(carfield: Get, scenario: str) -> None:
    assert FAULTS[scenario] in carfield().fault(scenario)


def test_a_unit_that_was_not_started_takes_nothing(carfield: Get) -> None:
    assert carfield().run("no-start") == ["launch -1"]


# ---- figures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("signalling", sorted(SIGNALLINGS))
def test_the_timing_header_has_every_figure(signalling: str, preset: str) -> None:
    text = render_timing_header(signalling, preset)
    for constant in constants(signalling, preset):
        assert f"#define MATCH_CARFIELD_{constant.name.upper()} {int(constant.value)}u " in text
        assert constant.value == int(constant.value)
    for index, clock in enumerate(CLOCKS):
        assert f"#define MATCH_TWIN_CLOCK_{clock.upper()} {index}u" in text


def test_names_are_unique_and_tables_have_the_same_ones() -> None:
    names = {signalling: [constant.name for constant in constants(signalling)] for signalling in SIGNALLINGS}
    assert all(len(set(table)) == len(table) for table in names.values())
    assert names["event"] == names["poll"]


def test_presets_change_what_they_say() -> None:
    """Kernels at 70 % of their speed take 143 % of their cycles, those at 130 % take 77 %."""
    plain = values()
    changed = {
        name: {key: value for key, value in values(preset=name).items() if value != plain[key]} for name in PRESETS
    }
    assert changed["counted"] == {}
    for unit in UNITS:
        assert changed[f"{unit}-30"] == {f"{unit}_scale_percent": 143}
        assert changed[f"{unit}+30"] == {f"{unit}_scale_percent": 77}
    assert {"pulp_dma_dense_cycles", "spatz_dma_issue_cycles"} < set(changed["as-published"])
