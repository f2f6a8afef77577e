"""What ITA cannot do ends in a fault of the twin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from ita_jobs import ATTENTION, FEEDFORWARD, LINEAR, SINGLE_ATTENTION, SOFT_CLEAR, TRIGGER, Job, Jobs, word
from ita_twin_harness import SIDE, Driver, blocks, from_blocks, pack_bias, parse
from match_ita.arithmetic import RequantStep, requantise

from tests.ita_arithmetic import itamax, product

IDENTITY = RequantStep(1, 0)


def _linear_jobs(tiles: tuple[int, ...] = (1, 1, 1), step: RequantStep = IDENTITY, kind: int = 0) -> Jobs:
    jobs = Jobs()
    jobs.script.reserve(4 * 4096)
    jobs.setup(tiles, LINEAR, {0: step}, (kind, -80, -7091, 74, 20, 0))
    return jobs


def _raw(*commands: str) -> str:
    return "\n".join(commands) + "\n"


def test_one_job_passes(driver: Driver) -> None:
    jobs = _linear_jobs()
    jobs.add(Job(0, 4096, 8192))
    jobs.finish()
    assert driver.run(jobs.script.text()) == []


@pytest.mark.parametrize(
    "script, message",
    [
        (_raw(f"poke {word(0)} 0"), "a job word is written without an acquired job"),
        (_raw(f"poke {TRIGGER} 0"), "a trigger without an acquired job"),
        (_raw("acquire", "acquire"), "no job was acquired"),
        (_raw("acquire", f"poke {TRIGGER} 0"), "words that were never written"),
        (_raw("acquire", f"poke {SOFT_CLEAR} 0"), "cleared while a job is acquired"),
        (_raw("poke 0x64 0"), "no register at 0x64"),
        (_raw("poke 0x0c 0"), "register 0x0c cannot be written"),
        (_raw("peek 0x00"), "register 0x00 cannot be read"),
    ],
)
def test_protocol(driver: Driver, script: str, message: str) -> None:
    assert message in driver.fault(script)


def test_more_jobs_than_contexts(build: Callable[..., Driver]) -> None:
    """With two contexts the third job has to wait."""
    jobs = _linear_jobs((15, 1, 1))
    for _ in range(4):
        jobs.add(Job(0, 4096, 8192))
    lines = [line for line in jobs.script.lines if line != "wait"]
    assert "no job was acquired" in build("quantlib").fault("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "job, message",
    [
        (Job(4, 4096, 8192), "input is not a multiple of 8"),
        (Job(0, 4096, 8196), "output is not a multiple of 8"),
        (Job(0, 4096, 8192, bias=12292), "bias is not a multiple of 8"),
        (Job(0, 1 << 20, 8192), "weights at"),
        (Job(0, 4096, (1 << 17) - 64), "output at"),
        (Job(0, 4096, 8192, ends=False), "has not an output, but is the last one"),
        (Job(0, 4096, 8192, engine=SINGLE_ATTENTION | 1 << 2), "an activation in step QK"),
        (Job(0, 4096, 8192, engine=LINEAR | 3 << 2), "activation 3 does not exist"),
    ],
)
def test_jobs_that_ita_cannot_do(driver: Driver, job: Job, message: str) -> None:
    jobs = _linear_jobs()
    jobs.add(job)
    jobs.finish()
    assert message in driver.fault(jobs.script.text())


def test_output_before_the_end_of_a_sum(driver: Driver) -> None:
    jobs = _linear_jobs((1, 2, 1))
    jobs.add(Job(0, 4096, 8192, ends=True))
    jobs.finish()
    assert "has an output, but is not the last one" in driver.fault(jobs.script.text())


def test_shift(driver: Driver) -> None:
    jobs = _linear_jobs(step=IDENTITY)
    jobs.common[9] = 34
    jobs.add(Job(0, 4096, 8192))
    jobs.finish()
    assert "a shift by 34" in driver.fault(jobs.script.text())


def test_layers_do_not_mix(driver: Driver) -> None:
    """QK of a layer of attention comes first, so AV must follow."""
    jobs = _linear_jobs()
    jobs.add(Job(0, 4096, 8192, engine=SINGLE_ATTENTION))
    jobs.add(Job(0, 4096, 8192, engine=LINEAR))
    jobs.finish()
    assert "layer kind 2 in step AV" in driver.fault(jobs.script.text())


def _weights(flags: list[int], weights: list[int], following: list[int]) -> str:
    """Jobs whose handling of weights is written out."""
    jobs = _linear_jobs((15, 1, 1))
    for flag, weight, next_weight in zip(flags, weights, following, strict=True):
        jobs.script.add("acquire")
        for index, value in jobs.common.items():
            jobs.poke(word(index), value)
        for index, offset in enumerate((0, weight, next_weight, 0, 8192)):
            jobs.poke(word(index), f"@{offset}")
        jobs.poke(word(14), flag | 4)
        jobs.poke(TRIGGER, 0)
    return jobs.script.text()


@pytest.mark.parametrize(
    "flags, weights, following, message",
    [
        ([0], [4096], [4096], "no weights are in the buffer"),
        ([1, 0], [4096, 4096], [4096, 4096], "no weights are in the buffer"),
        ([3, 1], [4096, 4096], [4096, 4096], "weights are preloaded, but"),
        ([3, 0], [4096, 4096], [8192, 4096], "has loaded weights from"),
    ],
)
def test_weights_in_advance(
    driver: Driver, flags: list[int], weights: list[int], following: list[int], message: str
) -> None:
    assert message in driver.fault(_weights(flags, weights, following))


def test_weights_are_read_when_the_job_before_runs(driver: Driver) -> None:
    """The first 16 columns come with the job before: what changes later is not seen in them."""
    jobs = _linear_jobs((2, 1, 1))
    ones, twos = np.full((SIDE, SIDE), 1, np.int8), np.full((SIDE, SIDE), 2, np.int8)
    unit = np.zeros((SIDE, SIDE), np.int8)
    unit[:, 0] = 1
    jobs.script.add("write", 0, unit.tobytes().hex())
    jobs.script.add("write", 4096, ones.tobytes().hex())
    jobs.add(Job(0, 4096, 8192))
    jobs.add(Job(0, 4096, 8192))
    jobs.script.add("write", 4096, twos.tobytes().hex())
    jobs.finish()
    jobs.script.dump(8192, 4096)
    result = parse(driver.run(jobs.script.text())[0]).reshape(SIDE, SIDE)
    np.testing.assert_array_equal(result[:, :16], 1)
    np.testing.assert_array_equal(result[:, 16:], 2)


def test_layers_of_kind_attention_and_feedforward(driver: Driver) -> None:
    """All steps in ITA's own order, each with its requantisation; two blocks of rows, one of everything else."""
    rng = np.random.default_rng(5)
    rows = 2 * SIDE
    x = rng.integers(-128, 128, (rows, SIDE)).astype(np.int8)
    w = rng.integers(-30, 30, (6, SIDE, SIDE)).astype(np.int8)
    bias = rng.integers(-4000, 4000, SIDE)
    steps = [RequantStep(20 + i, 12 if i != 4 else 10, i - 3) for i in range(8)]
    jobs = Jobs()
    script = jobs.script
    source, packed = script.place(blocks(x)), script.place(pack_bias(bias))
    weights = [script.place(np.ascontiguousarray(matrix.T)) for matrix in w]
    q, k, vt, logits, av, out, f1, f2 = (script.reserve(2 * 4096) for _ in range(8))
    jobs.setup((2, 1, 1, 1), ATTENTION, dict(enumerate(steps)))
    for weight, target in ((weights[0], q), (weights[1], k)):
        for row in (0, 4096):
            jobs.add(Job(source + row, weight, target + row, bias=packed))
    for row in (0, 4096):
        jobs.add(Job(weights[2], source + row, vt + row, bias=packed, by_row=True))
    for row in (0, 4096):
        for column in (0, 4096):
            jobs.add(Job(q + row, k + column, logits + column))
        for inner in (0, 4096):
            jobs.add(Job(logits + inner, vt + inner, av + row, ends=inner > 0))
    for row in (0, 4096):
        jobs.add(Job(av + row, weights[3], out + row, bias=packed))
    jobs.finish()
    jobs.setup((2, 1, 1, 1), FEEDFORWARD, dict(enumerate(steps)))
    for weight, base, target in ((weights[4], source, f1), (weights[5], f1, f2)):
        for row in (0, 4096):
            jobs.add(Job(base + row, weight, target + row, bias=packed))
    jobs.finish()
    for target in (out, f2):
        script.dump(target, 2 * 4096)
    lines = driver.run(script.text())
    projected = [requantise(product(x, w[i]) + bias, steps[i]) for i in range(3)]
    scores = itamax(requantise(product(projected[0], projected[1].T), steps[3]), 0, 65280)
    context = requantise(product(scores, projected[2]), steps[4])
    expected = requantise(product(context, w[3]) + bias, steps[5])
    np.testing.assert_array_equal(from_blocks(parse(lines[0]), rows, SIDE), expected)
    hidden = requantise(product(x, w[4]) + bias, steps[6])
    expected = requantise(product(hidden, w[5]) + bias, steps[7])
    np.testing.assert_array_equal(from_blocks(parse(lines[1]), rows, SIDE), expected)
