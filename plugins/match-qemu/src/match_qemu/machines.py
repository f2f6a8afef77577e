"""The machines of QEMU that run programs, and the processors that they have.

Memory maps: QEMU 7.2, hw/arm/mps2.c, hw/arm/mps2-tz.c and hw/riscv/virt.c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal["arm", "riscv"]
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Area:
    """A memory as the processor sees it."""

    name: str
    origin: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Machine:
    """``name`` as in ``--on qemu:NAME``; ``emulator``: the command, with its ``options``; ``processors`` whose code it
    runs, its own first; ``areas``: ``code`` (instructions and constants), ``ram`` (data and stack) and others;
    ``vectors`` and ``arenas``: the areas of these."""

    name: str
    emulator: str
    family: Family
    processors: tuple[str, ...]
    areas: tuple[Area, ...]
    arenas: str
    vectors: str
    options: tuple[str, ...]

    @property
    def processor(self) -> str:
        """The processor that the machine has."""
        return self.processors[0]


def _mps2(name: str, processors: tuple[str, ...], psram: int = 0x21000000) -> Machine:
    areas = (
        Area("code", 0x00000000, 4 * _MIB),
        Area("ram", 0x20000000, 4 * _MIB),
        Area("psram", psram, 16 * _MIB),
    )
    return Machine(name, "qemu-system-arm", "arm", processors, areas, "psram", "code", ("-M", name))


def _virt(width: int, processors: tuple[str, ...]) -> Machine:
    areas = (Area("code", 0x80000000, 64 * _MIB), Area("ram", 0x84000000, 64 * _MIB))
    options = ("-M", "virt", "-m", "128M", "-bios", "none")
    return Machine(f"virt{width}", f"qemu-system-riscv{width}", "riscv", processors, areas, "ram", "code", options)


MACHINES = (
    _mps2("mps2-an386", ("cortex-m4", "cortex-m4+nofp")),
    _mps2("mps2-an385", ("cortex-m3", "cortex-m0", "cortex-m0plus", "cortex-m1")),
    _mps2("mps2-an500", ("cortex-m7", "cortex-m7+nofp"), 0x60000000),
    Machine(
        "mps2-an505",
        "qemu-system-arm",
        "arm",
        ("cortex-m33", "cortex-m33+nofp", "cortex-m33+nodsp", "cortex-m23"),
        (Area("code", 0x10000000, 4 * _MIB), Area("ram", 0x38000000, 4 * _MIB), Area("psram", 0x80000000, 16 * _MIB)),
        "psram",
        "code",
        ("-M", "mps2-an505"),
    ),
    Machine(
        "mps3-an547",
        "qemu-system-arm",
        "arm",
        ("cortex-m55", "cortex-m52", "cortex-m85"),
        (
            Area("vectors", 0x00000000, 512 << 10),
            Area("code", 0x70000000, 16 * _MIB),
            Area("ram", 0x71000000, 16 * _MIB),
        ),
        "ram",
        "vectors",
        ("-M", "mps3-an547"),
    ),
    _virt(32, ("rv32imafc", "rv32imac", "rv32imafdc", "rv32imc", "rv32im")),
    _virt(64, ("rv64imafdc", "rv64imac")),
)
#: Of a program that runs anywhere.
DEFAULT = MACHINES[0]


def machine_named(name: str) -> Machine | None:
    """The machine of that name."""
    return next((machine for machine in MACHINES if machine.name == name), None)


def machine_for(processor: str) -> Machine | None:
    """The first machine that runs code for a processor."""
    return next((machine for machine in MACHINES if processor in machine.processors), None)
