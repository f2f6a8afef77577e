"""What emitted layers can do, one by one, executed on the fake unit."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from match_core.contract.loops import LoopSchedule
from match_core.contract.unit_api import Kernel
from match_core.contract.workload import Workload
from match_core.emit.layer_facts import Layer, LayerRequest

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import Where, faults, hand_schedule
from core.tests.emit.workloads import INTERFACES, Problem, Window, conv2d_of, permute_of, sum2d_of


def case(
    problem: Problem,
    cuts: list[tuple[str, int]],
    near: dict[str, Where],
    stage: dict[str, Where] | None = None,
    private: dict[str, str] | None = None,
    asynchronous: bool = True,
) -> lp.Case:
    """A case whose schedule the validator accepts."""
    schedule = hand_schedule(problem.workload, cuts, near, stage, private)
    assert faults(problem.workload, schedule) == ()
    return lp.Case(problem, schedule, asynchronous)


BUFFERS: tuple[Literal[1, 2], ...] = (1, 2)


def conv(seed: int = 1, kernel: int = 3, stride: int = 1) -> Problem:
    """11 x 7 pixels, padded all around where kernels are larger than one pixel, 7 output channels."""
    random, pad = np.random.default_rng(seed), min(1, kernel - 1)
    return conv2d_of(random, 7, 5, Window(11, kernel, stride, pad, pad), Window(7, kernel, stride, pad, pad))


def check_text(found: lp.Case, *parts: str) -> str:
    """The layer's text, which must have these parts."""
    text = lp.layer_text("layer_0", found)
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"
    assert max(map(len, text.splitlines())) <= 120
    return text


def test_one_step_has_no_loop(tmp_path: Path) -> None:
    found = case(conv(), [], {})
    text = check_text(found, "const match_conv2d_t tile")
    assert "for (" not in text and "step" not in text
    lp.check(tmp_path, [found])


def test_single_buffers_make_a_simple_loop(tmp_path: Path) -> None:
    found = case(conv(), [("OY", 4), ("K", 2)], {"input": (1, 1), "addend": (0, 1), "multiplier": (0, 1)})
    text = check_text(found, "layer_0_step_t step = {")
    assert "steps[" not in text and "load_ahead" not in text
    lp.check(tmp_path, [found])


def test_every_combination_of_buffers(tmp_path: Path) -> None:
    problem, cases = conv(), []
    for i, w, m, o in product(BUFFERS, repeat=4):
        near: dict[str, Where] = {"input": (1, i), "weight": (2, w), "multiplier": (2, m), "output": (2, o)}
        near["addend"] = (0, 1)
        cases += [case(problem, [("OY", 4), ("K", 3)], near, asynchronous=a) for a in (False, True)]
    lp.check(tmp_path, cases)


def test_copies_that_block_need_no_waits(tmp_path: Path) -> None:
    schedule = case(conv(), [("OY", 4), ("K", 3)], {"input": (1, 1)}).schedule
    found = lp.Case(conv(), schedule, asynchronous=False, blocking=True)
    assert "wait" not in lp.layer_text("layer_0", found)
    lp.check(tmp_path, [found])


def test_two_loops_over_one_dimension_with_rests(tmp_path: Path) -> None:
    cuts = [("OY", 5), ("K", 4), ("OY", 2), ("K", 3), ("OX", 2), ("OX", 1)]
    all_double: dict[str, Where] = dict.fromkeys(("input", "weight", "multiplier", "addend", "output"), (6, 2))
    found = case(conv(), cuts, all_double)
    check_text(found, "step->oy_0 + step->oy_1", "match_min_u32(2u, match_min_u32(5u, 11u - step->oy_0) - step->oy_1)")
    assert found.schedule.steps == 7 * 3 * 7
    lp.check(tmp_path, [found])


def test_kernels_read_from_inside_of_larger_buffers(tmp_path: Path) -> None:
    """The input of five rows stays while kernels work on two; weights and addends stay for the whole layer."""
    near: dict[str, Where] = {
        "input": (1, 2),
        "weight": (0, 1),
        "multiplier": (0, 1),
        "addend": (0, 1),
        "output": (3, 2),
    }
    cases = []
    for kernel, stride in ((3, 1), (3, 2), (1, 3), (2, 2)):
        found = case(conv(2, kernel, stride), [("OY", 3), ("K", 2), ("OY", 1)], near)
        cases.append(found)
    check_text(cases[0], "step->input_y.first - step->input_y_1.first")
    whole: dict[str, Where] = {**near, "input": (0, 1)}
    cases.append(case(conv(3), [("OY", 3), ("K", 2)], {**whole, "output": (2, 2)}))
    check_text(cases[-1], "near + step->input_y.first * 35u")
    lp.check(tmp_path, cases)


def test_results_are_collected_in_a_larger_buffer(tmp_path: Path) -> None:
    near: dict[str, Where] = {"input": (2, 2), "output": (1, 2)}
    cases = [case(conv(), [("OY", 4), ("OY", 1)], near | {"output": (1, b)}) for b in BUFFERS]
    cases.append(case(conv(), [("OY", 4), ("OY", 1)], {"input": (2, 2), "output": (0, 1)}))
    cases.append(case(conv(), [("OY", 4), ("OY", 1)], {"output": (1, 1)}))
    check_text(cases[0], "next->changed < 1u")
    check_text(cases[1], "now->changed < 1u")
    lp.check(tmp_path, cases)


