"""A workload: the loop nest of a matched pattern, independent of layout and unit.

Each operand's axis is an affine function of the loop dimensions, so the extent of a tile follows from the tile sizes:
``extent(axis) = min(size, sum(coefficient * (tile - 1)) + 1)`` (halo included).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dim:
    """A loop dimension. ``tileable``: False if it stays whole; tiles but the last are multiples of ``granularity``."""

    name: str
    size: int
    tileable: bool = True
    granularity: int = 1

    def __post_init__(self) -> None:
        if self.size <= 0 or self.granularity <= 0:
            raise ValueError(f"dimension {self.name}: size and granularity must be positive")


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of an operand; ``Operand.axes`` lists the outermost axis first. ``name`` is unique within the operand.

    ``terms``: (dimension name, coefficient) pairs; ``offset`` is subtracted (top or left padding), so index =
    sum(coefficient * loop index) - offset, valid in [0, size); indices outside are padding. ``round_up``: the extent is
    padded up to this multiple (packed weights). Without terms the axis is always whole. ``pitch``: if the operand is a
    view, the number of indices of the axis in the viewed tensor (0: ``size``). ``stride``: elements from one index to
    the next in the home memory, if the buffers of a unit have another order of axes than the tensor; an operand states
    it for all of its axes or for none (0: it follows from the inner axes). The innermost one is 1.
    """

    name: str
    size: int
    terms: tuple[tuple[str, int], ...] = ()
    offset: int = 0
    round_up: int = 1
    pitch: int = 0
    stride: int = 0

    @property
    def windowed(self) -> bool:
        """Whether a tile's extent differs from the tile size of a single dimension (halo or padding)."""
        return len(self.terms) > 1 or self.offset != 0 or any(coefficient != 1 for _, coefficient in self.terms)


@dataclass(frozen=True, slots=True)
class BundlePart:
    """One of the arrays in a bundle: the context's field for its address, and its bits per index of the bundle's first
    axis. If these are not whole bytes, the elements stay dense and leave a gap after them in each piece."""

    field: str
    bits_per_index: int

    @property
    def bytes_per_index(self) -> int:
        """Bytes that the bundle reserves for each index."""
        return -(-self.bits_per_index // 8)


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that the workload touches. ``element_bits`` of one element; ``name`` is also the field of the kernel
    context that receives the address of its tile.

    ``parts``: the operand is a bundle of constants (patterns/bundle.py) whose arrays follow each other in every piece
    of the first axis; the fields of the context are then those of the parts. ``base``: for a view, elements from the
    start of the tensor to the first element of the view. ``far``: the memory that holds the tensor between layers;
    empty: the home memory. ``form``: the stored form (``Soc.forms``) of the tensor there, whose bytes the axes
    describe; empty: dense and row-major. The kernel handles the order inside of a reversed group.
    """

    name: str
    role: Literal["input", "constant", "output"]
    axes: tuple[Axis, ...]
    element_bits: int = 8
    parts: tuple[BundlePart, ...] = ()
    base: int = 0
    far: str = ""
    form: str = ""

    def __post_init__(self) -> None:
        stated = [axis.stride for axis in self.axes if axis.stride]
        if stated and (len(stated) != len(self.axes) or min(stated) < 0):
            raise ValueError(f"operand {self.name}: strides {[axis.stride for axis in self.axes]}")

    @property
    def strided(self) -> bool:
        """Whether the axes state their strides in the home memory."""
        return bool(self.axes) and self.axes[0].stride > 0

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the kernel context that receive addresses."""
        return tuple(part.field for part in self.parts) or (self.name,)


@dataclass(frozen=True, slots=True)
class Workload:
    """Loop dimensions (in no particular order), operands, multiply-accumulates, geometry.

    ``kind`` names the kernel interface ("conv2d", "linear", "add", "pool2d", ...); ``geometry``: the integers that do
    not depend on the tile (strides, kernel size, shift, ...), as (name, value) pairs; ``scratch``: bytes that the
    kernel requires in the unit's memory, affine as ``constant + sum(coefficient * product of tile sizes named)``.
    ``accumulates``: kernels can add to what an earlier call left in the output buffer, so reduction dimensions may be
    split; the context's ``first`` and ``last`` say whether a call is the first and the last on its output tile. Partial
    sums stay in the output's buffer, whose element has their width, and never leave the unit's memory: loops over
    reductions are inside of the output's depth. ``unroll``: (dimension, lanes) pairs, the spatial unrolling of the
    pattern on the unit (information for cost models and reports). ``arithmetic``: further integers of the kernel's
    context that affect neither cost nor schedule (multipliers, bounds): requests for schedules omit them, so that
    layers that differ only in them are searched once. ``holds``: (memory, bytes) that the program keeps in memories of
    kind "held" as long as it lives: resident weights, tables, descriptors.
    """

    kind: str
    dims: tuple[Dim, ...]
    operands: tuple[Operand, ...]
    macs: int
    geometry: tuple[tuple[str, int], ...] = ()
    scratch: tuple[tuple[tuple[str, ...], int], ...] = ()
    accumulates: bool = False
    unroll: tuple[tuple[str, int], ...] = ()
    arithmetic: tuple[tuple[str, int], ...] = ()
    holds: tuple[tuple[str, int], ...] = ()

    def dim(self, name: str) -> Dim:
        """The dimension of that name (KeyError if there is none)."""
        for dim in self.dims:
            if dim.name == name:
                return dim
        raise KeyError(name)

    def operand(self, name: str) -> Operand:
        """The operand of that name (KeyError if there is none)."""
        for operand in self.operands:
            if operand.name == name:
                return operand
        raise KeyError(name)

    @property
    def parameters(self) -> Mapping[str, int]:
        """Geometry and arithmetic as a mapping."""
        return dict((*self.geometry, *self.arithmetic))
