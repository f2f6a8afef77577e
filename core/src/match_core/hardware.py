"""What a chip is, as frozen data: constants with sources, memories, links, units and systems on chip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from match_core.forms import Form, plain_form


@dataclass(frozen=True, slots=True)
class Constant:
    """One hardware figure.

    ``unit`` is the physical unit as text ("cycles", "bytes/cycle"); ``source`` names the public origin; ``estimate``
    is True where no public source exists and the figure is reasoned, which every report repeats.
    """

    name: str
    value: float
    unit: str
    source: str
    estimate: bool = False

    def __post_init__(self) -> None:
        if not self.source:
            raise ValueError(f"constant {self.name}: a source (or the reasoning of an estimate) is required")


@dataclass(frozen=True, slots=True)
class Memory:
    """A software-managed memory. ``level`` grows with the distance from the units (L1 is 1, L2 is 2, ...)."""

    name: str
    level: int
    size_bytes: int
    alignment_bytes: int = 4
    source: str = ""

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or self.alignment_bytes <= 0 or self.alignment_bytes & (self.alignment_bytes - 1):
            raise ValueError(f"memory {self.name}: size must be positive and alignment a power of two")


@dataclass(frozen=True, slots=True)
class Link:
    """A DMA engine between two memories (names), usable in both directions.

    ``setup_cycles`` per transfer command, ``chunk_cycles`` per contiguous chunk (row), ``max_dims`` strides the
    engine handles in one command, ``max_bytes`` per command, ``blocking`` True where the issuer stalls.
    """

    name: str
    near: str
    far: str
    bytes_per_cycle: float
    setup_cycles: int = 0
    chunk_cycles: int = 0
    max_dims: int = 2
    max_bytes: int | None = None
    blocking: bool = False
    channels: int = 1


@dataclass(frozen=True, slots=True)
class RequantSpec:
    """The requantisation ``y = clip((acc * M + B) >> S, lo, hi)`` that a unit can do.

    ``product_bits`` is the width that ``acc * M`` and the sum with ``B`` must fit in (signed); ``multiplier_bits``
    counts the bits of M including a sign bit when ``multiplier_signed``. ``activation_type`` is the element type of
    activations the unit reads and writes; ``takes_both_types``: that is its wish, and its kernels
    take the other 8-bit type too, where another unit of the Soc takes that one only.
    """

    multiplier_bits: int
    multiplier_signed: bool
    product_bits: int
    shift_min: int = 0
    shift_max: int = 31
    per_channel_multiplier: bool = True
    per_channel_shift: bool = False
    rounding: Literal["floor"] = "floor"
    activation_type: Literal["uint8", "int8"] = "uint8"
    takes_both_types: bool = False

    @property
    def multiplier_max(self) -> int:
        """The largest multiplier that the unit accepts."""
        return (1 << (self.multiplier_bits - (1 if self.multiplier_signed else 0))) - 1


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that runs kernels. ``memory`` is the name of the local memory that its kernels read and write
    (None: the unit works in place on the memory that holds the activations, like a host core).
    ``layout`` is the activation layout of its spatial kernels, ``spatial_types`` the element types of the activations
    that they take; ``requant`` None means any requantisation; ``exact_requant``: a wider one that the unit can do too,
    at more cycles.
    ``private``: (operand role or name, memory) pairs of operands that kernels read from a memory of their own instead
    of ``memory`` (weight memories of accelerators).
    ``bundles``: the constants of a kernel may lie one behind the other, aligned to their elements only, so that one
    copy brings them all (match_core/schedule/bundle.py).
    ``machine``: of a Soc's host, the Soc's ``host_machine``; set by the core, not by packages.
    ``integer_only``: has no floating point; where any unit of a Soc says so, functions of several values become integer
    operators too (layer normalisation), whatever the precision.
    """

    name: str
    description: str
    memory: str | None = None
    layout: Literal["NCHW", "NHWC"] | None = None
    requant: RequantSpec | None = None
    exact_requant: RequantSpec | None = None
    constants: tuple[Constant, ...] = ()
    private: tuple[tuple[str, str], ...] = ()
    bundles: bool = False
    spatial_types: tuple[str, ...] = ("int8", "uint8")
    integer_only: bool = False
    machine: str = ""

    def memory_of(self, operand: str, role: str) -> str | None:
        """The memory from which kernels read the operand, or to which they write it."""
        private = dict(self.private)
        return private.get(operand, private.get(role, self.memory))


