"""Cycles to start a job of the digital array, in addition to its arithmetic. None of them is public."""

from __future__ import annotations

from match_core import Constant

JOB_CONSTANTS = (
    Constant(
        "encode_cycles",
        60,
        "cycles",
        "no public figure: the kernel library reads 14 words of the layer and writes 23 of the instruction (dory-hal, "
        "encoders_instruction_memory.c), and is called",
        estimate=True,
    ),
    Constant(
        "job_load_cycles",
        20,
        "cycles",
        "no public figure: 64 words of instructions and 16 of configuration, 16 bytes per cycle",
        estimate=True,
    ),
)
