"""Figures of the compute cores' kernels are counted; how is their source."""

from __future__ import annotations

from match_core import Constant

_COUNT = (
    "instructions of GCC 12's code (-O2 -march=rv32im -mabi=ilp32) executed by qemu-riscv32, one a cycle, a division "
    "32 (python -m match_ita.counts): "
)


def counted(name: str, value: int, what: str) -> Constant:
    """``name``_cycles: what ``what`` takes. An estimate, because no stall of the pipeline or of L1 is counted."""
    return Constant(f"{name}_cycles", value, "cycles", _COUNT + what, estimate=True)
