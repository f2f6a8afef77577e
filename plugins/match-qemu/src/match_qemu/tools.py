"""Compilers and emulators: names, packages, flags by processor."""

from __future__ import annotations

import re
import shutil

from match_core.contract.errors import ToolError
from match_core.contract.runner import Tool

from match_qemu.machines import Family

PREFIXES: dict[Family, str] = {"arm": "arm-none-eabi-", "riscv": "riscv64-unknown-elf-"}
#: Debian's packages by command.
PACKAGES = {
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
    "qemu-system-arm": "qemu-system-arm",
    "qemu-system-riscv32": "qemu-system-misc",
    "qemu-system-riscv64": "qemu-system-misc",
}
_PURPOSES = {
    "arm-none-eabi-gcc": "build programs for Cortex-M",
    "riscv64-unknown-elf-gcc": "build programs for bare RISC-V harts",
    "qemu-system-arm": "run programs on emulated Cortex-M boards",
    "qemu-system-riscv32": "run programs on emulated RISC-V harts of 32 bits",
    "qemu-system-riscv64": "run programs on emulated RISC-V harts of 64 bits",
}
TOOLS = tuple(
    Tool(command, _PURPOSES[command], f"apt-get install {packages}") for command, packages in PACKAGES.items()
)
#: Processors whose vectors of floats flush subnormal numbers to zero, whatever the mode.
_FLUSHING = ("cortex-m52", "cortex-m55", "cortex-m85")
#: Every product and every sum is rounded, as on the twin.
_COMMON = ("-O3", "-std=c11", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections")
_NO_FPU = ("cortex-m0", "cortex-m0plus", "cortex-m1", "cortex-m3", "cortex-m23")


def found(command: str) -> str:
    """The path of a tool. ToolError MATCH-T010 if it is not installed."""
    path = shutil.which(command)
    if path is None:
        raise ToolError(
            code="MATCH-T010",
            what="a tool that the runner needs is not installed",
            where=command,
            why="it is not on the PATH",
            help=(f"apt-get install {PACKAGES[command]}", "match doctor lists all tools"),
        )
    return path


def portable_flags(processor: str) -> tuple[str, ...]:
    """More flags for programs of any processor: the results of floats are those of other machines."""
    return ("-fno-tree-vectorize",) if processor in _FLUSHING else ()


def flags_of(family: Family, processor: str) -> tuple[str, ...]:
    """The compiler's flags for a processor, with those of its C library."""
    if family == "arm":
        soft = processor in _NO_FPU or "+nofp" in processor
        fpu = () if soft else ("-mfpu=auto",)
        return (
            f"-mcpu={processor}",
            "-mthumb",
            f"-mfloat-abi={'soft' if soft else 'hard'}",
            *fpu,
            "--specs=nano.specs",
            "--specs=nosys.specs",
            *_COMMON,
        )
    width = processor[2:4]
    base = "ilp32" if width == "32" else "lp64"
    letters = processor[4:]
    abi = base + ("d" if re.search("d", letters) else "f" if re.search("f", letters) else "")
    return (
        f"-march={processor}",
        f"-mabi={abi}",
        "-mcmodel=medany",
        "--specs=picolibc.specs",
        *_COMMON,
    )
