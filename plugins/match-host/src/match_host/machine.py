"""Host cores as data: the figures that determine the size and form of a kernel's tiles.

All figures are estimates: typical of the kind of core in the description, not from a data sheet or a particular chip.
They choose tiles: results do not depend on them, modelled host cycles only through the tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.errors import UsageError, did_you_mean
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, values_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.hardware import Soc

    from match_host.kernels.products.blocked import TileWriter

#: Bytes that a register counts for scalar sums, whatever their type.
SCALAR_BYTES = 8

#: Most bytes of lines of one channel that convolutions copy on the stack, with their padding: an estimate.
COPIED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Machine:
    """``vector_bytes`` of a vector register, 0 for scalar kernels; ``registers`` (vectors or scalars) that all machines
    of the kind provide; ``sum_registers``: how many of them the sums of a tile may use; ``products_per_cycle`` and
    ``loads_per_cycle``: multiply-accumulates and loads of one register each that start per cycle; ``latency_cycles``
    until a sum can add its next product; ``l1_bytes`` and ``l2_bytes`` of the data caches, ``l2_bytes_per_cycle`` of
    the second one, ``ram_bytes_per_cycle`` of the memory after it; ``unsigned_dot``: dot products of bytes multiply
    unsigned by signed bytes, so signed activations are offset by 128. ``floats``: the machine for products of
    floating-point numbers with constant weights, if it is another; ``writer``: what writes their tiles, if not
    ``TileWriter``."""

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
    floats: Machine | None = None
    writer: type[TileWriter] | None = None

    def products(self, weights: gs.Tensor) -> Machine:
        """The machine for products with these weights."""
        if self.floats is None or not is_constant(weights) or dtype_of(weights) not in (np.float16, np.float32):
            return self
        writer = self.floats.writer
        if writer is None or writer.takes(values_of(weights)):
            return self.floats
        return self.floats.floats or self

    @property
    def vectors(self) -> bool:
        """Whether loops over contiguous outputs are vectorised."""
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
#: 512-bit vectors; GCC uses them with -mprefer-vector-width=512.
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
#: RV32 and similar cores: 31 registers, most of which hold addresses, counters and operands.
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
    """The machine of that name; the default if there is none."""
    return MACHINES.get(name, GENERIC)


def machine_of(soc: Soc) -> Machine:
    """The machine that the Soc states, else that of its preset, else the default. UsageError MATCH-U064 for a stated
    machine that does not exist."""
    if soc.host_machine and soc.host_machine not in MACHINES:
        why = f"host_machine is {soc.host_machine!r}; machines are {', '.join(MACHINES)}"
        help_ = did_you_mean(soc.host_machine, MACHINES) or (f'write host_machine = "{GENERIC.name}"',)
        raise UsageError("MATCH-U064", f"{soc.name} has a name that cannot be used", soc.name, why, help_)
    return machine_named(soc.host_machine or soc.preset)
