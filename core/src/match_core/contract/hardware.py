"""What a chip is, as frozen data: constants with sources, memories, links, units and systems on chip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from match_core.contract.forms import Form, plain_form


@dataclass(frozen=True, slots=True)
class Constant:
    """One hardware figure.

    ``unit`` is the physical unit as text ("cycles", "bytes/cycle"); ``source`` names the public origin; ``estimate`` is
    True if the figure is reasoned because no public source exists; every report states this. ``may_fit``:
    a figures file may replace the value by a whole number fitted to measured cycles.
    """

    name: str
    value: float
    unit: str
    source: str
    estimate: bool = False
    may_fit: bool = False

    def __post_init__(self) -> None:
        if not self.source:
            raise ValueError(f"constant {self.name}: a source (or the reasoning of an estimate) is required")


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How far the cycles that a preset predicts may be off: half the width of the interval around them, as a share of
    them, in programs of each kind. ``source`` says where the shares come from."""

    preset: str
    sequential: float
    concurrent: float
    source: str


@dataclass(frozen=True, slots=True)
class Memory:
    """A software-managed memory. ``level`` grows with the distance from the units (L1 is 1, L2 is 2, ...). ``kind``:
    "ram"; "read-only" (flash: constants and code, never activations); "held": private to units, for what a program
    keeps there as long as it lives (``Workload.holds``), which the mapper shares out over the network."""

    name: str
    level: int
    size_bytes: int
    alignment_bytes: int = 4
    source: str = ""
    kind: Literal["ram", "read-only", "held"] = "ram"

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or self.alignment_bytes <= 0 or self.alignment_bytes & (self.alignment_bytes - 1):
            raise ValueError(f"memory {self.name}: size must be positive and alignment a power of two")


@dataclass(frozen=True, slots=True)
class Link:
    """A DMA engine between two memories (names), usable in both directions.

    ``setup_cycles`` per transfer command, ``chunk_cycles`` per contiguous chunk (row), ``max_dims``: strides that the
    engine handles in one command, ``max_bytes`` per command, ``blocking``: True if the issuing core stalls.
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

    def copy_cycles(self, size_bytes: int) -> int:
        """Modelled cycles of one copy of contiguous bytes."""
        commands = -(-size_bytes // self.max_bytes) if self.max_bytes else 1
        return commands * (self.setup_cycles + self.chunk_cycles) + int(-(-size_bytes // self.bytes_per_cycle))


@dataclass(frozen=True, slots=True)
class RequantSpec:
    """The requantisation ``y = clip((acc * M + B) >> S, lo, hi)`` that a unit supports.

    ``product_bits`` is the width that ``acc * M`` and the sum with ``B`` must fit in (signed); ``multiplier_bits``
    counts the bits of M including a sign bit if ``multiplier_signed``; one bit: sums are only shifted.
    ``activation_type`` is the element type of activations that the unit reads and writes. With ``takes_both_types`` it
    is only a preference: the kernels also accept the other 8-bit type, which is used if another unit of the Soc
    supports only that one. ``rounding`` "double": products are rounded to multiples of 2^31, then shifted and rounded
    again; ``bounds``: pairs of ``lo`` and ``hi`` that the unit saturates to, none: all (docs/requantisation.md).
    """

    multiplier_bits: int
    multiplier_signed: bool
    product_bits: int
    shift_min: int = 0
    shift_max: int = 31
    per_channel_multiplier: bool = True
    per_channel_shift: bool = False
    rounding: Literal["floor", "double"] = "floor"
    activation_type: Literal["uint8", "int8"] = "uint8"
    takes_both_types: bool = False
    bounds: tuple[tuple[int, int], ...] = ()

    @property
    def multiplier_max(self) -> int:
        """The largest multiplier that the unit accepts."""
        return (1 << (self.multiplier_bits - (1 if self.multiplier_signed else 0))) - 1


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that runs kernels. ``memory`` is the name of the local memory that its kernels read and write (None:
    the unit works in place on the memory that holds the activations, like a host core). ``layout`` is the activation
    layout of its spatial kernels, ``spatial_types`` the element types of their activations; ``requant`` None means any
    requantisation; ``exact_requant``: a wider one that the unit also supports, at more cycles. ``private``: (operand
    role or name, memory) pairs of operands that kernels read from another memory than ``memory`` (weight memories of
    accelerators). ``bundles``: the constants of a kernel may be stored one after another, aligned to their elements
    only, so that one copy transfers them all (match_core/patterns/bundle.py). ``integer_only``: the unit has no
    floating point; if any unit of a Soc is so, functions of several values (layer normalisation) become integer
    operators whatever the precision. ``constants`` are those of the default preset; ``preset_constants``: (preset,
    constants) of the presets that have others."""

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
    preset_constants: tuple[tuple[str, tuple[Constant, ...]], ...] = ()

    def constants_of(self, preset: str) -> tuple[Constant, ...]:
        """The constants with the figures of a preset."""
        return dict(self.preset_constants).get(preset, self.constants)

    def memory_of(self, operand: str, role: str) -> str | None:
        """The memory that kernels read the operand from or write it to."""
        private = dict(self.private)
        return private.get(operand, private.get(role, self.memory))


