"""Constants that are fetched ahead: the choice, programs whose copies arrive late, and mutants that must be noticed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from match_beyond.fetching import Fetching, Found, Option
from match_beyond.planning import plan
from match_core.contract.hardware import Link
from match_core.contract.planning import Plan, PlanRequest
from match_core.contract.program import Program
from match_core.validate.sequential_program import program_faults
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from benchmarks.large_networks import NetworkBuilder

LINK = Link("ram", "l2", "l3", 1.0, setup_cycles=10)
#: Less than the network's constants and activations together.
L2_BYTES = 60_000


def plain(request: PlanRequest) -> Plan | None:
    """The mapping as it is: its program streams constants."""
    return plan(replace(request, mapping=replace(request.mapping, objective="energy")))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = NetworkBuilder(5, (16, 12, 12))
    x = builder.input
    for channels in (32, 48, 64, 48, 64):
        x = builder.conv(x, channels, 3 if channels == 48 else 1)
    return builder.save(tmp_path_factory.mktemp("fetched") / "model.onnx", builder.classify(x, 10))


@pytest.fixture(scope="module")
def spied(model: Path, spy: Any) -> tuple[Any, VerifyResult]:
    request = VerifyRequest(model, "gap9", memory=(("l2", L2_BYTES),), mode="lazy", sanitize=True)
    return spy, verify_model(request, spy.plugins())


def test_copies_that_arrive_late_change_no_bit(spied: tuple[Any, VerifyResult]) -> None:
    spy, result = spied
    program = result.compilation.program
    assert result.bit_exact
    assert program is spy.seen[-1][1].program and any(task.assignment.fetched for task in program.tasks)
    assert next(use.used_bytes for use in program.memory if use.memory == "l2") <= L2_BYTES
    assert abs(program.predicted_cycles / result.run.cycles_total - 1) < 0.02


def test_it_is_faster_than_streaming_alone(spied: tuple[Any, VerifyResult]) -> None:
    (request, answer), *_ = spied[0].seen
    streaming = sum(assignment.schedule.cost.total_cycles for assignment in request.mapping.assignments)
    assert answer.program.predicted_cycles < streaming
    assert plain(request) is None


def test_the_host_starts_copies_of_constants_in_c(spied: tuple[Any, VerifyResult]) -> None:
    files = (file for file in spied[1].compilation.sources.files if file.name.endswith(".c"))
    text = "\n".join(file.content.decode() for file in files)
    assert re.search(r"match_gap9_swap_in\(l2 \+ \d+u, ctx->l3 \+ \d+u, \d+u\);", text)
    assert "l3_swap" not in text, "no activation leaves the home memory"


def mutants(program: Program) -> Iterator[tuple[str, Program]]:
    """Programs with one mistake each: no wait, bytes of another constant, too few, at a wrong place, copied too early
    into memory that is in use, or memory that is used again too early."""
    for position, task in enumerate(program.tasks):

        def with_task(position: int = position, **fields: object) -> Program:
            other = replace(program.tasks[position], **fields)  # type: ignore[arg-type]
            return replace(program, tasks=(*program.tasks[:position], other, *program.tasks[position + 1 :]))

        if task.needs:
            yield f"no wait before task {position}", with_task(needs=())
        if task.assignment.fetched:
            others = tuple(name for name in task.buffers_in if not name.startswith("constant"))
            yield f"task {position} names no constant", with_task(buffers_in=others)
    for number, swap in enumerate(program.swaps):

        def with_swap(number: int = number, **fields: object) -> Program:
            other = replace(program.swaps[number], **fields)  # type: ignore[arg-type]
            return replace(program, swaps=(*program.swaps[:number], other, *program.swaps[number + 1 :]))

        yield f"copy {number} of a wrong constant", with_swap(source_start=swap.source_start + 16)
        yield f"copy {number} to a wrong place", with_swap(target_start=swap.target_start + 16)
        yield f"copy {number} is short", with_swap(size_bytes=swap.size_bytes - 1)
        yield (
            f"copy {number} is missing",
            replace(program, swaps=(*program.swaps[:number], *program.swaps[number + 1 :])),
        )
    for number, buffer in enumerate(program.buffers):
        if buffer.kind == "constant" and buffer.memory == "l2":
            for other in program.buffers:
                apart = other.offset_bytes + other.size_bytes <= buffer.offset_bytes
                apart = apart or buffer.offset_bytes + buffer.size_bytes <= other.offset_bytes
                if other.kind == "activation" and apart:
                    both = other.first_task <= buffer.last_task and buffer.first_task <= other.last_task
                    moved = replace(buffer, offset_bytes=other.offset_bytes)
                    buffers = (*program.buffers[:number], moved, *program.buffers[number + 1 :])
                    if both:
                        yield f"{buffer.name} in the memory of {other.name}", replace(program, buffers=buffers)


def test_every_mutant_is_caught(spied: tuple[Any, VerifyResult]) -> None:
    spy, result = spied
    request, answer = spy.seen[-1]
    program, graph = answer.program, result.compilation.model.graph
    needs = request.measure(tuple(task.assignment for task in program.tasks))
    given = (needs.overlaps, needs.places)
    assert program_faults(graph, program, *given) == ()
    found = list(mutants(program))
    missed = [name for name, mutant in found if not program_faults(graph, mutant, *given)]
    assert len(found) > 20
    assert not missed


def test_a_copy_that_starts_while_its_memory_is_in_use_is_caught(spied: tuple[Any, VerifyResult]) -> None:
    spy, result = spied
    request, answer = spy.seen[-1]
    needs = request.measure(tuple(task.assignment for task in answer.program.tasks))
    caught = 0
    for number, swap in enumerate(answer.program.swaps):
        target = next(buffer for buffer in answer.program.buffers if buffer.name == swap.target)
        used = any(
            buffer.memory == target.memory
            and buffer.last_task < target.first_task
            and buffer.offset_bytes < target.offset_bytes + target.size_bytes
            and target.offset_bytes < buffer.offset_bytes + buffer.size_bytes
            for buffer in answer.program.buffers
            if buffer.kind in ("activation", "scratch", "constant")
        )
        if used:
            early = replace(swap, needs=(("host", 0), *swap.needs[1:]))
            swaps = (early, *answer.program.swaps[:number], *answer.program.swaps[number + 1 :])
            mutant = replace(answer.program, swaps=tuple(replace(s, index=n) for n, s in enumerate(swaps)))
            graph = result.compilation.model.graph
            assert program_faults(graph, mutant, needs.overlaps, needs.places)
            caught += 1
    assert caught


def option(cycles: int, *, streamed: int = 0, staging: int = 0, resident: int = 0, fetched: int = 0) -> Option:
    return Option((), (cycles,), (streamed,), (staging,), resident, fetched)


def fetching(options: list[list[Option]], live: list[int], capacity: int) -> Fetching:
    groups = [[task] for task in range(len(options))]
    none = [0] * len(options)
    return Fetching(groups, options, live, capacity, range(len(options) + 1), (), LINK, none, none)


def ways(compute: int, size: int) -> list[Option]:
    """Streamed in two parts, resident, or fetched."""
    return [
        option(max(compute, size) + size // 2 + 10, streamed=size, staging=size, resident=0),
        option(compute, resident=size),
        option(compute, fetched=size),
    ]


def away(compute: int, size: int) -> list[Option]:
    """Streamed or fetched."""
    return [way for way in ways(compute, size) if not way.resident]


def test_a_fetch_hides_behind_earlier_tasks() -> None:
    problem = fetching([[option(500)], away(100, 300)], [0, 0], 299)
    assert problem.improved([0, 0], 500 + 460) is None, "there is no room"
    problem.capacity = 300
    found = problem.improved([0, 0], 500 + 460)
    assert found is not None
    assert (found.cycles, found.fetches[0].copies) == (600, ((0, 0, 300),))


def test_a_fetch_that_takes_longer_than_one_task_is_divided() -> None:
    problem = fetching([[option(200)], [option(200)], away(100, 300)], [0, 0, 0], 300)
    found = problem.improved([0, 0, 0], 400 + 460)
    assert found is not None
    assert (found.cycles, found.fetches[0].copies) == (500, ((0, 0, 110), (1, 110, 190)))


def test_tasks_that_stream_leave_nothing_of_the_link() -> None:
    busy = option(200, streamed=100, staging=100)
    problem = fetching([[busy], [busy], away(100, 300)], [0, 0, 0], 400)
    assert problem.improved([0, 0, 0], 0) is None
    found = problem.replayed([0, 0, 1])
    assert found is not None and found.cycles == 500 + 310, "the copy delays a task by its whole length"


def test_memory_that_is_needed_between_shortens_the_fetch() -> None:
    problem = fetching([[option(200)], [option(200)], away(100, 300)], [400, 0, 0], 400)
    found = problem.improved([0, 0, 0], 400 + 460)
    assert found is not None
    assert (found.cycles, found.fetches[0].copies) == (400 + 110 + 100, ((1, 0, 300),))


def test_slack_shortens_a_fetch_or_prevents_it_and_leaves_the_given_program_alone() -> None:
    streamed = option(460, streamed=300, staging=100)
    problem = fetching([[option(200)], [option(200)], [streamed, option(100, fetched=300)]], [0, 0, 0], 300)
    shorter = replace(problem, slack=[1, 0, 0]).improved([0, 0, 0], 400 + 460)
    assert shorter is not None
    assert (shorter.cycles, shorter.fetches[0].copies) == (400 + 110 + 100, ((1, 0, 300),))
    none = replace(problem, slack=[0, 0, 1])
    assert none.replayed([0, 0, 1]) is None
    for slack in (1, 1000):
        given = replace(problem, slack=[slack] * 3).replayed([0, 0, 0])
        assert given is not None and not given.fetches


@pytest.mark.parametrize("seed", range(12))
def test_small_problems_are_solved_as_well_as_by_trying_everything(seed: int) -> None:
    dice = random.Random(seed)
    options = [
        ways(dice.randrange(50, 400), dice.randrange(50, 400)) if dice.random() < 0.8 else [option(dice.randrange(400))]
        for _ in range(6)
    ]
    live = [dice.randrange(0, 300) for _ in options]
    problem = fetching(options, live, 900)
    start = [0] * len(options)
    before = problem.replayed(start)
    assert before is not None
    found = problem.improved(start, before.cycles)
    tried = (problem.replayed(chosen) for chosen in product(*(range(len(ways)) for ways in options)))
    best = min(one.cycles for one in tried if one is not None)
    assert (before if found is None else found).cycles == best


def test_the_search_replays_so_many_tasks_however_large_the_network_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted(Fetching):
        replays = 0

        def replayed(self, chosen: Sequence[int], limit: int | None = None) -> Found | None:
            type(self).replays += 1
            return super().replayed(chosen, limit)

    monkeypatch.setattr("match_beyond.fetching.VISITED", 40_000)
    monkeypatch.setattr("match_beyond.fetching.REPLAYS", (5, 10))
    options = [ways(100 if task % 50 else 2000, 50) for task in range(400)]
    groups = [[task] for task in range(len(options))]
    large = Counted(groups, options, [0] * 400, 2_000, range(401), (), LINK, [0] * 400, [0] * 400)
    streamed = large.replayed([0] * 400)
    assert streamed is not None
    Counted.replays = 0
    found = large.improved([0] * 400, streamed.cycles)
    assert found is not None and found.cycles < streamed.cycles
    assert Counted.replays <= 2 + 3 * 40_000 // 400 + 5
