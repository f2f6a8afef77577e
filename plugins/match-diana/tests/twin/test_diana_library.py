"""What the kernel library's stand-in leaves in L2 and in the registers (sheet 4), and where the memories lie."""

from __future__ import annotations

import pytest
from diana_twin_harness import Driver, Layer, Script

LAYER = Layer(5, 32, 40, 9, 3, 5, 2, 1, 2, 1, True, 7)
#: Words of an instruction that public code never writes.
ZEROS = dict.fromkeys((18, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31), 0)


def _words(driver: Driver, mode: int, layer: Layer) -> list[int]:
    script = Script()
    script.add("encode", mode, 0x100, 0x200, 0x3000, *layer.numbers)
    script.add("words")
    return [int(word) for word in driver.run(script.text())[0].split()]


def _expected(words: dict[int, int]) -> list[int]:
    """Both instructions; of the second one only the stop bit is written."""
    second = [0] * 32
    second[18] = 1
    return [{**ZEROS, **words}[index] for index in range(32)] + second


def test_instruction_of_a_convolution(driver: Driver) -> None:
    """40 columns lie in 48; 20 of the output in 32."""
    padding = 1 | 8 << 4 | 2 << 8 | 1 << 12
    pointers, sizes = {0: 1, 1: 0x200, 2: 0x100, 3: 0x3000}, {6: 48, 7: 9, 8: 48, 9: 48 * 9, 10: 3, 11: 5}
    output = {12: 2, 13: 4, 14: 1, 15: 2, 16: 32 * 4, 17: 1, 19: 7, 20: padding, 24: 1}
    assert _words(driver, 1, LAYER) == _expected({**pointers, 4: 5, 5: 2, **sizes, **output})
    assert _words(driver, 2, LAYER) == _expected({**pointers, 4: 1, 5: 1, **sizes, **output})


def test_other_instructions(driver: Driver) -> None:
    nothing = dict.fromkeys((6, 7, 8, 9, 10, 11, 12, 13, 16, 20, 24), 0)
    pointers = {1: 0x200, 2: 0x100, 3: 0x3000}
    dense = {0: 0, 4: 3, 5: 2, 14: 1, 15: 2, 17: 1, 19: 9}
    total = {0: 3, 4: 3, 5: 0, 14: 0, 15: 0, 17: 0, 19: 9}
    layer = Layer(48, 32, 16, 1, relu=True, shift=9)
    assert _words(driver, 0, layer) == _expected({**nothing, **pointers, **dense})
    assert _words(driver, 4, layer) == _expected({**nothing, **pointers, **total})


@pytest.mark.parametrize(
    "kind, weights, count",
    [
        ("conv", 0x44, (5 * 32 * 15 + 32 * 4) // 4),
        ("depthwise", 0x44, 16 * 15 // 4 + 16),
        ("dense", 0x4C, 48 * 32 // 4 + 32 * 4),
    ],
)
def test_registers(driver: Driver, kind: str, weights: int, count: int) -> None:
    """Counts are words: of the weights, of the configuration, of the instructions; no activations, no copy."""
    layer = Layer(48, 32, 16, 1) if kind == "dense" else LAYER
    script = Script()
    script.add(kind, 0, 0, 65536, *layer.numbers)
    script.add("sync")
    for offset in (weights, 0x54, 0x5C, 0x64, 0xA0):
        script.add("register", offset)
    assert [int(line, 16) for line in driver.run(script.text())] == [count, 64, 0, 16, 0]


def test_addresses(driver: Driver) -> None:
    """L1 begins at 0, L2 at 0x1c000000; pieces of L2 are multiples of 64 bytes."""
    script = Script()
    script.add("where")
    script.add("piece", 100)
    script.add("piece", 4)
    lines = driver.run(script.text())
    assert lines == ["00000000 1c000000", "1c040000", "1c040080"]
    script.add("piece", 256 * 1024 - 191)
    assert driver.fault(script.text()) == "261953 bytes of L2 behind 262336; the chip has 524288"
