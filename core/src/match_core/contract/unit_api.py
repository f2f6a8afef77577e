"""The C interface of a unit: the four families of MATCH (platform, memory, synchronisation, computation) as names of
C functions, plus runtime files and the twin.

All functions named here have fixed signatures (see each field); the package ships their C for silicon as runtime
files and, for every function of its SDK, a C implementation for the twin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_core.contract.region import Region
    from match_core.contract.structure import Match
    from match_core.contract.views import ArenaView, StoreView, SwapAreaView, TensorView
    from match_core.contract.workload import Workload


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """A file to be written with the emitted program (``name`` has no directory part). ``image``: if units are built as
    separate images, whether a C file belongs to the host's image, to those of the units that name it, or to all."""

    name: str
    text: str
    image: Literal["all", "host", "unit"] = "all"


@dataclass(frozen=True, slots=True)
class KernelInterface:
    """The context struct ``match_<kind>_t`` that a kernel receives, generated as ``match_<kind>.h``.

    Fields: a pointer per operand (``const void *`` or ``void *``), ``void *scratch``, a ``uint32_t`` per dimension in
    lower case (the tile's size), for each windowed (operand, axis) the fields ``<operand>_<axis>`` (valid extent),
    ``<operand>_<axis>_pad_before`` and ``_pad_after`` (uint32_t), and an ``int32_t`` per geometry name;
    with ``accumulates`` also ``uint32_t first, last`` (1 or 0): whether this is the first or last call on its output
    tile.
    """

    kind: str
    operands: tuple[tuple[str, Literal["input", "constant", "output"]], ...]
    dims: tuple[str, ...]
    windowed: tuple[tuple[str, str], ...] = ()
    geometry: tuple[str, ...] = ()
    accumulates: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel in a unit's library.

    ``launch``: ``void launch(const match_<kind>_t *ctx)`` starts it and returns; the context stays unchanged until the
    wait. ``wait``: ``void wait(void)`` returns when the last launched kernel is done; empty if launch is synchronous.
    ``pack`` returns the constant operands as arrays whose bytes have the order of the workload's operand axes (first
    axis outermost). ``files`` ship only with programs that call the kernel, whose C files include the headers in it.
    """

    interface: KernelInterface
    launch: str
    wait: str
    pack: Callable[[Match, Workload], Mapping[str, NDArray[np.generic]]]
    files: tuple[RuntimeFile, ...] = ()


@dataclass(frozen=True, slots=True)
class InlineRequest:
    """Requests the C of a kernel that works in place on home memory. ``function`` is the C name to define; ``inputs``:
    graph tensors (variables and constants) in argument order; ``outputs`` likewise."""

    function: str
    nodes: tuple[gs.Node, ...]
    inputs: tuple[gs.Tensor, ...]
    outputs: tuple[gs.Tensor, ...]


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Tensor ``output`` may overwrite tensor ``input`` if it begins at least ``lead_bytes`` before it (0: also at the
    same address): the kernel reads no byte after it is overwritten, whichever of its overlaps are used."""

    input: str
    output: str
    lead_bytes: int = 0


@dataclass(frozen=True, slots=True)
class InlineCode:
    """C of one function ``static void NAME(const T0 *restrict in0, ..., U0 *restrict out0, ..., void *scratch, ...)``.
    The scratch argument exists only if ``scratch_bytes`` > 0; after it comes one argument for each literal of
    ``parameters``, so that kernels that differ only in these numbers share one function. ``definition`` is the whole
    function; ``helpers`` are (name, C text) pairs emitted once per program; ``constants`` replace constant inputs by
    packed arrays (position of the input -> array) if the kernel uses another order; ``headers`` ship with the program
    and are included by the file of the function, except C files; ``names``: of the inputs, for constants; ``overlaps``
    that the kernel allows (it loses ``restrict`` where they are used)."""

    definition: str
    helpers: tuple[tuple[str, str], ...] = ()
    includes: tuple[str, ...] = ()
    scratch_bytes: int = 0
    constants: Mapping[int, NDArray[np.generic]] = field(default_factory=dict)
    headers: tuple[RuntimeFile, ...] = ()
    parameters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    overlaps: tuple[Overwrite, ...] = ()


