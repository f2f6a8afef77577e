"""Host cores as data: what decides how large the tiles of a kernel are and how they are written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """``vector_bytes`` of a vector register, 0 where kernels are to be scalar code; ``registers``: how many values
    (vectors, or single numbers) registers hold; ``l1_bytes`` and ``l2_bytes`` of the data caches, with lines of
    ``line_bytes``; ``unsigned_dot``: dot products of bytes take unsigned by signed ones, so signed activations are
    moved by 128 on the way."""

    name: str
    description: str
    vector_bytes: int
    registers: int
    l1_bytes: int
    l2_bytes: int
    line_bytes: int
    unsigned_dot: bool

    def lanes(self, element_bytes: int) -> int:
        """Values of that size in a register."""
        return max(1, self.vector_bytes // element_bytes)


GENERIC = Machine("generic", "any core with vector instructions", 32, 32, 32 << 10, 256 << 10, 64, unsigned_dot=True)
AVX512 = Machine("avx512", "x86 with AVX-512", 64, 32, 48 << 10, 1 << 20, 64, unsigned_dot=True)
SCALAR = Machine("scalar", "32-bit core without vector instructions", 0, 16, 16 << 10, 64 << 10, 32, unsigned_dot=False)

#: Every machine by name, the default first.
MACHINES: dict[str, Machine] = {machine.name: machine for machine in (GENERIC, AVX512, SCALAR)}
