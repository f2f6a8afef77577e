"""Frozen views for the templates: strings and integers ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.io.quantised import Quantisation


@dataclass(frozen=True, slots=True)
class ArenaView:
    """One memory that the caller supplies."""

    memory: str
    field: str
    macro: str
    size_bytes: int
    alignment_bytes: int
    comment: str


@dataclass(frozen=True, slots=True)
class TensorView:
    """A graph input or output in the public API; ``comment`` is a whole one, to stand above its field; ``memory``: the
    one that the program takes it to lie in; ``quantisation``: the real values behind its integers, where they are
    known."""

    name: str
    field: str
    ctype: str
    dtype: str
    shape: tuple[int, ...]
    comment: str
    memory: str = ""
    quantisation: Quantisation | None = None

    @property
    def elements(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True, slots=True)
class ConstantView:
    """A constant array; ``comment`` is a whole one."""

    name: str
    ctype: str
    length: int
    size_bytes: int
    comment: str
    definition: str


@dataclass(frozen=True, slots=True)
class StoreView:
    """The memory behind the home memory, with the program's streamed constants."""

    memory: str
    field: str
    macro: str
    file: str
    size_bytes: int
    alignment_bytes: int


@dataclass(frozen=True, slots=True)
class StepView:
    """How a sequential program runs a task: ``call`` of the unit's platform, addresses, and ``fields`` that initialise
    what the task's function receives. ``direct``: the arguments of a function that takes its tensors themselves;
    ``handle``: of the region that the task runs."""

    call: str
    inputs: str
    outputs: str
    private_near: str
    fields: str
    direct: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with its C function. ``title``: what it computes; ``heading``: the comment above the function, ``note``
    the one where it is run; ``definition``: all C of a layer, or the kernel that an inline task calls with
    ``arguments``, empty where an earlier task has it; ``section``: the macro that says where both lie;
    ``private_memories``: of single operands. ``step``: how a sequential program runs it;
    ``parameters``: of the function. ``region``: number of the region that it runs; its ``definition`` is the whole
    function."""

    index: int
    unit: str
    title: str
    heading: str
    note: str
    function: str
    section: str
    definition: str
    private_memories: tuple[str, ...] = ()
    kernel: str = ""
    arguments: str = ""
    parameters: str = "void *argument"
    step: StepView | None = None
    region: int | None = None


@dataclass(frozen=True, slots=True)
class SwapAreaView:
    """Bytes of the store that activations pass while others need their place; ``field`` gets their address."""

    memory: str
    field: str
    macro: str
    size_bytes: int
    alignment_bytes: int


@dataclass(frozen=True, slots=True)
class RowView:
    """A task in the table of its unit: places of its tensors as initialisers."""

    index: int
    note: str
    function: str
    near: str
    scratch: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    privates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeedsView:
    """What a task or a swap waits for: ``counts`` by queue; ``text`` is its row with a comment."""

    counts: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SwapView:
    """A swap in the table of the link; ``home`` is a place, ``store`` bytes behind the start of the swap area."""

    home: str
    store: int
    size_bytes: int
    out: bool


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue that has tasks. The names of functions are empty where there is nothing to call. ``regions``: for each
    row the number of the region that it runs; ``calls``: for each row what hands it to its unit."""

    name: str
    field: str
    kind: str
    needs: tuple[NeedsView, ...]
    rows: tuple[RowView, ...] = ()
    regions: tuple[int | None, ...] = ()
    calls: tuple[str, ...] = ()
    swaps: tuple[SwapView, ...] = ()
    launch: str = ""
    wait: str = ""
    join: str = ""
    signal: str = ""
    notify: str = ""

    @property
    def has_regions(self) -> bool:
        """Whether any of its tasks runs a region."""
        return any(number is not None for number in self.regions)

    @property
    def has_calls(self) -> bool:
        """Whether any of its tasks is handed to a unit, which may fail."""
        return any(self.calls)

    @property
    def changes_state(self) -> bool:
        """Whether its tasks write what became of them to the session's state."""
        return self.has_regions or self.has_calls
