"""Cycle formulas: check values of the GAP9 sheet, measured data, and equality of Python and C."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from match_gap9 import formulas, formulas_dma
from match_gap9.constants import PRESETS, constants, values
from match_gap9.ne16 import formulas as ne16_formulas
from match_gap9.ne16.formulas import Ne16Quant

PUBLISHED = values("as-published")
ENGINE = values("engine")
MODES = {"conv3x3": 0, "depthwise3x3": 1, "conv1x1": 2}


@pytest.mark.parametrize(
    ("operation", "sizes", "cycles"),
    [
        ("conv3x3", (32, 32, 64, 64), 304_436),
        ("conv3x3", (16, 16, 64, 64), 90_576),
        ("conv3x3", (16, 16, 32, 16), 12_780),
        ("conv3x3", (32, 32, 16, 3), 25_531),
        ("conv1x1", (32, 32, 64, 64), 75_988),
        ("conv1x1", (1, 1, 640, 128), 11_480),
        ("depthwise3x3", (32, 32, 64, 1), 109_868),
    ],
)
def test_ne16_check_values_of_the_sheet(operation, sizes, cycles):
    out_y, out_x, k_out, k_in = sizes
    assert ne16_formulas.ne16_job(PUBLISHED, operation, out_y=out_y, out_x=out_x, k_out=k_out, k_in=k_in) == cycles


def test_ne16_engine_preset_equals_every_measured_job(referee: Callable):
    names = {"conv3x3": "conv3x3", "dw3x3": "depthwise3x3", "conv1x1": "conv1x1"}
    rows = referee("ne16.csv")
    assert len(rows) == 80
    for row in rows:
        pad = row["pad"]
        bottom, right = (int(pad), int(pad)) if pad.isdigit() else (int(pad[3]), int(pad[7]))
        quant = Ne16Quant(scale_bits=int(row["scale_bits"]), bias=True)
        job = ne16_formulas.ne16_job(
            ENGINE,
            names[row["op"]],
            out_y=int(row["out_h"]),
            out_x=int(row["out_w"]),
            k_out=int(row["k_out"]),
            k_in=int(row["k_in"]),
            pad_bottom=bottom,
            pad_right=right,
            quant=quant,
        )
        assert job == int(row["job_cycles"]), row
        assert abs(ENGINE["ne16_program_cycles"] - int(row["program_cycles"])) <= 4


def elapsed(timing, **copy):
    """Cycles of one copy from its issue to the end of the wait for it."""
    return sum(int(part) for part in formulas_dma.dma_copy(timing, **copy))


def test_dma_engine_preset_against_measurements(referee: Callable):
    """Residuals stated with the data: -4..+13 inwards, -5..+6 outwards, event wait."""
    checked = 0
    for row in referee("dma.csv"):
        if row["note"] != "event wait" or row["kind"] not in ("1d", "2d"):
            continue
        direction = "in" if row["direction"] == "L2->L1" else "out"
        data = formulas_dma.dma_transfer(
            ENGINE,
            rows=int(row["rows"]),
            row_bytes=int(row["row_bytes"]),
            direction=direction,
            l1_offset=int(row["l1_off"]),
        )
        residual = int(row["total_cycles"]) - int(
            formulas_dma.dma_issue(ENGINE) + data + formulas_dma.dma_wait(ENGINE, direction)
        )
        low, high = (-4, 13) if direction == "in" else (-5, 6)
        assert low <= residual <= high, (row, residual)
        checked += 1
    assert checked == 49


def test_dma_planes_against_measurements(referee: Callable):
    """Planes of a 3-D copy queued without waits: the data times add up and hide the issue of the next plane."""
    for row in referee("dma.csv"):
        if row["kind"] != "3d loop" or "one event wait" not in row["note"]:
            continue
        direction = "in" if row["direction"] == "L2->L1" else "out"
        cycles = elapsed(
            ENGINE,
            planes=int(row["planes"]),
            rows=int(row["rows"]),
            row_bytes=int(row["row_bytes"]),
            direction=direction,
        )
        assert abs(int(cycles) - int(row["total_cycles"])) <= 0.06 * int(row["total_cycles"]), row


def test_formulas_are_vectorised_and_integral():
    out_y = np.arange(1, 40)
    many = formulas.conv(PUBLISHED, out_y=out_y, out_x=7, k_out=9, c_in=5, kernel_y=3, kernel_x=3)
    one = [int(formulas.conv(PUBLISHED, out_y=int(y), out_x=7, k_out=9, c_in=5, kernel_y=3, kernel_x=3)) for y in out_y]
    assert many.dtype == np.int64
    assert many.tolist() == one
    for preset in PRESETS:
        jobs = ne16_formulas.ne16_layer(
            values(preset), "conv3x3", out_y=out_y, out_x=out_y, k_out=33, k_in=17, stride=2, in_y=2 * out_y
        )
        assert jobs.dtype == np.int64
        assert jobs.shape == out_y.shape
        assert (np.diff(jobs) >= 0).all()


def test_conv_formula_by_hand():
    """3x3, 16 channels, 8 x 3 outputs, 5 output channels: one row per core, two pairs, one odd column."""
    length = 144
    block = (5 + 36 * 14 + 10) + (5 + 0 + 10)
    channel = (5 + 36 * 5 + 10) + (5 + 0 + 10)
    pixel = (5 + 36 * 3 + 10) + (5 + 0 + 10)
    expected = 2 * (2 * length + 2 * block + 1 * channel) + 1 * 5 * pixel
    assert formulas.conv(PUBLISHED, out_y=8, out_x=3, k_out=5, c_in=16, kernel_y=3, kernel_x=3) == expected


def test_dma_as_published_by_hand():
    assert elapsed(PUBLISHED, planes=1, rows=1, row_bytes=1000) == 370 + 550 + 125
    assert elapsed(PUBLISHED, planes=1, rows=10, row_bytes=100) == 370 + 550 + 125 + 10
    # HWC to CHW of 6 channels: channels * (12 + H*W)
    assert elapsed(PUBLISHED, planes=6, rows=49, row_bytes=1) == 370 + 550 + 6 * (12 + 49)


def test_parts_of_a_copy():
    """Software occupies the core, the link works beside it; only the simulator's figures have a separate wait."""
    issue, data, wait = formulas_dma.dma_copy(PUBLISHED, planes=3, rows=7, row_bytes=64)
    assert (issue, data, wait) == (920, 3 * (56 + 7) + 2 * 10, 0)
    issue, data, wait = formulas_dma.dma_copy(ENGINE, planes=3, rows=7, row_bytes=64)
    assert (issue, data, wait) == (3 * 13, 3 * 56 - 2 * 13, 15)


