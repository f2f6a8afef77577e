"""The time line of tasks on queues."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given
from match_concurrent.mapping.timeline import Step, earliest_start_order, ranks, simulate
from match_core.contract.hardware import Signalling

from core.tests.map.rows import SIGNALLING

FREE = Signalling("poll", 0, 0, 0, 0)


@st.composite
def programs(draw: st.DrawFn) -> list[Step]:
    """Up to ten steps on up to three queues; each needs some earlier ones, some keep another unit's queue busy."""
    steps: list[Step] = []
    for number in range(draw(st.integers(0, 10))):
        needs = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        queue, busy = draw(st.integers(0, 2)), draw(st.sampled_from(((), (), (1,), (2,))))
        occupies = tuple(other for other in busy if other != queue)
        steps.append(Step(queue, draw(st.integers(0, 20)), tuple(sorted(needs)), occupies))
    return steps


def test_two_queues_run_side_by_side() -> None:
    steps = [Step(1, 10), Step(2, 10), Step(1, 10, (0,)), Step(2, 10, (1,))]
    line = simulate(steps, range(4), FREE)
    assert (line.starts, line.finish) == ((0, 0, 10, 10), 20)


def test_what_signals_cost() -> None:
    """Post 3, wake 5: the first starts at 8 and ends at 18, the host knows at 22, posts until 25, the other starts at
    30."""
    line = simulate([Step(1, 10), Step(2, 10, (0,))], (0, 1), SIGNALLING)
    assert (line.starts, line.finish) == ((8, 30), 44)


def test_tasks_posted_together_follow_each_other() -> None:
    line = simulate([Step(1, 10), Step(1, 10, (0,))], (0, 1), SIGNALLING)
    assert line.starts == (8, 8 + 10 + SIGNALLING.task_cycles)


def test_the_host_posts_nothing_while_it_works() -> None:
    """The unit is done at 18, but the host is busy from 3 to 103."""
    line = simulate([Step(1, 10), Step(0, 100), Step(1, 10, (0,)), Step(2, 10, (0,))], range(4), SIGNALLING)
    assert line.starts[1] == 3
    assert line.starts[3] >= 103


def test_a_step_that_keeps_two_units_busy_waits_for_both_by_signals() -> None:
    """The second starts when the host has learnt of the first; the third, in the other queue, likewise."""
    steps = [Step(2, 50), Step(1, 10, (), (2,)), Step(2, 10)]
    line = simulate(steps, range(3), SIGNALLING)
    signal = SIGNALLING.notify_cycles + SIGNALLING.post_cycles + SIGNALLING.wake_cycles
    assert line.starts == (8, 58 + signal, 68 + 2 * signal)
    assert earliest_start_order(steps, SIGNALLING) == [0, 2, 1]


def test_steps_that_wait_for_each_other_are_an_error() -> None:
    crossed = [Step(1, 1, (3,)), Step(1, 1), Step(2, 1, (1,)), Step(2, 1)]
    with pytest.raises(ValueError, match="wait for each other"):
        simulate(crossed, range(4), FREE)
    with pytest.raises(ValueError, match="own queue"):
        simulate([Step(1, 1), Step(1, 1, (0,))], (1, 0), FREE)
    with pytest.raises(ValueError, match="each step once"):
        simulate([Step(1, 1), Step(1, 1)], (1, 1), FREE)


@given(steps=programs(), shuffled=st.randoms(use_true_random=False))
def test_every_time_line_keeps_needs_and_queues(steps: list[Step], shuffled: object) -> None:
    order = earliest_start_order(steps, SIGNALLING)
    assert sorted(order) == list(range(len(steps)))
    line = simulate(steps, order, SIGNALLING)
    lag = SIGNALLING.notify_cycles + SIGNALLING.post_cycles + SIGNALLING.wake_cycles
    ends = [start + step.cycles for start, step in zip(line.starts, steps, strict=True)]
    for number, step in enumerate(steps):
        for need in step.needs:
            if step.queue == steps[need].queue:
                assert line.starts[number] >= ends[need] + SIGNALLING.task_cycles
            elif step.queue and steps[need].queue:
                assert line.starts[number] >= ends[need] + lag
            else:
                assert line.starts[number] >= ends[need]
    for queue in range(3):
        lines = [(step.queue, *step.occupies) for step in steps]
        mine = sorted((line.starts[n], ends[n]) for n in range(len(steps)) if queue in lines[n])
        assert all(after[0] >= before[1] for before, after in pairwise(mine))
    assert line.finish >= max(ends, default=0)


@given(steps=programs())
def test_what_is_behind_a_step_bounds_its_time(steps: list[Step]) -> None:
    line = simulate(steps, range(len(steps)), FREE)
    assert all(start + left <= line.finish for start, left in zip(line.starts, ranks(steps, FREE), strict=True))
