"""A runner: a place where compiled programs run, such as the twin, an emulator or a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.contract.hardware import Soc
    from match_core.contract.observe import StageObserver
    from match_core.contract.unit_api import UnitApi


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Requests a run of the program in ``folder``, whose manifest is ``document``, with all samples of ``inputs`` (by
    graph input name, first axis the sample). ``apis`` of the units that the program uses. ``work``: an empty folder,
    deleted after the run. ``detail``: what follows the colon in ``--on NAME:DETAIL``. ``options`` by name: those of the
    runner that the user gave. The observer sees the stages ``build`` and ``run``."""

    folder: Path
    document: Mapping[str, Any]
    inputs: Mapping[str, NDArray[np.generic]]
    soc: Soc
    apis: Mapping[str, UnitApi]
    work: Path
    observer: StageObserver
    detail: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeCycles:
    """Cycles (or what the runner counts) of one emitted node, and its predicted cycles; ``title``: its name."""

    index: int
    title: str
    onnx_names: tuple[str, ...]
    unit: str
    cycles: int
    predicted_cycles: int


@dataclass(frozen=True)
class RunResult:
    """Outputs by graph output name, first axis the sample; cycles of one inference (the first sample): the latest
    clock, busy cycles per clock, per unit and per node; ``events`` is the timeline (clock, kind, start, end, node,
    context). All cycles are 0 on the twin in threads mode, which has no timeline. ``counter``: what the cycles are.
    ``place``: where the program ran, for people; ``sizes``: bytes of the built program by kind."""

    outputs: Mapping[str, NDArray[np.generic]]
    cycles_total: int
    cycles_by_unit: Mapping[str, int]
    cycles_by_clock: Mapping[str, int]
    nodes: tuple[NodeCycles, ...]
    events: tuple[Mapping[str, Any], ...] = ()
    counter: Literal["cycles", "instructions"] = "cycles"
    place: str = "twin"
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of this machine that a runner uses: the ``command``, its ``purpose``, and how to ``install`` it."""

    command: str
    purpose: str
    install: str


@dataclass(frozen=True, slots=True)
class Runner:
    """``name`` as in ``--on``; ``help``: one line; ``options``: names of the options that it reads; ``tools`` that it
    uses, for ``match doctor``; ``run`` builds and runs a program. It raises ToolError for a tool that lacks or fails,
    UsageError for a program or a detail that the runner cannot run."""

    name: str
    help: str
    run: Callable[[RunRequest], RunResult]
    tools: tuple[Tool, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A runner with the choices for one run: ``detail`` and ``options`` of its RunRequest."""

    runner: Runner
    detail: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