def test_commands_of_large_copies():
    """PMSIS takes 65535 bytes at most in one command."""
    assert formulas_dma.dma_commands(planes=1, rows=1, row_bytes=65_535 + 1) == 2
    assert formulas_dma.dma_commands(planes=1, rows=100, row_bytes=1000) == 2
    assert formulas_dma.dma_commands(planes=4, rows=65, row_bytes=1000) == 4


def test_requests_to_the_external_ram_queue():
    issue, data, wait = formulas_dma.l3_copy(PUBLISHED, commands=2, size_bytes=1000)
    assert issue + data + wait == 100 + 2 * (500 + 1000) + 100


def test_constants_have_sources_and_unique_names():
    for preset in PRESETS:
        names = [constant.name for constant in constants(preset)]
        assert len(set(names)) == len(names)
        assert all(constant.source for constant in constants(preset))
        assert all(float(constant.value).is_integer() for constant in constants(preset))
    assert all(set(values(preset)) == set(values("open-sdk")) for preset in PRESETS)


# ---- C and Python agree ------------------------------------------------------------------------------------


def _cluster_cases():
    sizes = (1, 2, 3, 7, 8, 9, 16, 33)
    for out_y, out_x, k_out in itertools.product((1, 3, 4, 8, 9, 17), (1, 2, 7, 8), (1, 3, 4, 18)):
        for c_in, kernel in ((1, 1), (3, 3), (16, 3), (5, 5)):
            shape = (out_y, out_x, k_out, c_in, kernel, kernel)
            conv = {"out_y": out_y, "out_x": out_x, "k_out": k_out, "c_in": c_in}
            kernels = {"kernel_y": kernel, "kernel_x": kernel}
            window = {"out_y": out_y, "out_x": out_x, "channels": k_out, **kernels}
            yield "conv", shape, formulas.conv, {**conv, **kernels}
            yield "pointwise", shape, formulas.pointwise, conv
            yield "depthwise", (*shape, 19), formulas.depthwise, {**window, "in_y": 19}
    for a, b in itertools.product(sizes, sizes):
        yield "linear", (a, b), formulas.linear, {"c_in": a, "k_out": b}


