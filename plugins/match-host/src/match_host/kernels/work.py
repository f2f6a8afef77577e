"""Counts of a kernel's machine operations by class, which the host's cost model multiplies by cycles."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Work:
    """Operations per element, per layer, ...: ``memory`` loads and stores, ``integer`` 32-bit ALU operations, ``wide``
    64-bit additions, shifts and comparisons, ``wide_multiply``, ``divide`` 32 bit, ``wide_divide`` 64 bit,
    ``floating`` additions, multiplications and conversions, ``floating_divide`` also square roots, ``special``
    calls such as expf, ``half`` conversions between float16 and float32, ``macs`` integer multiply-accumulates of an
    inner loop (including loads and loop overhead), ``floating_macs`` likewise, ``tile_macs`` and ``floating_tile_macs``
    those of values in registers, ``steps`` iterations of other loops. For cost models that tell
    requantisations apart: ``words``, those whose sums 32 bits hold, ``quotients``, those that divide by no power of two
    (twice if a function does)."""

    memory: int = 0
    integer: int = 0
    wide: int = 0
    wide_multiply: int = 0
    divide: int = 0
    wide_divide: int = 0
    floating: int = 0
    floating_divide: int = 0
    special: int = 0
    half: int = 0
    macs: int = 0
    floating_macs: int = 0
    tile_macs: int = 0
    floating_tile_macs: int = 0
    steps: int = 0
    words: int = 0
    quotients: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, count: int) -> Work:
        """The work multiplied by ``count``."""
        return Work(*(getattr(self, f.name) * count for f in fields(self)))

    @property
    def products(self) -> int:
        """Multiply-accumulates of all kinds."""
        return self.macs + self.floating_macs + self.tile_macs + self.floating_tile_macs

    def counts(self) -> tuple[tuple[str, int], ...]:
        """The classes with counts above 0."""
        return tuple((f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name))
