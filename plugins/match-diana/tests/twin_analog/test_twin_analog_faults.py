"""What the analog array cannot do, or what is not known to work, ends in a fault of the twin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from diana_analog_harness import Driver, Job, Script, output_bytes, place, start
from diana_analog_reference import Scaling, Shape, store

SMALL = Shape(2, 3, 4, 4, pads=(1, 1, 1, 1))


def _job(script: Script, shape: Shape = SMALL, scaling: Scaling | None = None, value: int = 1) -> Job:
    """A job with all inputs ``value`` and all weights 1."""
    x = np.full((shape.c, shape.cy, shape.cx), value)
    weights = np.ones((shape.k, shape.c, shape.fy, shape.fx), np.int8)
    return place(script, shape, x, weights, scaling or Scaling())


def _norm(mul: int, add: int, shift: int = 0) -> Scaling:
    return Scaling(0, np.full(SMALL.k, mul), np.full(SMALL.k, add), shift)


def _text(*changes: str, scaling: Scaling | None = None) -> str:
    """The small job behind some commands."""
    script = Script()
    job = _job(script, scaling=scaling)
    script.lines += changes
    start(script, job)
    return script.text()


def test_the_small_job_passes(driver: Driver) -> None:
    assert driver.run(_text()) == []
    assert driver.run(_text(scaling=_norm(127, -128))) == []


@pytest.mark.parametrize(
    "word, value, message",
    [
        (0, 0x3E, "how pooling, residual and other activations work is not public"),
        (0, 0x37, "how pooling, residual and other activations work is not public"),
        (0, 0x13F, "how pooling, residual and other activations work is not public"),
        (0, 0x2F, "batch-norm and quantisation go together"),
        (0, 0x3B, "an activation needs both"),
        (5, 1, "word 5 of the instruction, the residual, is 0x0001"),
        (6, 1, "word 6 of the instruction, the batch-norm pointer"),
        (7, 0, "a size of the layer is 0"),
        (8, 0, "a size of the layer is 0"),
        (7, 1, "the rows of both bit planes"),
        (8, 33, "the mask of blocks of 32 columns"),
        (11, 8, "the precision, is 0x0008; 0x0007"),
        (12, 0x133, "bits that mean nothing"),
        (13, 5, "reach beyond the padded input of 4x4"),
        (14, 5, "reach beyond the padded input of 4x4"),
        (15, 0, "a size of the layer is 0"),
        (15, 3, "3 pixels at once; 1, 2, 4 and 8 exist"),
        (15, 16, "16 pixels at once"),
        (16, 0, "stride 0; 1 and 2 exist"),
        (16, 3, "stride 3; 1 and 2 exist"),
        (17, 0x100, "bits that mean nothing"),
        (17, 0, "reach beyond the padded input"),
        (18, 2, "the groups of 64 input channels"),
        (19, 0x2004, "a default, is 0x2004; 0x2005"),
        (20, 0xC000, "the mask of blocks of 32 columns, is 0xc000; 0x8000"),
        (21, 0, "a default"),
        (22, 0xF001, "an instruction of its own has to stop the layer's"),
        (24, 0, "a default"),
        (25, 0, "the rows of both bit planes"),
        (26, 16, "bits that mean nothing"),
        (26, 0x1000, "bits that mean nothing"),
        (54, 0xF000, "an instruction of its own has to stop the layer's"),
    ],
)
def test_words_of_the_instruction(driver: Driver, word: int, value: int, message: str) -> None:
    assert message in driver.fault(_text(f"word {word} {value}"))


@pytest.mark.parametrize(
    "change, message",
    [
        ("set 0x4c 16", "the number of words of instructions, is 16; a layer needs 32"),
        ("set 0x54 4", "the number of activations to fetch, is 4"),
        ("set 0x5c 2", "the number of words of configuration, is 2"),
        ("set 0x68 1", "the number of tiles, is 1"),
        ("set 0x40 0x1c000002", "not a multiple of 4"),
        ("set 0x40 16", "analog weights at 0x00000010 are in no memory that L2 has"),
        ("set 0x48 16", "analog instructions at 0x00000010 are in no memory"),
        ("set 0x58 16", "analog configuration at 0x00000010 are in no memory"),
        ("configure 0 1", "word 0 of the configuration is 0x00000001; the published one is 0x03000000"),
        ("configure 1 0", "word 1 of the configuration"),
        ("configure 15 1", "word 15 of the configuration"),
    ],
)
def test_registers(driver: Driver, change: str, message: str) -> None:
    assert message in driver.fault(_text(change))


@pytest.mark.parametrize(
    "shape, message",
    [
        (Shape(129, 1, 3, 3), "129 channels of 3x3 need 1161 rows; the array has 1152"),
        (Shape(47, 1, 5, 5, fy=5, fx=5), "need 1175 rows"),
        (Shape(1, 257, 1, 2, fy=1, fx=1, unroll=2), "257 channels of 2 pixels need 514 columns"),
        (Shape(1, 8, 3, 10, unroll=8), "the window of 8 pixels needs 1920 rows"),
        (Shape(1, 8, 3, 5, stride=2, unroll=2), ""),
        (Shape(80, 8, 3, 6, unroll=4), "the window of 4 pixels needs 1440 rows"),
        (Shape(64, 8, 3, 9, stride=2, unroll=4), "the window of 4 pixels needs 1728 rows"),
        (Shape(1, 513, 1, 1, fy=1, fx=1), "513 output channels, filter 1x1; at most 512"),
        (Shape(1, 1, 1, 16, fy=1, fx=16), "filter 1x16; at most 512, and 15x15"),
    ],
)
def test_layers_that_the_array_cannot_hold(driver: Driver, shape: Shape, message: str) -> None:
    script = Script()
    start(script, _job(script, shape))
    if message:
        assert message in driver.fault(script.text())
    else:
        assert driver.run(script.text()) == []


@pytest.mark.parametrize(
    "places, message",
    [
        ({"input": 8}, "the input at 8 is not a multiple of 16 bytes"),
        ({"output": 1025}, "the output at 1025 is not a multiple of 16 bytes"),
        ({"output": 1 << 20}, "output is 65536 and needs more than 16 bits"),
        ({"input": (1 << 18) - 512}, "analog input at 0x3fe00 are not in L1"),
        ({"output": (1 << 18) - 512}, "analog output at 0x3fe00 are not in L1"),
        ({"partial": (1 << 18) - 512}, "analog partial sums at 0x3fe00 are not in L1"),
        ({"output": 512}, "the output overwrites the input"),
        ({"output": 2048, "partial": 2048 + 64}, "the partial sums lie neither at the output nor apart from it"),
    ],
)
def test_places(driver: Driver, places: dict[str, Any], message: str) -> None:
    script = Script()
    start(script, replace(_job(script), **places))
    assert message in driver.fault(script.text())


def test_sizes_that_16_bits_do_not_hold(driver: Driver) -> None:
    script = Script()
    job = _job(script)
    script.lines.append(" ".join(map(str, job.command())).replace(" 2 3 4 4 ", " 65536 3 4 4 "))
    assert "c is 65536 and needs more than 16 bits" in driver.fault(script.text())


@pytest.mark.parametrize("norm", [(128, 0), (-129, 0), (0, 128), (0, -129)])
def test_batch_norm_of_more_than_8_bits(driver: Driver, norm: tuple[int, int]) -> None:
    assert "-128 to 127 fits" in driver.fault(_text(scaling=_norm(*norm)))


def test_batch_norm_without_data(driver: Driver) -> None:
    script = Script()
    job = replace(_job(script, scaling=_norm(1, 0)), norm=-1)
    start(script, job)
    assert "analog batch-norm at 0x00000000 are in no memory" in driver.fault(script.text())


@pytest.mark.parametrize("start_value, value, total", [(100, 1, 131), (-100, -1, -132)])
def test_sums_of_groups_that_do_not_fit(driver: Driver, start_value: int, value: int, total: int) -> None:
    """8 bits hold the partial sums; 31 or -32 more is too much."""
    shape = Shape(64, 1, 1, 1, fy=1, fx=1)
    script = Script()
    job = _job(script, shape, value=value)
    stored = script.near(store(np.full((1, 1, 1), start_value)))
    start(script, replace(job, partial=stored))
    assert f"the sum over the groups of channel 0 is {total}" in driver.fault(script.text())


def _boot(*commands: str) -> str:
    return "\n".join(commands) + "\n"


def test_before_boot(driver: Driver) -> None:
    text = _text()
    assert "a job before boot_diana" in driver.fault(text.replace("boot\n", "", 1))
    assert "before plp_hwme_enable" in driver.fault(text.replace("enable\n", "", 1))


def test_trigger_while_busy(driver: Driver) -> None:
    script = Script()
    job = _job(script)
    script.add(*job.command())
    script.add(*job.command())
    assert "the analog array works, and nobody waited" in driver.fault(script.text())


def test_job_that_nobody_waits_for(driver: Driver) -> None:
    script = Script()
    script.add(*_job(script).command())
    done = driver.attempt(script.text(), "lazy")
    assert done.returncode == -6 and "match twin fault" in done.stderr


@pytest.mark.parametrize(
    "commands, message",
    [
        (("poke 0x3c 0",), "nothing is known at 0x1a10d03c"),
        (("poke 0x84 0",), "nothing is known at 0x1a10d084"),
        (("poke 0x0c 0",), "register 0x0c of the analog array cannot be written"),
        (("peek 0x00",), "register 0x00 of the analog array cannot be read"),
        (("copy 0 0 64 0 0",), "no whole rows of words"),
        (("copy 0 0 96 0 4",), "no whole rows of words"),
        (("copy 0 8 64 0 1",), "no whole rows of words"),
        (("copy 0 0 64 2 1",), "no whole rows of words"),
        (("copy 0 0 64 0 2",), "over 2 banks"),
        (("copy 0 0 32832 0 4",), "a copy of 513 rows"),
        (("copy 0 262112 64 0 1",), "a copy at 0x3ffe0 are not in L1"),
    ],
)
def test_registers_and_copies(driver: Driver, commands: tuple[str, ...], message: str) -> None:
    assert message in driver.fault(_boot("enable", "boot", *commands, "sync"))


def test_output_of_a_running_job_is_poison(driver: Driver) -> None:
    """In lazy mode nobody can read it before the wait."""
    script = Script()
    job = _job(script)
    script.add(*job.command())
    script.add("dump_near", job.output, output_bytes(SMALL))
    script.add("sync")
    assert driver.run(script.text(), "lazy")[0] == "a5" * output_bytes(SMALL)
