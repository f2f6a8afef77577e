"""Boards as data: the core, its largest clock, and banks of RAM and flash.

Home is the largest bank of RAM that is contiguous; smaller banks stay free for stacks and the application. Sizes and
clocks are those of the data sheets. Costs count instructions, so the speeds of banks do not enter them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bank:
    """``wait_cycles`` of the core for each access that no cache answers, at the largest clock."""

    name: str
    size_bytes: int
    wait_cycles: int
    source: str


@dataclass(frozen=True, slots=True)
class Board:
    """``ram`` holds activations, ``flash`` constants and code; ``more``: banks that programs leave to the
    application."""

    name: str
    title: str
    core: str
    clock_hz: float
    clock_source: str
    ram: Bank
    flash: Bank
    more: tuple[Bank, ...] = ()


_K, _M = 1 << 10, 1 << 20

BOARDS = (
    Board(
        name="stm32l4r5",
        title="STMicroelectronics STM32L4R5 (NUCLEO-L4R5ZI)",
        core="cortex_m4",
        clock_hz=120e6,
        clock_source="data sheet DS12023: up to 120 MHz",
        ram=Bank("ram", 640 * _K, 0, "data sheet DS12023: 640 KB SRAM, contiguous (SRAM1, SRAM2, SRAM3)"),
        flash=Bank("flash", 2 * _M, 5, "data sheet DS12023: 2 MB; RM0432: 5 wait states above 100 MHz"),
    ),
    Board(
        name="stm32h743",
        title="STMicroelectronics STM32H743",
        core="cortex_m7",
        clock_hz=480e6,
        clock_source="data sheet DS12110: up to 480 MHz",
        ram=Bank("ram", 512 * _K, 0, "data sheet DS12110: 512 KB AXI SRAM, cached"),
        flash=Bank("flash", 2 * _M, 4, "data sheet DS12110: 2 MB; RM0433: up to 4 wait states, cached"),
        more=(
            Bank("dtcm", 128 * _K, 0, "data sheet DS12110: 128 KB DTCM"),
            Bank("sram_d2", 288 * _K, 0, "data sheet DS12110: SRAM1, SRAM2 and SRAM3 of domain D2"),
        ),
    ),
    Board(
        name="nrf52840",
        title="Nordic Semiconductor nRF52840",
        core="cortex_m4",
        clock_hz=64e6,
        clock_source="product specification: 64 MHz",
        ram=Bank("ram", 256 * _K, 0, "product specification: 256 KB RAM"),
        flash=Bank("flash", 1 * _M, 2, "product specification: 1 MB flash, up to 2 wait states without the cache"),
    ),
    Board(
        name="rp2040",
        title="Raspberry Pi RP2040 (Pico)",
        core="cortex_m0plus",
        clock_hz=133e6,
        clock_source="RP2040 data sheet: up to 133 MHz",
        ram=Bank("ram", 256 * _K, 0, "RP2040 data sheet: 264 KB in six banks, of which four of 64 KB are striped"),
        flash=Bank("flash", 2 * _M, 0, "Pico data sheet: 2 MB QSPI flash, mapped, with a cache of 16 KB"),
        more=(Bank("scratch_xy", 8 * _K, 0, "RP2040 data sheet: two banks of 4 KB"),),
    ),
    Board(
        name="rp2350",
        title="Raspberry Pi RP2350 (Pico 2)",
        core="cortex_m33",
        clock_hz=150e6,
        clock_source="RP2350 data sheet: 150 MHz",
        ram=Bank("ram", 512 * _K, 0, "RP2350 data sheet: 520 KB in ten banks, of which eight of 64 KB are striped"),
        flash=Bank("flash", 4 * _M, 0, "Pico 2 data sheet: 4 MB QSPI flash, mapped, with a cache of 16 KB"),
        more=(Bank("scratch_xy", 8 * _K, 0, "RP2350 data sheet: two banks of 4 KB"),),
    ),
    Board(
        name="corstone300",
        title="Arm Corstone-300 on MPS3 (AN547)",
        core="cortex_m55",
        clock_hz=32e6,
        clock_source="application note AN547: 32 MHz",
        ram=Bank("ram", 2 * _M, 0, "QEMU's model of AN547 (hw/arm/mps2-tz.c): 2 MB SRAM at 0x01000000"),
        flash=Bank("flash", 512 * _K, 0, "QEMU's model of AN547: 512 KB ITCM at 0, which holds code and constants"),
        more=(Bank("dtcm", 512 * _K, 0, "QEMU's model of AN547: 512 KB DTCM at 0x20000000"),),
    ),
    Board(
        name="cortex_m3_mps2",
        title="Cortex-M3 on MPS2 (AN385), for the emulator",
        core="cortex_m3",
        clock_hz=25e6,
        clock_source="application note AN385: 25 MHz",
        ram=Bank("ram", 4 * _M, 0, "QEMU's model of AN385 (hw/arm/mps2.c): 4 MB at 0x20000000"),
        flash=Bank("flash", 4 * _M, 0, "QEMU's model of AN385: 4 MB ZBT SRAM at 0, which holds code and constants"),
    ),
)
