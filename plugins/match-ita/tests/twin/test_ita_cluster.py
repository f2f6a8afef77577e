"""Copies, and kernels on all compute cores, in programs that run one task after another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ita_twin_harness import FAST, Driver
from match_ita.constants import values

MODES = ("eager", "lazy")
_few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_sizes = {"planes": st.integers(0, 4), "rows": st.integers(0, 5), "row_bytes": st.integers(0, 100)}
_gaps = {"row_gap": st.integers(0, 40), "plane_gap": st.integers(0, 50), "mode": st.sampled_from(MODES)}
FAR = (7 * np.arange(1 << 16) + 3).astype(np.uint8)


def _places(planes: int, rows: int, row_bytes: int, row_stride: int, plane_stride: int) -> np.ndarray:
    """Offsets in the far memory, in the order of L1."""
    plane, row, byte = np.indices((planes, rows, row_bytes))
    return (plane * plane_stride + row * row_stride + byte).ravel()


def _command(name: str, *numbers: int) -> str:
    return " ".join((name, *map(str, numbers))) + "\n"


@_few
@given(**_sizes, **_gaps)
def test_copy_in(
    driver: Driver, planes: int, rows: int, row_bytes: int, row_gap: int, plane_gap: int, mode: str
) -> None:
    row_stride = row_bytes + row_gap
    plane_stride = rows * row_stride + plane_gap
    script = _command("in", 64, 5, planes, rows, row_bytes, row_stride, plane_stride)
    size = planes * rows * row_bytes
    found = driver.run(script + _command("dump", 64, size), mode)[0]
    expected = FAR[5 + _places(planes, rows, row_bytes, row_stride, plane_stride)]
    assert bytes.fromhex(found) == expected.tobytes()


@_few
@given(**_sizes, **_gaps)
def test_copy_out(
    driver: Driver, planes: int, rows: int, row_bytes: int, row_gap: int, plane_gap: int, mode: str
) -> None:
    row_stride = row_bytes + row_gap
    plane_stride = rows * row_stride + plane_gap
    size = planes * rows * row_bytes
    data = bytes((11 * i + 1) % 256 for i in range(size))
    script = f"write 64 {data.hex()}\n" if size else ""
    script += _command("out", 64, 9, planes, rows, row_bytes, row_stride, plane_stride) + "far 0 8000\n"
    expected = FAR[:8000].copy()
    expected[9 + _places(planes, rows, row_bytes, row_stride, plane_stride)] = np.frombuffer(data, np.uint8)
    assert bytes.fromhex(driver.run(script, mode)[0]) == expected.tobytes()


@pytest.mark.parametrize("mode", MODES)
def test_team(driver: Driver, mode: str) -> None:
    found = driver.run("team 0\ndump 0 16\nteam 64\n", mode)[0]
    assert bytes.fromhex(found) == bytes([*range(1, 9), *[36] * 8])


def test_time_of_a_team(build: Callable[..., Driver]) -> None:
    """Between two barriers the busiest core counts, wherever it is; in the second part the unit that multiplies for all
    cores, 100 times for each."""
    figures = values()
    words = build("rtl", FAST).run("team 0\nclocks\n")[0].split()
    now = int(words[words.index("control") + 1])
    shared = -(-1000 * 800 // figures["shared_uses_per_1000_cycles"])
    team = figures["team_launch_cycles"] + 80 + figures["barrier_cycles"] + shared + figures["team_wait_cycles"]
    assert now == figures["call_cycles"] + team


def test_time_of_copies(build: Callable[..., Driver]) -> None:
    """Two directions at once would overlap; these are one after the other, each with its latency and wait."""
    figures = values()
    words = build("rtl", FAST).run("in 0 0 1 4 100 200 0\nin 0 0 1 1 640 640 0\nclocks\n")[0].split()
    each = figures["dma_issue_cycles"] + figures["dma_latency_cycles"] + figures["dma_wait_cycles"]
    data = 4 * (2 + figures["dma_row_cycles"]) + 10
    assert int(words[words.index("control") + 1]) == figures["call_cycles"] + 2 * each + data


@pytest.mark.parametrize(
    "which, message",
    [
        (0, "outside of L1"),
        (1, "0 bytes"),
        (2, "writes rows of 8 bytes only 4 bytes apart"),
        (3, "in no known memory"),
        (4, "only the DM core can do this"),
        (5, "outside of L1, or beyond its end"),
        (7, "waits at another barrier than core 0"),
        (6, "before 1 asynchronous operations were waited for"),
    ],
)
def test_what_the_cluster_cannot_do(driver: Driver, which: int, message: str) -> None:
    done = driver.attempt(f"wrong {which}\n", "lazy")
    assert done.returncode == -6 and message in done.stderr