@dataclass(frozen=True, slots=True)
class Signalling:
    """How the host and the units of a Soc signal each other about tasks in concurrent programs. All figures in cycles.

    ``kind``: both sides poll counters ("poll"), or a doorbell wakes the sleeping side ("event"). ``post_cycles``: the
    host notices that a task may run and posts it. ``wake_cycles``: from the post until a waiting unit begins.
    ``notify_cycles``: from the end of a task until the host notices. ``task_cycles``: between two tasks of a unit if
    the second was posted in time. ``session_cycles``: once per run, until all units accept tasks and until they are
    joined.
    """

    kind: Literal["poll", "event"]
    post_cycles: int
    wake_cycles: int
    notify_cycles: int
    task_cycles: int
    session_cycles: int = 0


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """The part of a memory that a unit owns in a concurrent program."""

    unit: str
    memory: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Soc:
    """A system on chip: the host unit's name, all units (host included), memories, links.

    ``home``: the memory of activations and constants; ``clock_hz`` converts cycles to time. ``presets``: the named sets
    of cost figures, the default first; ``preset`` is the chosen one (empty if there are none). ``store``: the memory
    behind ``home`` from which constants that do not fit there are streamed; None if there is none; ``mapped``: kernels
    read it in place (flash), so it holds all constants. ``signalling``: how the host signals tasks to concurrent units;
    None if units cannot run concurrently. ``mode`` is the kind of program that is being compiled, sequential or
    concurrent; hooks of packages read it. ``overflow``: a memory behind ``home`` for tensors that do not fit there; the
    host, and the DMA of every unit with a link to it, reach it by ordinary addresses. ``host_machine``: the kind of
    core that the host's kernels are written for, by a name that the package of the host unit knows; empty: the preset
    of that name, else the first one. ``processor``: the host's core as gcc's ``-mcpu`` or ``-march`` names it
    ("cortex-m4", "rv32imac"), for runners; empty: any. ``parts``: in concurrent programs, the parts of memories that
    several units share. ``forms``: stored forms other than dense and row-major that units of this Soc use. ``generic``:
    not a particular chip, so it is used only if the user names it. ``uncertainties``: of presets whose cycles were
    compared with measured ones. ``figures``: (unit, constant, value) of a figures file; they replace those of the
    preset.
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
    processor: str = ""
    mapped: bool = False
    generic: bool = False
    uncertainties: tuple[Uncertainty, ...] = ()
    figures: tuple[tuple[str, str, int], ...] = ()

    def __post_init__(self) -> None:
        names = [m.name for m in self.memories]
        if len(set(names)) != len(names):
            raise ValueError(f"soc {self.name}: two memories share a name")
        for what, name in (("home memory", self.home), ("store", self.store), ("overflow", self.overflow)):
            if name is not None and name not in names:
                raise ValueError(f"soc {self.name}: {what} {name!r} is not among {names}")
        if wrong := [m.name for m in self.memories if m.name in (self.home, self.overflow) and m.kind != "ram"]:
            raise ValueError(f"soc {self.name}: {wrong[0]} has activations, so its kind must be ram")
        if self.preset and self.preset not in self.presets:
            raise ValueError(f"soc {self.name}: preset {self.preset!r} is not among {self.presets}")
        if self.host not in self.units:
            raise ValueError(f"soc {self.name}: host unit {self.host!r} is not among {self.units}")
        if self.forms and self.signalling is not None:
            raise ValueError(f"soc {self.name}: stored forms require units that run one after another")
        if len({form.name for form in self.forms} - {""}) != len(self.forms):
            raise ValueError(f"soc {self.name}: two forms share a name, or one has none")
        for link in self.links:
            if link.near not in names or link.far not in names:
                raise ValueError(f"soc {self.name}: link {link.name} joins an unknown memory")

    def uncertain_share(self, mode: Literal["sequential", "concurrent"]) -> float:
        """The uncertainty of a program of that kind in the chosen preset; 0 if it is not known."""
        known = next((u for u in self.uncertainties if u.preset == self.preset), None)
        return 0.0 if known is None else getattr(known, mode)

    def memory(self, name: str) -> Memory:
        """The memory of that name (KeyError if there is none)."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)

    def form(self, name: str, rank: int) -> Form:
        """The form of that name, the plain form for the empty name (KeyError if there is none)."""
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

    @property
    def held_bytes(self) -> dict[str, int]:
        """The sizes of the memories of kind "held", by name."""
        return {memory.name: memory.size_bytes for memory in self.memories if memory.kind == "held"}

    @property
    def swap_link(self) -> Link | None:
        """The link over which tensors are copied to the store and back; None if there is none or it is read-only."""
        writable = self.store is not None and self.memory(self.store).kind == "ram"
        return self.link_between(self.home, self.store or "") if writable else None

    def link_between(self, near: str, far: str) -> Link | None:
        """The first link that joins the two memories, in either order."""
        return next((link for link in self.links if {link.near, link.far} == {near, far}), None)


@dataclass(frozen=True, slots=True)
class Hardware:
    """The hardware that one plugin defines. A Soc may name units that another plugin defines."""

    units: tuple[Unit, ...] = ()
    socs: tuple[Soc, ...] = ()