@dataclass(frozen=True, slots=True)
class InlineKernel:
    """A kernel whose C is generated per node; ``inputs`` lists which graph tensors it reads, in argument order."""

    inputs: Callable[[Match], tuple[gs.Tensor, ...]]
    render: Callable[[InlineRequest], InlineCode]


#: Formats of the code of a region, and their names in comments.
REGION_FORMATS = {"json": "JSON", "c": "C", "binary": "binary"}


@dataclass(frozen=True, slots=True)
class RegionRequest:
    """Requests the code of a region. ``name``: a C identifier of the program, the prefix of every symbol that the C
    source defines; ``region``: the nodes to compute, after the unit's own passes."""

    name: str
    region: Region


@dataclass(frozen=True, slots=True)
class RegionCode:
    """The code of a region in one of three formats: ``json``: text that the unit's runtime reads; ``c``: a C source
    file; ``binary``: bytes of the vendor's own serialiser.

    ``load``, ``run`` and ``unload`` are C functions of the unit's runtime or, for format ``c``, of ``content``: ``int
    load(const match_region_t *region, void **handle)`` prepares the region once, 0 on success; ``int run(void *handle,
    const void *const *in, void *const *out, void *scratch)`` computes it, 0 on success, with tensors in the region's
    order; ``void unload(void *handle)`` frees what load allocated. See ``match_region.h``. ``constants``: arrays for
    the program's table of constants, in the order in which the code numbers them; ``scratch_bytes`` of home memory that
    run receives. ``start``: as run, but returns while the unit computes (``QueueApi.done``).
    """

    format: Literal["json", "c", "binary"]
    content: bytes
    load: str
    run: str
    unload: str
    constants: tuple[NDArray[np.generic], ...] = ()
    scratch_bytes: int = 0
    start: str = ""


@dataclass(frozen=True, slots=True)
class RegionKernel:
    """Generates the code of regions for a unit that takes whole regions; the same region gives the same bytes."""

    compile: Callable[[RegionRequest], RegionCode]


@dataclass(frozen=True, slots=True)
class PlatformApi:
    """``start``: ``int start(void)`` powers the unit up, 0 on success; ``stop``: ``void stop(void)``; ``call``: ``int
    call(void (*entry)(void *), void *argument)`` runs entry on the unit and returns when it is done. Empty names: no
    call is necessary (the host)."""

    start: str = ""
    stop: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class QueueApi:
    """How a unit works concurrently with the host: in a dispatch loop of its own, or started (docs/programs.md).

    ``launch``: ``int launch(void (*loop)(void *), void *argument)`` starts the loop on the unit and returns at once: 0
    on success, another number while the unit runs another loop. The loop sees everything that the host wrote before.
    ``join``: ``int join(void)``, called when the loop is about to return, returns 0 once it has returned, and another
    number if that takes longer than a bound. ``signal``: ``void signal(void)``, called by the host after each change of
    ``posted``; ``wait``: ``int wait(const match_queue_t *queue, uint32_t count)``, called by the unit, returns 0 when
    ``posted`` has reached ``count``, another number if the session was cancelled; ``notify``: ``void notify(void)``,
    called by the unit after each change of ``done``. ``signal``, ``notify`` and ``join`` may be empty.

    A unit without a loop has only ``done``: ``int done(void)``, called by the host, returns 0 while the region that was
    started last is computed, 1 when it has ended, and another number if it failed.
    """

    launch: str = ""
    wait: str = ""
    join: str = ""
    signal: str = ""
    notify: str = ""
    done: str = ""