def test_cluster_formulas_in_c_equal_python(driver, new_script):
    script = new_script()
    expected = []
    for name, numbers, function, arguments in _cluster_cases():
        script.add("cost", name, *numbers)
        expected.append(int(function(PUBLISHED, **arguments)))
    got = [int(line) for line in driver.run(script.text())]
    assert len(got) > 900
    assert got == expected


@pytest.mark.parametrize("preset", ["as-published", "engine"])
def test_dma_formula_in_c_equals_python(build, new_script, preset):
    script = new_script()
    expected = []
    for rows, row_bytes, inwards, strided, offset in itertools.product(
        (1, 2, 3, 64), (1, 3, 4, 255, 256, 257, 1000), (False, True), (False, True), (0, 1, 3)
    ):
        if rows > 1 and not strided:
            continue
        script.add("cost dma", rows, row_bytes, int(inwards), int(strided), offset)
        direction = "in" if inwards else "out"
        expected.append(
            int(
                formulas_dma.dma_transfer(
                    values(preset),
                    rows=rows,
                    row_bytes=row_bytes,
                    direction=direction,
                    strided=strided,
                    l1_offset=offset,
                )
            )
        )
    assert [int(line) for line in build(preset).run(script.text())] == expected


@pytest.mark.parametrize("preset", ["as-published", "engine"])
def test_ne16_formula_in_c_equals_python(build, new_script, preset):
    script = new_script()
    expected = []
    quants = [
        Ne16Quant(weight_bits, scale_bits, bias, shift, out_bits)
        for weight_bits, scale_bits, bias, shift, out_bits in (
            (8, 32, False, False, 8),
            (8, 8, True, False, 8),
            (5, 16, True, True, 8),
            (3, 32, True, False, 32),
            (8, 0, False, False, 32),
        )
    ]
    for operation, out_y, out_x, k_out, k_in, pad in itertools.product(
        MODES, (1, 3, 7, 8), (2, 6), (1, 16, 33, 64, 70), (3, 16, 40), (0, 1)
    ):
        if operation == "conv1x1" and pad:
            continue
        tile = 16 if operation == "depthwise3x3" else 32
        halo = 0 if operation == "conv1x1" else 2
        for quant in quants:
            rem_ho, rem_wo = (out_y - 1) % 3 + 1, (out_x - 1) % 3 + 1
            script.add(
                "costne16",
                MODES[operation],
                -(-k_out // tile),
                -(-k_in // 16),
                -(-out_y // 3),
                -(-out_x // 3),
                (k_out - 1) % tile + 1,
                (k_in - 1) % 16 + 1,
                rem_ho,
                rem_wo,
                rem_ho + halo - pad,
                rem_wo + halo - pad,
                quant.weight_bits,
                quant.scale_bits,
                quant.out_bits,
                int(quant.bias),
                int(quant.shift),
            )
            job = ne16_formulas.ne16_job(
                values(preset),
                operation,
                out_y=out_y,
                out_x=out_x,
                k_out=k_out,
                k_in=k_in,
                pad_bottom=pad,
                pad_right=pad,
                quant=quant,
            )
            expected.append(int(job))
    assert [int(line) for line in build(preset).run(script.text())] == expected
