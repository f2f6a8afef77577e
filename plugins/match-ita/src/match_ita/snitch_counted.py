"""Counted figures of the compute cores' kernels; their sources state the method."""

from __future__ import annotations

from match_core import Constant

_COUNT = (
    "instructions of GCC 12's code (-O2 -march=rv32im -mabi=ilp32) executed by qemu-riscv32, one a cycle, a division "
    "32 (python -m benchmarks.ita_counts): "
)
_USES = "the same count, only multiplications (1) and divisions (32): "


def counted(name: str, cycles: int, uses: int, what: str) -> tuple[Constant, Constant]:
    """``name``_cycles and ``name``_uses: what ``what`` takes on one core, and how long it uses the unit that all cores
    share. Cycles are an estimate, because no stall of the pipeline or of L1 is counted."""
    return (
        Constant(f"{name}_cycles", cycles, "cycles", _COUNT + what, estimate=True),
        Constant(f"{name}_uses", uses, "uses", _USES + what),
    )
