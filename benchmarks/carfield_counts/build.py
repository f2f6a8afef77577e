"""Builds the kernels for the ISA of a core and counts the instructions that a call executes."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import match_carfield
from match_carfield.half.interfaces import HALF_INTERFACES
from match_carfield.int8.interfaces import INT8_INTERFACES
from match_core.lower.interfaces import context_header
from match_core.lower.templates import CORE_TEMPLATES
from match_host.headers.half import half_header
from match_kit.counting import instruction_counter, run_tool

FOLDER = Path(__file__).resolve().parent
RUNTIME = Path(match_carfield.__file__).parent / "runtime"

_CLUSTER = "#pragma once\n#include <stdint.h>\n#define {core}() 0\n#define {cores}() 1\n"
#: MCHAN's inline functions: reading and writing registers is a load or a store.
_MCHAN = """
static volatile uint32_t mchan[1];
static inline int plp_dma_counter_alloc(void) { return (int)mchan[0]; }
static inline uint32_t plp_dma_getCmd(int inwards, uint32_t size, int strided, int event, int irq, int all)
{
    return size | (uint32_t)inwards << 17 | (uint32_t)strided << 18 | 1u << 19 | (uint32_t)event << 20 |
           (uint32_t)irq << 21 | (uint32_t)all << 22;
}
static inline void plp_dma_cmd_push(uint32_t command, uint32_t loc, uint32_t ext)
{
    mchan[0] = command;
    mchan[0] = loc;
    mchan[0] = ext;
}
static inline void plp_dma_cmd_push_2d(uint32_t command, uint32_t loc, uint32_t ext, uint32_t stride, uint32_t length)
{
    plp_dma_cmd_push(command, loc, ext);
    mchan[0] = length;
    mchan[0] = stride;
}
static inline void plp_dma_wait(uint32_t counter) { __asm__ volatile("" ::"r"(counter)); }
"""
_RUNTIME = "#pragma once\n#include <stdint.h>\ntypedef struct { uint32_t posted, done; } match_queue_t;\n"
_COMMON = (
    "-O2",
    "-std=c11",
    "-g0",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-nostdlib",
    "-static",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """A core as compiler and emulator know it."""

    name: str
    unit: str
    target: str
    cpu: str
    emulator: tuple[str, ...]
    defines: tuple[str, ...]


#: RI5CY: floating point in integer registers; one instruction for a pair (``pairs.h``).
PULP = Machine(
    "pulp",
    "pulp",
    "riscv32-freestanding",
    "generic_rv32+m+zfinx+zhinx",
    ("qemu-riscv32", "-cpu", "rv32,f=false,d=false,zfinx=true,zhinx=true"),
    ("-DMATCH_CARFIELD_XPULP", '-DMATCH_CARFIELD_PAIRS="pairs.h"'),
)
#: Spatz: vectors of binary32, because this emulator has none of binary16; the instructions are as many.
SPATZ = Machine(
    "spatz",
    "spatz",
    "riscv64-freestanding",
    "generic_rv64+m+a+f+d+v",
    ("qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=512"),
    ("-DMATCH_CARFIELD_FLOAT32", "-DCOUNTED_VECTORS", "-mcmodel=medium"),
)
#: The scalar core beside the vectors.
SPATZ_SCALAR = Machine(
    "spatz_scalar",
    "spatz",
    "riscv32-freestanding",
    "generic_rv32+m+a+f+d+zfh",
    ("qemu-riscv32", "-cpu", "rv32,Zfh=true"),
    (),
)


def write_headers(folder: Path) -> None:
    """Contexts, binary16 arithmetic, and one core that stands for a cluster."""
    for header in (*map(context_header, (*HALF_INTERFACES, *INT8_INTERFACES)), half_header()):
        (folder / header.name).write_text(header.text, encoding="utf-8")
    shutil.copyfile(CORE_TEMPLATES / "match_float.h", folder / "match_float.h")
    for name, core, cores in (
        ("pulp.h", "rt_core_id", "get_core_num"),
        ("snrt.h", "snrt_cluster_core_idx", "snrt_cluster_core_num"),
    ):
        extra = _MCHAN if name == "pulp.h" else ""
        (folder / name).write_text(_CLUSTER.format(core=core, cores=cores) + extra, encoding="utf-8")
    (folder / "string.h").write_text("#include <stddef.h>\n#define memcpy __builtin_memcpy\n", encoding="utf-8")
    (folder / "match_runtime.h").write_text(_RUNTIME, encoding="utf-8")


class Counter:
    """Counts instructions of kernel calls; files go to ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_headers(folder)
        self.counter = instruction_counter(folder)

    def build(self, machine: Machine) -> Path:
        """The driver with the kernels of ``machine``."""
        unit = f"match_carfield_{machine.unit}_"
        names = (f"-DCOUNTED_UNIT={unit}", f"-DCOUNTED_TEAM={unit}team")
        return self._build(machine, machine.name, names, f"match_carfield_half_{machine.unit}.c", "driver.c")

    def build_copies(self) -> Path:
        """The driver with the copies of the PULP cluster."""
        return self._build(PULP, "copies", (), "match_carfield_pulp_dma.c", "copies.c")

    def _build(self, machine: Machine, name: str, names: tuple[str, ...], source: str, driver: str) -> Path:
        output = self.folder / f"{name}.elf"
        run_tool(
            [
                *(sys.executable, "-m", "ziglang", "cc", "-target", machine.target, f"-mcpu={machine.cpu}", *_COMMON),
                *(*machine.defines, *names, f"-I{self.folder}", f"-I{RUNTIME}", f"-I{FOLDER}"),
                *(str(RUNTIME / source), str(FOLDER / driver), "-o", str(output)),
            ]
        )
        return output

    def instructions(self, machine: Machine, program: Path, kernel: str, **sizes: int) -> int:
        """Of one call."""
        shape = [str(sizes.get(name, 1)) for name in ("oy", "ox", "k", "c", "fy", "fx")] + [str(sizes.get("pad", 0))]
        return self.counter.of_call(machine.emulator, program, [kernel, *shape])
