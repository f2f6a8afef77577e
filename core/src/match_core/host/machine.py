"""Host cores as data: what decides how large the tiles of a kernel are and how they are written.

All figures are estimates: typical of the kind of core that a description names, taken from no data sheet and from no
particular chip. They choose tiles: results do not depend on them, modelled host cycles only through the tiles.
"""

from __future__ import annotations

from dataclasses import dataclass

#: What a register counts for sums that are single numbers, whatever they are.
SCALAR_BYTES = 8


@dataclass(frozen=True, slots=True)
class Machine:
    """``vector_bytes`` of a vector register, 0 where kernels are to be scalar code; ``registers`` (of vectors, or of
    single numbers) that code for all machines of the kind can count on; ``sum_registers``: how many of them the sums of
    a tile may take; ``products_per_cycle`` and
    ``loads_per_cycle``: multiply-accumulates and loads of one register each that begin in a cycle; ``latency_cycles``
    until a sum can take its next product; ``l1_bytes`` and ``l2_bytes`` of the data caches, ``l2_bytes_per_cycle``
    that the second one gives, ``ram_bytes_per_cycle`` that the memory behind it gives; ``unsigned_dot``: dot products
    of bytes take unsigned by signed ones, so signed activations are moved by 128 on the way."""

    name: str
    description: str
    vector_bytes: int
    registers: int
    sum_registers: int
    products_per_cycle: int
    loads_per_cycle: int
    latency_cycles: int
    l1_bytes: int
    l2_bytes: int
    l2_bytes_per_cycle: int
    ram_bytes_per_cycle: int
    unsigned_dot: bool

    @property
    def vectors(self) -> bool:
        """Whether loops over neighbouring outputs become vector instructions."""
        return self.vector_bytes > 0

    @property
    def sum_bytes(self) -> int:
        """Bytes of registers for the sums of a tile."""
        return self.sum_registers * (self.vector_bytes or SCALAR_BYTES)

    def lanes(self, element_bytes: int) -> int:
        """Values of that size in a register."""
        return max(1, self.vector_bytes // element_bytes)


#: AVX2, and NEON or SSE with two registers for one.
GENERIC = Machine(
    name="generic",
    description="a core with vector instructions and caches",
    vector_bytes=32,
    registers=16,
    sum_registers=16,
    products_per_cycle=2,
    loads_per_cycle=2,
    latency_cycles=4,
    l1_bytes=32 << 10,
    l2_bytes=512 << 10,
    l2_bytes_per_cycle=32,
    ram_bytes_per_cycle=8,
    unsigned_dot=True,
)
#: 512-bit vectors; GCC takes them with -mprefer-vector-width=512.
AVX512 = Machine(
    name="avx512",
    description="x86 with AVX-512",
    vector_bytes=64,
    registers=32,
    sum_registers=16,
    products_per_cycle=2,
    loads_per_cycle=2,
    latency_cycles=4,
    l1_bytes=48 << 10,
    l2_bytes=2 << 20,
    l2_bytes_per_cycle=48,
    ram_bytes_per_cycle=8,
    unsigned_dot=True,
)
#: RV32 and its like: 31 registers, of which addresses, counters and operands take most.
SCALAR = Machine(
    name="scalar",
    description="an in-order core without vector instructions, in front of one memory",
    vector_bytes=0,
    registers=31,
    sum_registers=8,
    products_per_cycle=1,
    loads_per_cycle=1,
    latency_cycles=2,
    l1_bytes=64 << 10,
    l2_bytes=512 << 10,
    l2_bytes_per_cycle=4,
    ram_bytes_per_cycle=4,
    unsigned_dot=False,
)

#: Every machine by name, the default first.
MACHINES: dict[str, Machine] = {machine.name: machine for machine in (GENERIC, AVX512, SCALAR)}


def machine_named(name: str) -> Machine:
    """The machine of that name; the default where there is none."""
    return MACHINES.get(name, GENERIC)
