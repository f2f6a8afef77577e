"""Frozen views for the templates: strings and integers ready to print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepView:
    """How a sequential program runs a task: ``call`` of the unit's platform, addresses, and ``fields`` that initialise
    the argument of the task's function. ``direct``: the arguments of a function that takes its tensors directly;
    ``handle``: of the region that the task runs; ``before``: statements that wait for copies and start others."""

    call: str
    inputs: str
    outputs: str
    private_near: str
    fields: str
    direct: str = ""
    handle: str = ""
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with its C function. ``title``: the computed nodes; ``heading``: the comment above the function, ``note``:
    the comment at the call; ``definition``: all C of a layer, or the kernel that an inline task calls with
    ``arguments``, empty if an earlier task defines it; ``section``: the macro that places both; ``private_memories``:
    of single operands. ``step``: how a sequential program runs it; ``parameters``: of the function. ``region``: number
    of the region that it runs; its ``definition`` is the whole function."""

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
    """The dependencies of a task or a swap: ``counts`` by queue; ``text`` is its row with a comment."""

    counts: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SwapView:
    """A swap in the table of the link; ``home`` is a place, ``store``: bytes from the start of the swap area."""

    home: str
    store: int
    size_bytes: int
    out: bool


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue that has tasks. The names of functions are empty if no call is necessary. ``regions``: for each row the
    number of the region that it runs; ``calls``: for each row the function that hands it to its unit. ``kind``: as in
    ``Queue``, or ``started``: the host starts the unit's tasks and asks ``done`` for their end."""

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
    done: str = ""

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
        """Whether its tasks write their results to the session's state."""
        return self.has_regions or self.has_calls