@dataclass(frozen=True, slots=True)
class SwapApi:
    """Asynchronous copies between home memory and store, started by the host.

    ``copy_out(uint32_t store, const void *home, uint32_t bytes)``, ``copy_in(void *home, uint32_t store, uint32_t
    bytes)``. Concurrent programs start one at a time; ``busy``: ``int busy(void)`` is 0 when it has ended. Sequential
    programs start any number, which run one after another; ``wait``: ``void wait(uint32_t left)`` returns when at most
    ``left`` of them have not ended; ``files`` ship with them. Empty: programs of that kind cannot copy.
    """

    copy_out: str
    copy_in: str
    busy: str = ""
    wait: str = ""
    files: tuple[RuntimeFile, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryApi:
    """Copies between home memory (far, strided) and the unit's memory (near, dense); all may be asynchronous.

    ``copy_in_1d(void *near, const void *far, uint32_t bytes)``,
    ``copy_in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t far_row_stride)``,
    ``copy_in_3d(near, far, planes, rows, row_bytes, far_row_stride, far_plane_stride)``; ``copy_out_*`` take
    (void *far, const void *near, ...) with the same counts; ``wait``: ``void wait(void)`` for all issued copies.
    """

    copy_in_1d: str
    copy_in_2d: str
    copy_in_3d: str
    copy_out_1d: str
    copy_out_2d: str
    copy_out_3d: str
    wait: str


@dataclass(frozen=True, slots=True)
class StoreApi:
    """Copies of constants from the Soc's store, whose addresses are numbers, to the home memory; asynchronous.

    ``copy_1d(void *home, uint32_t address, uint32_t bytes)``; ``wait``: ``void wait(void)`` for all issued copies.
    """

    copy_1d: str
    wait: str


@dataclass(frozen=True, slots=True)
class TwinApi:
    """How the package's C twin becomes part of the host build: headers and sources as text, macros for these sources
    (``defines``), and the clock names (their numbers are ``MATCH_TWIN_CLOCK_<NAME>`` in ``match_twin_clocks.h``). For
    each memory of the Soc there may be a C expression for an arena of ``bytes`` (macro-like text with ``{bytes}``);
    memories without one are plain static arrays. ``load_store``: C expression with ``{data}`` and ``{bytes}`` that
    copies constants into the store and yields their address (uint32_t)."""

    headers: tuple[RuntimeFile, ...] = ()
    sources: tuple[RuntimeFile, ...] = ()
    clocks: tuple[str, ...] = ()
    arenas: Mapping[str, str] = field(default_factory=dict)
    defines: tuple[str, ...] = ()
    load_store: str = ""


@dataclass(frozen=True, slots=True)
class BuildNode:
    """A node of the program that has code: its number in the profiling hooks, and its ``title``, not yet safe for C."""

    index: int
    unit: str
    pattern: str
    title: str


@dataclass(frozen=True, slots=True)
class BuildImage:
    """The files that are linked together if the units of a concurrent program are separate images: the name of a queue,
    and names of C files. All constants are in the host's image; units reach them by address."""

    name: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What build files and applications must know of a program. ``guard``: prefix of its macros; ``sources``: the C
    files of its library by name, in order, as text; ``images``: in concurrent programs, the files that each side
    requires, the host's first; ``areas``: of the store, for activations."""

    name: str
    guard: str
    sources: Mapping[str, str]
    arenas: tuple[ArenaView, ...]
    stores: tuple[StoreView, ...]
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    nodes: tuple[BuildNode, ...]
    images: tuple[BuildImage, ...] = ()
    areas: tuple[SwapAreaView, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildFiles:
    """Files that a package adds to a program's directory so that its SDK can build it. ``render`` generates them; a
    file with the name of one of the core's build files replaces it. ``applications``: names of the C files among them
    that are not part of the library."""

    render: Callable[[BuildRequest], tuple[RuntimeFile, ...]]
    applications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitApi:
    """How a unit is called in C. ``kernels`` by pattern name; ``headers`` to include (``"pmsis.h"`` style names);
    ``runtime``: files that ship with every program that uses the unit; ``clock``: the twin clock of the unit's kernels;
    ``store``: copies from the Soc's store, if it has one; ``build``: files for the SDK's build, if programs require
    any; ``queue``: for units that can run concurrently; ``swap``: for packages that copy buffers to the store;
    ``libraries`` to link with programs that use the unit (``-l`` names); ``folders`` that the compiler searches for
    files of a library that users have themselves, each an environment variable and a path in it: ``SDK_DIR/inc``."""

    platform: PlatformApi
    memory: MemoryApi | None
    kernels: Mapping[str, Kernel | InlineKernel | RegionKernel]
    headers: tuple[str, ...] = ()
    runtime: tuple[RuntimeFile, ...] = ()
    twin: TwinApi = TwinApi()
    clock: str = ""
    store: StoreApi | None = None
    build: BuildFiles | None = None
    queue: QueueApi | None = None
    swap: SwapApi | None = None
    libraries: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def shipped(self) -> tuple[str, ...]:
        """Names of the files that the unit ships with some program."""
        own = [file for kernel in self.kernels.values() if isinstance(kernel, Kernel) for file in kernel.files]
        return tuple(file.name for file in (*self.runtime, *own))