@dataclass(frozen=True, slots=True)
class Signalling:
    """How the host and the units of a Soc tell each other about tasks while they run side by side. All in cycles.

    ``kind``: both sides look at counters ("poll"), or a doorbell wakes the one that sleeps ("event").
    ``post_cycles``: the host finds that a task may run and posts it. ``wake_cycles``: from there until a unit that was
    waiting begins. ``notify_cycles``: from the end of a task until the host knows. ``task_cycles``: between two tasks
    of a unit whose second one was posted in time. ``session_cycles``: once per run, until all units take tasks and
    until they are joined.
    """

    kind: Literal["poll", "event"]
    post_cycles: int
    wake_cycles: int
    notify_cycles: int
    task_cycles: int
    session_cycles: int = 0


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """The part of a memory that a unit has for itself while units run side by side."""

    unit: str
    memory: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Soc:
    """A system on chip: the host unit's name, all units (host included), memories, links.

    ``home`` is the memory that holds activations and constants between layers; ``clock_hz`` converts cycles to time.
    ``presets`` are the named sets of cost figures that the target offers, the default first; ``preset`` is the chosen
    one (empty where there are none). ``store``: the memory behind ``home`` from which constants that do not fit there
    are streamed; None where there is none.
    ``signalling``: how units that run side by side are told what to do; None where they cannot. ``mode`` is the kind of
    program that is being compiled: one task after another, or units side by side; packages look at it in their hooks.
    ``overflow``: a memory behind ``home`` in which tensors that do not fit may lie, because the host and the DMA of
    every unit with a link to it reach it by ordinary addresses.
    ``host_machine``: the description of the host's core that its kernels are written for (match_core/host/machine.py);
    empty: the preset of that name, else the first one.
    ``parts``: in concurrent programs, the parts of memories that several units share. ``forms``: orders of bytes other
    than dense and row-major in which units of this Soc want tensors at home.
    """

    name: str
    description: str
    host: str
    units: tuple[str, ...]
    memories: tuple[Memory, ...]
    links: tuple[Link, ...]
    home: str
    clock_hz: Constant | None = None
    notes: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    preset: str = ""
    store: str | None = None
    signalling: Signalling | None = None
    mode: Literal["sequential", "concurrent"] = "sequential"
    parts: tuple[MemoryPart, ...] = ()
    overflow: str | None = None
    forms: tuple[Form, ...] = ()
    host_machine: str = ""

    def __post_init__(self) -> None:
        names = [m.name for m in self.memories]
        if len(set(names)) != len(names):
            raise ValueError(f"soc {self.name}: two memories share a name")
        if self.home not in names:
            raise ValueError(f"soc {self.name}: home memory {self.home!r} is not among {names}")
        if self.store is not None and self.store not in names:
            raise ValueError(f"soc {self.name}: store {self.store!r} is not among {names}")
        if self.overflow is not None and self.overflow not in names:
            raise ValueError(f"soc {self.name}: overflow {self.overflow!r} is not among {names}")
        if self.preset and self.preset not in self.presets:
            raise ValueError(f"soc {self.name}: preset {self.preset!r} is not among {self.presets}")
        if self.host not in self.units:
            raise ValueError(f"soc {self.name}: host unit {self.host!r} is not among {self.units}")
        if self.forms and self.signalling is not None:
            raise ValueError(f"soc {self.name}: stored forms are for units that run one after another")
        if len({form.name for form in self.forms} - {""}) != len(self.forms):
            raise ValueError(f"soc {self.name}: two forms share a name, or one has none")
        for link in self.links:
            if link.near not in names or link.far not in names:
                raise ValueError(f"soc {self.name}: link {link.name} joins an unknown memory")

    def memory(self, name: str) -> Memory:
        """The memory of that name (KeyError if there is none)."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)

    def form(self, name: str, rank: int) -> Form:
        """The form of that name, the plain one for the empty name (KeyError if there is none)."""
        if not name:
            return plain_form(rank)
        for form in self.forms:
            if form.name == name:
                return form
        raise KeyError(name)

    def part_of(self, unit: Unit) -> tuple[int, int]:
        """(offset, bytes) of the unit's memory that it may use; (0, 0) for a unit that works in place."""
        if unit.memory is None:
            return (0, 0)
        for part in self.parts:
            if self.mode == "concurrent" and part.unit == unit.name:
                return (part.offset_bytes, part.size_bytes)
        return (0, self.memory(unit.memory).size_bytes)

    def link_between(self, near: str, far: str) -> Link | None:
        """The first link that joins the two memories, in either order."""
        for link in self.links:
            if {link.near, link.far} == {near, far}:
                return link
        return None


@dataclass(frozen=True, slots=True)
class Hardware:
    """What one plugin defines. A Soc may name units that another plugin defines."""

    units: tuple[Unit, ...] = ()
    socs: tuple[Soc, ...] = ()
