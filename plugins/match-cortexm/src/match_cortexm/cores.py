"""Cortex-M cores as data: what they have decides which kernels they run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Core:
    """``processor``: the name for gcc's -mcpu. ``dsp``: dual 16-bit multiply-accumulates (SMLAD); ``helium``: vectors
    of 16 bytes (MVE); ``fpu``: binary32 arithmetic; ``unaligned``: words at any address."""

    name: str
    title: str
    processor: str
    dsp: bool = False
    helium: bool = False
    fpu: bool = False
    unaligned: bool = True

    @property
    def accumulates(self) -> bool:
        """Whether it has multiply-accumulates and 12 registers for them (Armv7-M), as those with words at any address
        have."""
        return self.unaligned

    @property
    def shifts(self) -> bool:
        """Whether compilers write products of 64 bits by some constants as shifts: it has no instruction for them."""
        return not self.accumulates


#: Arm's technical reference manuals of the cores: the configurations that the boards of this package have.
CORES = (
    Core("cortex_m0plus", "Cortex-M0+", "cortex-m0plus", unaligned=False),
    Core("cortex_m3", "Cortex-M3", "cortex-m3"),
    Core("cortex_m4", "Cortex-M4", "cortex-m4", dsp=True, fpu=True),
    Core("cortex_m7", "Cortex-M7", "cortex-m7", dsp=True, fpu=True),
    Core("cortex_m33", "Cortex-M33", "cortex-m33", dsp=True, fpu=True),
    Core("cortex_m52", "Cortex-M52", "cortex-m55", dsp=True, helium=True, fpu=True),
    Core("cortex_m55", "Cortex-M55", "cortex-m55", dsp=True, helium=True, fpu=True),
    Core("cortex_m85", "Cortex-M85", "cortex-m85", dsp=True, helium=True, fpu=True),
)
CORE_NAMED = {core.name: core for core in CORES}
