"""Every figure of DIANA: one table, each figure with its public source.

``sheet`` in a source is the public hardware summary of DIANA in the project's hardware notes; the repository or
paper behind it is named too. ``estimate`` marks figures that are reasoned here because none is public. Host, arrays and
copies run at one clock: whether the chip divides it anywhere is not public (sheet 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from match_core import Constant
from match_core.patterns.formulas import by_name, cycles

from match_diana.analog.constants import ANALOG_CONSTANTS
from match_diana.job_constants import JOB_CONSTANTS

_MATCH = "MATCH, IEEE TCAD 2025"
_EXAMPLE = "eml-eda/match b499427, examples/diana"
_HAL = "ABurrello/dory-hal"
_SDK = "dianaKUL/pulp-sdk-diana 8e1b8a4"

#: Power of the chip at 260 MHz; the source does not say at which voltage.
_ODIMO = "eml-eda/odimo-journal 624f590, models/hw_models.py"

#: Figures of the platform, which both arrays share.
PLATFORM_CONSTANTS = (
    Constant("clock_hz", 260_000_000, "Hz", f"{_MATCH}, section VI: the clock of the published measurements"),
    Constant("l2_bytes", 512 * 1024, "bytes", f"{_SDK}: two private banks of 32 KiB, 448 KiB shared"),
    Constant("l1_bytes", 256 * 1024, "bytes", f"{_EXAMPLE}; KULeuven-MICAS/stream: 8192 words of 32 bytes"),
    Constant("l1_word_bytes", 16, "bytes", f"{_HAL}, utils.c: L1 addresses count words of 16 bytes"),
    Constant("dma_bytes_per_cycle", 16, "bytes/cycle", f"{_EXAMPLE}: 16 words of 8 bits per access of L2"),
    Constant("dma_chunk_cycles", 70, "cycles", f"{_MATCH}, section V-A: per contiguous chunk"),
    Constant("dma_length_bytes", 32, "bytes", f"{_HAL}, utils.c: lengths are rounded up to this"),
    Constant(
        "host_microwatts",
        11_310,
        "uW",
        f"no public figure: what the published powers of one array, 24.96 and 28.74 mW, have in common, 42.39 mW being "
        f"that of both ({_ODIMO})",
        estimate=True,
    ),
    cycles(
        "register_cycles",
        5,
        "no public figure: one access of the host to a register of the accelerator through the peripheral bus",
        estimate=True,
    ),
)

#: Figures of the digital array.
DIGITAL_CONSTANTS = (
    Constant("array_columns", 16, "elements", f"{_MATCH}, section V-A: pixels, or inputs of a dense layer"),
    Constant("array_rows", 16, "elements", f"{_MATCH}, section V-A: output channels"),
    Constant("digital_weight_bytes", 64 * 1024, "bytes", f"{_EXAMPLE}, digital accelerator"),
    Constant("tile_overhead_cycles", 23, "cycles", f"{_EXAMPLE}, cost model: per output tile of 16x16"),
    Constant("digital_microwatts", 24_960, "uW", f"{_ODIMO}: the chip while the digital array alone works"),
    Constant("row_load_cycles", 2, "cycles", f"{_EXAMPLE}, cost model: per input channel and filter row"),
)

_TABLE = PLATFORM_CONSTANTS + DIGITAL_CONSTANTS + JOB_CONSTANTS + ANALOG_CONSTANTS


def constants() -> tuple[Constant, ...]:
    """The table in its fixed order."""
    return _TABLE


@lru_cache(maxsize=1)
def values() -> Mapping[str, int]:
    """Name to value; every figure is an integer."""
    return by_name(_TABLE)