def test_sums_over_cut_reductions(tmp_path: Path) -> None:
    problem = sum2d_of(np.random.default_rng(4), 6, 8, Window(9, 3, 1, 1, 1), Window(8, 3, 2, 0, 1))
    cuts = [("K", 4), ("OY", 5), ("C", 4), ("FY", 2), ("C", 3)]
    cases = []
    for output, others in product(BUFFERS, repeat=2):
        near: dict[str, Where] = {"input": (5, others), "weight": (5, others)}
        near |= {"addend": (1, others), "output": (2, output)}
        cases.append(case(problem, cuts, near))
    check_text(cases[0], "tile->first = ((step->c_0 == 0u) && (step->c_1 == 0u) && (step->fy == 0u)) ? 1u : 0u;")
    lp.check(tmp_path, cases)


def test_sums_cut_outside_of_a_larger_result_buffer(tmp_path: Path) -> None:
    problem = sum2d_of(np.random.default_rng(5), 6, 8, Window(9, 3, 1, 1, 1), Window(8, 3, 2, 0, 1))
    near: dict[str, Where] = {"input": (2, 2), "weight": (2, 2), "addend": (0, 1), "output": (1, 2)}
    lp.check(tmp_path, [case(problem, [("OY", 4), ("C", 3), ("OY", 1)], {**near, "input": (3, 2)})])


def test_copies_of_more_than_three_levels(tmp_path: Path) -> None:
    problem = permute_of(np.random.default_rng(6), (3, 5, 3, 4, 3))
    cuts = [("B", 3), ("C", 2), ("D", 3), ("E", 2)]
    cases = [case(problem, cuts, {"input": (4, b), "output": (4, b)}) for b in BUFFERS]
    check_text(cases[0], "for (uint32_t i0 = 0u; i0 < 3u; i0++)", "for (uint32_t i1 = 0u; i1 < tile->b; i1++)")
    lp.check(tmp_path, cases)


STREAMS: list[tuple[dict[str, Where], dict[str, Where]]] = [
    ({"weight": (2, 2), "multiplier": (0, 1)}, {"weight": (1, 2)}),
    ({"weight": (2, 1)}, {"weight": (2, 2), "addend": (0, 1)}),
    ({"weight": (2, 2), "addend": (2, 1)}, {"weight": (2, 2), "multiplier": (1, 2), "addend": (2, 2)}),
    ({"weight": (1, 1), "addend": (1, 2)}, {"weight": (1, 2), "addend": (1, 2)}),
    ({"weight": (2, 1), "addend": (1, 2)}, {"weight": (2, 2), "addend": (1, 2)}),
    ({"weight": (2, 1), "addend": (0, 1)}, {"weight": (2, 2), "addend": (0, 1)}),
]


def test_constants_streamed_from_the_store(tmp_path: Path) -> None:
    cases = []
    for (near, stage), cuts in product(STREAMS, ([("K", 3), ("K", 1)], [("K", 2), ("OY", 4)], [("OY", 4), ("K", 3)])):
        for output in BUFFERS:
            wanted: dict[str, Where] = {"input": (2, 2), "output": (2, output), **near}
            schedule = hand_schedule(conv().workload, cuts, wanted, stage)
            if not faults(conv().workload, schedule):
                cases.append(lp.Case(conv(), schedule))
    assert len(cases) >= 24
    lp.check(tmp_path, cases)


def test_a_layer_of_one_step_streams_too(tmp_path: Path) -> None:
    lp.check(tmp_path, [case(conv(), [], {}, {"weight": (0, 1), "addend": (0, 1)})])


def test_a_memory_for_weights(tmp_path: Path) -> None:
    near: dict[str, Where] = {"input": (2, 2), "weight": (1, 2)}
    found = case(conv(), [("K", 3), ("OY", 4)], near, private={"weight": "own"})
    check_text(found, "uint8_t *const near_own = task->private_near[0];", ".weight = near_own,")
    lp.check(tmp_path, [found])


def test_rests_strides_and_padding_in_every_dimension(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    cases = []
    for stride, kernel, before, after in product((1, 2, 3), (1, 3), (0, 1), (0, 1)):
        window = Window(10, kernel, stride, min(before, kernel - 1), min(after, kernel - 1))
        problem = conv2d_of(random, 5, 3, window, window)
        tile = max(1, window.steps - 1)
        if window.steps > 2:
            near: dict[str, Where] = {"input": (3, 2), "output": (3, 2)}
            cases.append(case(problem, [("OY", tile), ("OX", 2), ("K", 2)], near))
    assert len(cases) >= 16
    lp.check(tmp_path, cases)


def request_of(schedule: LoopSchedule, workload: Workload) -> LayerRequest:
    kernel = Kernel(INTERFACES["conv2d"], "conv2d_launch", "kernel_wait", pack=lambda match, workload: {})
    return LayerRequest("layer", workload, schedule, kernel, lp.MEMORY, "home", {})


def test_what_cannot_be_written_is_refused() -> None:
    workload = conv().workload
    good = hand_schedule(workload, [("K", 3)], {}, {"weight": (1, 2)})
    others = tuple(p for p in good.placements if p.operand != "weight")
    staged, near = (p for p in good.placements if p.operand == "weight")
    with pytest.raises(ValueError, match="needs two buffers"):
        Layer(request_of(replace(good, placements=(*others, replace(staged, buffers=1), near)), workload))
    with pytest.raises(ValueError, match="copies through"):
        Layer(request_of(replace(good, placements=(*others, replace(staged, memory="own"), near)), workload))
    operands = tuple(replace(o, name="tile") if o.name == "addend" else o for o in workload.operands)
    with pytest.raises(ValueError, match="operand names"):
        Layer(request_of(good, replace(workload, operands=operands)))
