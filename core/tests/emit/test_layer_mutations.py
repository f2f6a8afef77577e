"""The fake unit sees what is wrong: of correct emitted text every wait is needed, and every buffer's turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import Where, faults, hand_schedule
from core.tests.emit.workloads import Window, conv2d_of


def example(asynchronous: bool) -> lp.Case:
    """Everything double buffered, weights streamed, addends in one buffer."""
    problem = conv2d_of(np.random.default_rng(8), 7, 5, Window(11, 3, 1, 1, 1), Window(7, 3, 1, 1, 1))
    near: dict[str, Where] = {"input": (2, 2), "weight": (1, 2), "multiplier": (0, 1), "output": (2, 2)}
    schedule = hand_schedule(problem.workload, [("K", 2), ("OY", 3)], {**near, "addend": (1, 1)}, {"weight": (1, 2)})
    assert faults(problem.workload, schedule) == ()
    return lp.Case(problem, schedule, asynchronous)


def outcome(folder: Path, case: lp.Case, text: str) -> str:
    """Empty if the layer computes what it should, whenever kernels are performed; else what is wrong."""
    lp.write_program(folder, [case], [text])
    lp.build(folder, mutant=True)
    for early in (False, True):
        outputs, fault = lp.run(folder, early)
        if fault:
            return fault
        if outputs != [np.ascontiguousarray(case.problem.expected).tobytes()]:
            return "another result"
    return ""


def without(text: str, pattern: str) -> Iterator[tuple[str, str]]:
    """(line, text without it) for every statement that matches."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if re.fullmatch(rf"\s*{pattern}", line):
            yield f"{number}: {line.strip()}", "\n".join([*lines[:number], "    ;", *lines[number + 1 :]])


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking kernel", "asynchronous kernel"])
def test_every_wait_is_needed(asynchronous: bool, tmp_path: Path) -> None:
    case = example(asynchronous)
    text = lp.layer_text("layer_0", case)
    assert outcome(tmp_path, case, text) == ""
    waits = list(without(text, r"\w+_wait\(\);"))
    assert len(waits) == (5 if asynchronous else 4)  # of the store twice, of copies before a kernel and at the end
    for line, changed in waits:
        assert outcome(tmp_path, case, changed), f"nobody misses {line}"


def test_launch_comes_before_wait(tmp_path: Path) -> None:
    case = example(asynchronous=True)
    text = lp.layer_text("layer_0", case)
    launch, wait = "conv2d_launch(&now->tile);", "kernel_wait();"
    assert text.count(launch) == text.count(wait) == 1
    assert outcome(tmp_path, case, text.replace(launch, "@").replace(wait, launch).replace("@", wait))
    before = text.replace(wait, ";").replace(launch, f"{launch}\n{wait}")
    assert outcome(tmp_path, case, before) == ""  # slower, not wrong
    early = text.replace("copy_wait();", ";", 1).replace(launch, f"{launch}\ncopy_wait();")
    assert outcome(tmp_path, case, early)


@pytest.mark.parametrize(
    "pattern",
    [
        r"step->\w+_turn \^= 1u;",
        r"ahead\.\w+_turn \^= 1u;",
        r"(before|now|next) = (now|next|free);",
        r"\*next = \*now;",
        r"layer_0_\w+\(task, (now|next|before|step)\);",
        r"tile->\w+ = .*;",
        r"step->(k|oy) (\+=|=) .*;",
    ],
)
def test_every_statement_is_needed(pattern: str, tmp_path: Path) -> None:
    case = example(asynchronous=True)
    found = list(without(lp.layer_text("layer_0", case), pattern))
    assert found
    for line, changed in found:
        assert outcome(tmp_path, case, changed), f"nobody misses {line}"


def test_contexts_of_running_kernels_stay(tmp_path: Path) -> None:
    """Two contexts: a program that makes the next step in the record of the running one is caught."""
    case = example(asynchronous=True)
    text = lp.layer_text("layer_0", case)
    assert "steps[1]" in text
    assert "has changed" in outcome(tmp_path, case, text.replace("&steps[1]", "&steps[0]"))
