"""What DIANA cannot do, or what nothing is public of, ends in a fault of the twin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from diana_twin_harness import Driver, Layer, Script, conv_weights, dense_weights

LAYER = Layer(4, 16, 20, 6, 3, 3, 1, 1, 1, 1, shift=4)
DENSE = Layer(32, 16, 16, 1)
SUM = Layer(384, 0, 16, 1)
DIGITAL, ANALOG, EVENTS = 0x1A10C000, 0x1A10D000, 0x1A106018
#: In the order of the kernel library's struct.
FIELDS = ["c", "k", "cx", "cy", "fx", "fy", "ox", "oy", "activation", "shift", "padding", "dilation", "stride"]


def _conv(
    layer: Layer = LAYER, at: tuple[int, int, int] = (0, 0, 4096), changed: Mapping[str, int] = MappingProxyType({})
) -> str:
    numbers = {**dict(zip(FIELDS, layer.numbers, strict=True)), **changed}
    script = Script()
    script.far(0, conv_weights(np.ones((layer.k, layer.c, layer.fy, layer.fx), np.int8), np.zeros(layer.k, np.int64)))
    script.add("conv", *at, *numbers.values())
    script.add("sync")
    return script.text()


def _raw(*commands: str) -> str:
    return "\n".join(("enable", *commands)) + "\n"


def _job(words: dict[int, int], mode: int = 1, layer: Layer = LAYER, count: int = 640) -> str:
    """A job some of whose instruction words are changed."""
    at = (0, 2048, 4096) if mode == 4 else (0, 0, 4096)
    script = Script()
    script.add("encode", mode, *at, *layer.numbers)
    for index, value in words.items():
        script.add("word", index, value)
    script.add("start", 0, 0, count)
    script.add("sync")
    return script.text()


def test_one_job_passes(driver: Driver) -> None:
    assert driver.run(_conv()) == []
    assert driver.run(_job({})) == []
    assert driver.run(_job({}, mode=0, layer=DENSE)) == []
    assert driver.run(_job({}, mode=4, layer=SUM)) == []


@pytest.mark.parametrize(
    "at, message",
    [
        ((262144 - 64, 0, 4096), "bytes of input at 0x3ffc0 are not in L1"),
        ((0, 0, 262144 - 1024), "bytes of output at 0x3fc00 are not in L1"),
        ((8, 0, 4096), "input of the digital array at 0x8: not a multiple of 16"),
        ((0, 0, 4104), "output of the digital array at 0x1008: not a multiple of 16"),
        ((0, 2, 4096), "addresses are multiples of 4"),
        ((0, 256 * 1024 - 320, 4096), "640 bytes of weights at 0x1c03fec0 reach beyond the part of L2"),
        ((0, 512 * 1024 - 320, 4096), "640 bytes of weights at 0x1c07fec0 are in no memory that L2 has"),
        ((0, 0, 512), "reads L1 from 0x0 on, and writes there from 0x200 on"),
        ((4096, 0, 2048), "reads L1 from 0x1000 on, and writes there from 0x800 on"),
    ],
)
def test_places(driver: Driver, at: tuple[int, int, int], message: str) -> None:
    assert message in driver.fault(_conv(at=at))


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"fx": 2}, "no kernel of 3 x 2"),
        ({"fx": 9}, "no kernel of 3 x 9"),
        ({"k": 8}, "a convolution of 4 channels of 32 columns to 0"),
        ({"cx": 20, "padding": 0x1101}, "a convolution of 4 channels of 20 columns"),
        ({"ox": 20}, "output channel size, unlike 16 * (ox / 16) * oy"),
        ({"ox": 48}, "48 columns of output"),
        ({"oy": 7}, "7 rows of output need more than 8 rows"),
        ({"shift": 32}, "the shift is 32"),
        ({"dilation": 2}, "dilation is 2"),
        ({"stride": 2}, "stride - 1 is 2"),
        ({"padding": 0x11C3}, "would lie in it alone"),
        ({"padding": 0x31C1}, "would lie in it alone"),
        ({"padding": 0x111C1}, "padding is"),
    ],
)
def test_layers(driver: Driver, changed: dict[str, int], message: str) -> None:
    assert message in driver.fault(_conv(changed=changed))


def test_more_weights_than_the_memory_has(driver: Driver) -> None:
    layer = Layer(114, 64, 16, 3, 3, 3, 1, 1, 1, 1)
    assert "the weight memory has 65536 bytes" in driver.fault(_conv(layer, at=(0, 0, 65536)))


def test_weights_that_were_not_loaded(driver: Driver) -> None:
    assert "uses 640 bytes of weights, and 636 are loaded" in driver.fault(_job({}, count=159))
    assert "uses 640 bytes of weights, and 0 are loaded" in driver.fault(_job({}, count=0))


@pytest.mark.parametrize(
    "words, message",
    [
        ({0: 2}, "the mode is 2"),
        ({1: 16}, "the weights' pointer is 16"),
        ({8: 16}, "padded cx, unlike cx"),
        ({9: 1}, "channel size, unlike cx * cy"),
        ({14: 2}, "the activation is 2"),
        ({15: 0}, "write_l2_l1 is 0"),
        ({18: 1}, "the stop bit"),
        ({50: 0}, "the stop bit"),
        ({21: 1}, "without public meaning is 1"),
        ({26: 4}, "without public meaning is 4"),
        ({31: 1}, "without public meaning is 1"),
    ],
)
def test_instruction_words(driver: Driver, words: dict[int, int], message: str) -> None:
    assert message in driver.fault(_job(words))


@pytest.mark.parametrize(
    "mode, words, message",
    [
        (0, {6: 16}, "a size in a job without columns"),
        (0, {4: 0}, "fewer than 16 channels"),
        (0, {15: 1}, "write_l2_l1 or dilation"),
        (4, {14: 1}, "the activation of a sum"),
        (4, {5: 1}, "k, write_l2_l1 or dilation"),
        (4, {20: 1}, "padding or stride in a job without columns"),
        (4, {4: 0}, "fewer than 16 channels or elements"),
        (4, {1: 262144}, "second input at 0x40000 are not in L1"),
        (4, {3: 16}, "writes there from 0x10 on"),
        (4, {3: 2064}, "writes there from 0x810 on"),
    ],
)
def test_other_instructions(driver: Driver, mode: int, words: dict[int, int], message: str) -> None:
    assert message in driver.fault(_job(words, mode, DENSE if mode == 0 else SUM))


def test_bias_of_more_than_32_bits(driver: Driver) -> None:
    script = Script()
    bias = np.zeros(16, np.int64)
    bias[3] = 1 << 31
    script.far(0, dense_weights(np.ones((16, 32), np.int8), bias))
    script.add("dense", 0, 0, 4096, *DENSE.numbers)
    script.add("sync")
    assert "a bias of a fully connected layer has more than 32 bits" in driver.fault(script.text())


@pytest.mark.parametrize(
    "script, message",
    [
        (_raw(f"poke {DIGITAL + 0x18} 0"), "nothing is known at 0x1a10c018"),
        (_raw(f"poke {DIGITAL + 0xBC} 0"), "nothing is known at 0x1a10c0bc"),
        (_raw(f"poke {DIGITAL + 0x41} 0"), "nothing is known at 0x1a10c041"),
        (_raw("poke 0x1a10e000 0"), "nothing is known at 0x1a10e000"),
        (_raw(f"poke {DIGITAL + 0x0C} 0"), "register 0x0c of the digital array cannot be written"),
        (_raw(f"peek {DIGITAL + 0x40}"), "register 0x40 of the digital array cannot be read"),
        (_raw(f"peek {ANALOG + 0x04}"), "register 0x04 of the analog array cannot be read"),
        (_raw(f"poke {DIGITAL} 0"), "digital instructions: not 64 words"),
        (_raw(f"poke {EVENTS} 0", f"poke {DIGITAL} 0"), "triggered before plp_hwme_enable"),
        (_raw(f"poke {DIGITAL + 0xA0} 5", f"poke {DIGITAL} 0"), "copy operation 5 does not exist"),
        (_raw("copy 0 0 8 32 1"), "memcpy_dig: 0x8 of L1 is not a multiple of 16"),
        (_raw("copy 2 0 0 32 1"), "or direction 2"),
        (_raw("copy 0 2 0 32 1"), "not a multiple of 4"),
        (_raw("copy 0 0 262128 32 1"), "32 bytes of a copy at 0x3fff0 are not in L1"),
        (_raw("copy 0 0 262160 32 1"), "outside of L1"),
        (_raw("copy 0 0 0 0 1"), "a copy of 0 words"),
        (_raw("copy 0 0 0 128 2"), "over 2 banks"),
        (_raw("copy 0 0 0 32832 4"), "a copy of 513 rows"),
        (_raw(f"poke {DIGITAL + 0xA0} 2", f"poke {DIGITAL + 0xA8} 12", f"poke {DIGITAL + 0xA4} @0",
              f"poke {DIGITAL} 0"), "a copy of 12 words"),
    ],
)  # fmt: skip
def test_bus_and_copies(driver: Driver, script: str, message: str) -> None:
    assert message in driver.fault(script)


def test_registers_without_public_meaning(driver: Driver) -> None:
    for offset in (0x5C, 0x68, 0x7C, 0x84, 0x94, 0xB8):
        lines = _job({}).splitlines()
        lines.insert(-2, f"poke {DIGITAL + offset} 1")
        assert "not public" in driver.fault("\n".join(lines) + "\n"), hex(offset)


@pytest.mark.parametrize("second", ["copy 0 0 0 32 1", f"poke {DIGITAL + 0x40} 0", f"poke {ANALOG + 0x40} 0"])
def test_accesses_while_the_array_works(driver: Driver, second: str) -> None:
    """Nobody waited, even though time would have passed."""
    lines = _conv().splitlines()
    assert "nobody waited until its status was 0" in driver.fault(
        "\n".join([*lines[:-1], "work 100000", second]) + "\n"
    )


def test_one_look_at_the_state_is_no_wait(driver: Driver) -> None:
    lines = _conv().splitlines()
    looked = [*lines[:-1], f"peek {DIGITAL + 0x0C}"]
    assert driver.run("\n".join([*looked, f"peek {DIGITAL + 0x0C}"]) + "\n") == ["00000001", "00000000"]
    assert "nobody waited" in driver.fault("\n".join([*looked, "copy 0 0 0 32 1"]) + "\n")


def test_a_wait_that_never_comes(driver: Driver) -> None:
    """A program that ends while a copy runs; in lazy mode nothing has been moved yet."""
    done = driver.attempt(_raw("copy 0 0 0 32 1"), "lazy")
    assert done.returncode == -6, done.stderr


def test_configuration_words(driver: Driver) -> None:
    """Those of a convolution do not fit a fully connected layer."""
    lines = _conv().splitlines()
    lines += ["encode 0 0 0 4096 " + " ".join(map(str, DENSE.numbers))]
    lines += [f"poke {DIGITAL + 0x4C} 192", f"poke {DIGITAL + 0x48} @0", f"poke {DIGITAL} 0"]
    assert "are not those of the kernel library" in driver.fault("\n".join(lines) + "\n")


def test_depthwise_needs_room_for_sixteen_channels(driver: Driver) -> None:
    """The last instruction writes 15 channels behind the last one."""
    layer = replace(LAYER, c=2, k=2)
    plane = 6 * 32
    script = Script()
    script.add("depthwise", 0, 0, 262144 - 16 * plane, *layer.numbers)
    assert "bytes of output at" in driver.fault(script.text())
