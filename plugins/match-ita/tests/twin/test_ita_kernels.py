"""The runtime's kernels against numpy: short blocks, several heads, padded keys, runs of many blocks, timing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ita_twin_harness import (
    FAST,
    SIDE,
    Driver,
    Ints,
    Script,
    attention,
    from_blocks,
    from_columns,
    linear,
    matmul,
    parse,
    turned,
)
from match_ita import arithmetic
from match_ita.arithmetic import RequantStep
from match_ita.constants import values

from tests import ita_arithmetic

MODES = ("eager", "lazy")
FENCE = bytes([0x5C] * SIDE)
_few = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


def _random(seed: int, *shape: int) -> Ints:
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


def _bias(seed: int, size: int) -> Ints:
    return np.random.default_rng(seed).integers(-(1 << 22), 1 << 22, size)


@_few
@given(
    rows=st.integers(1, 150),
    outputs=st.integers(1, 3),
    inputs=st.integers(1, 3),
    step=st.builds(RequantStep, st.integers(0, 255), st.integers(0, 33), st.integers(-128, 127)),
    kind=st.integers(0, 2),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 1 << 20),
)
def test_linear(
    driver: Driver, rows: int, outputs: int, inputs: int, step: RequantStep, kind: int, mode: str, seed: int
) -> None:
    x, w = _random(seed, rows, inputs * SIDE), _random(seed + 1, inputs * SIDE, outputs * SIDE)
    bias, script = _bias(seed, outputs * SIDE), Script()
    second, constants = RequantStep(74, 20, 1), arithmetic.GeluConstants(-80, -7091, RequantStep(74, 20, 1))
    linear(script, x, w, bias, step, (kind, -80, -7091, 74, 20, 1))
    result, fence = driver.run(script.text(), mode)
    expected = ita_arithmetic.linear(x, w, bias, step)
    if kind == 1:
        expected = arithmetic.gelu(expected, constants)
    elif kind == 2:
        expected = ita_arithmetic.relu(expected, second)
    np.testing.assert_array_equal(from_columns(parse(result), rows, outputs * SIDE), expected)
    assert bytes.fromhex(fence) == FENCE


@pytest.mark.parametrize("rows, blocks", [(1, 18), (16, 17), (40, 16)])
def test_runs_of_more_than_15_blocks(driver: Driver, rows: int, blocks: int) -> None:
    x, w, bias = _random(1, rows, SIDE), _random(2, SIDE, blocks * SIDE), _bias(3, blocks * SIDE)
    script, step = Script(), RequantStep(50, 14)
    linear(script, x, w, bias, step)
    result, fence = driver.run(script.text())
    expected = ita_arithmetic.linear(x, w, bias, step)
    np.testing.assert_array_equal(from_columns(parse(result), rows, blocks * SIDE), expected)
    assert bytes.fromhex(fence) == FENCE


@_few
@given(
    rows=st.integers(1, 150),
    outputs=st.integers(1, 3),
    inputs=st.integers(1, 3),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 1 << 20),
)
def test_turned(driver: Driver, rows: int, outputs: int, inputs: int, mode: str, seed: int) -> None:
    x, w = _random(seed, rows, inputs * SIDE), _random(seed + 1, inputs * SIDE, outputs * SIDE)
    bias, script, step = _bias(seed, outputs * SIDE), Script(), RequantStep(90, 15, -3)
    turned(script, x, w, bias, step)
    padded = -(-rows // SIDE) * SIDE
    expected = np.zeros((outputs * SIDE, padded), np.int8)
    expected[:, :rows] = ita_arithmetic.linear(x, w, bias, step).T
    found = from_blocks(parse(driver.run(script.text(), mode)[0]), outputs * SIDE, padded)
    np.testing.assert_array_equal(found, expected)


@_few
@given(
    heads=st.integers(1, 3),
    rows=st.integers(1, 80),
    outputs=st.integers(1, 2),
    inputs=st.integers(1, 2),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 1 << 20),
)
def test_matmul(driver: Driver, heads: int, rows: int, outputs: int, inputs: int, mode: str, seed: int) -> None:
    a, b = _random(seed, heads, rows, inputs * SIDE), _random(seed + 1, heads, outputs * SIDE, inputs * SIDE)
    script, step = Script(), RequantStep(200, 16, 5)
    matmul(script, a, b, step)
    result, fence = driver.run(script.text(), mode)
    expected = arithmetic.requantise(ita_arithmetic.product(a, b.transpose(0, 2, 1)), step)
    found = parse(result).reshape(heads, -1)
    for head in range(heads):
        np.testing.assert_array_equal(from_columns(found[head], rows, outputs * SIDE), expected[head])
    assert bytes.fromhex(fence) == FENCE


def _attention(
    driver: Driver, preset: str, heads: int, rows: int, keys: int, depth: int, seed: int, mode: str, script: Script
) -> Ints:
    """Adds an attention to the script; what it must dump."""
    figures = values(preset)
    q, k = (_random(seed + i, heads, size, depth) for i, size in enumerate((rows, keys)))
    padded = -(-keys // SIDE) * SIDE
    vt = np.zeros((heads, depth, padded), np.int8)
    vt[:, :, :keys] = _random(seed + 2, heads, depth, keys)
    qk, av = RequantStep(40, 13 if preset == "rtl" else 11), RequantStep(120, 14, -2)
    attention(script, q, k, vt, qk, av)
    flat = [part.transpose(1, 0, 2).reshape(part.shape[1], -1) for part in (q, k)]
    return ita_arithmetic.attention(
        flat[0], flat[1], vt.reshape(heads * depth, padded), qk, av, heads,
        figures["softmax_shift"], figures["softmax_numerator"],
    )  # fmt: skip


def _heads(line: str, heads: int, rows: int, depth: int) -> Ints:
    found = parse(line).reshape(heads, -1)
    return np.concatenate([from_columns(head, rows, depth) for head in found], axis=1)


@pytest.mark.parametrize("preset", ["rtl", "quantlib", "islped"])
@_few
@given(
    heads=st.integers(1, 2),
    rows=st.integers(1, 150),
    keys=st.integers(1, 150),
    depth=st.integers(1, 2),
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 1 << 20),
)
def test_attention(
    build: Callable[..., Driver], preset: str, heads: int, rows: int, keys: int, depth: int, mode: str, seed: int
) -> None:
    """Followed by a linear layer, which has to find ITA ready for it, and another attention."""
    columns = -(-keys // SIDE) * SIDE
    assume(heads * depth * SIDE * (2 * rows + keys + columns) + (columns + 2 * SIDE) * SIDE < 125 * 1024)
    script = Script()
    x, w, bias, step = _random(seed, 5, SIDE), _random(seed, SIDE, SIDE), _bias(seed, SIDE), RequantStep(9, 12)
    first = _attention(build(preset), preset, heads, rows, keys, depth * SIDE, seed, mode, script)
    linear(script, x, w, bias, step)
    second = _attention(build(preset), preset, 1, keys, rows, SIDE, seed, mode, script)
    third = _attention(build(preset), preset, 1, 3, 200, SIDE, seed, mode, script)
    lines = build(preset).run(script.text(), mode)
    np.testing.assert_array_equal(_heads(lines[0], heads, rows, depth * SIDE), first)
    np.testing.assert_array_equal(from_columns(parse(lines[2]), 5, SIDE), ita_arithmetic.linear(x, w, bias, step))
    np.testing.assert_array_equal(_heads(lines[4], 1, keys, SIDE), second)
    np.testing.assert_array_equal(_heads(lines[6], 1, 3, SIDE), third)
    assert {bytes.fromhex(line) for line in lines[1::2]} == {FENCE}


def _clock(line: str, name: str) -> int:
    words = line.split()
    return int(words[words.index(name) + 1])


@pytest.mark.parametrize("preset", ["rtl", "quantlib"])
def test_time_of_a_layer_is_that_of_its_jobs(build: Callable[..., Driver], preset: str) -> None:
    """Programming is hidden behind the jobs: launch, first job programmed, then one job after the other. The words that
    all jobs share stay in the contexts, so the second call has none to write."""
    figures = values(preset)
    script = Script()
    linear(script, _random(1, 128, 128), _random(2, 128, 192), _bias(3, 192), RequantStep(1, 8))
    call = next(line for line in script.lines if line.startswith("linear"))
    script.lines += ["clocks", call, "clocks"]
    first, second = (_clock(line, "control") for line in build(preset, FAST).run(script.text())[-2:])
    # Two blocks of rows by three of columns, of which every second job stores; the last one loads no more weights.
    around = figures["job_fill_cycles"] + figures["job_turn_cycles"]
    sums = 6 * (figures["job_cycles"] + around)
    stores = 6 * (128 + 32 + 2 + 128 + figures["job_drain_cycles"] + around)
    each = figures["jobs_launch_cycles"] + figures["job_program_cycles"] + sums + stores
    assert first == figures["call_cycles"] + each + figures["job_setup_cycles"]
    assert second == first + each
