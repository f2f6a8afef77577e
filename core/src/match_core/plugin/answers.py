"""Checks of what hooks return: one function per hook, from any object to the declared type; else WrongAnswerError."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from match_core.contract.commands import Command
from match_core.contract.cost import CostModel
from match_core.contract.element_types import c_type
from match_core.contract.exactness import ExactChoice
from match_core.contract.fitting import Fit
from match_core.contract.front_end import FrontEnd
from match_core.contract.geometry import far_bytes
from match_core.contract.hardware import Hardware, Soc, Unit
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Mapping as UnitMapping
from match_core.contract.passes import Pass
from match_core.contract.pattern import Pattern
from match_core.contract.planning import Plan
from match_core.contract.runner import Runner
from match_core.contract.scheduling import ScheduleInfeasible
from match_core.contract.unit_api import REGION_FORMATS, RegionCode, RegionKernel, UnitApi

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_core.contract.unit_api import Kernel, KernelInterface
    from match_core.contract.workload import Workload

_Item = TypeVar("_Item")
_Named = TypeVar("_Named", Command, FrontEnd, Pass, Pattern, Runner, Soc, Unit)

#: Unit and Soc names reach file names and C symbols.
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_VERB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LIBRARY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_FOLDER = re.compile(r"[A-Z][A-Z0-9_]*(/[A-Za-z0-9_.-]+)*")
_COST_METHODS = ("kernel_cycles", "launch_cycles", "transfer_cycles", "layer_cycles")


class WrongAnswerError(TypeError):
    """A hook returned something that its specification does not allow."""


def hardware(answer: object) -> Hardware:
    """A Hardware whose names are usable and not repeated."""
    value = _instance(answer, Hardware)
    units, socs = _named("unit", value.units, Unit), _named("Soc", value.socs, Soc)
    for kind, names in (("unit", [unit.name for unit in units]), ("Soc", [soc.name for soc in socs])):
        for name in names:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise WrongAnswerError(f"{kind} name {name!r} is not a lower-case C identifier")
    return Hardware(units=units, socs=socs)


def passes(answer: object) -> tuple[Pass, ...]:
    """Passes of different names."""
    return _named("pass", answer, Pass)


def patterns(answer: object) -> tuple[Pattern, ...]:
    """Patterns of different names."""
    return _named("pattern", answer, Pattern)


def cost_model(answer: object) -> CostModel:
    """An object with the attributes of CostModel (a protocol, so no base class is required)."""
    missing = [
        name for name in ("name", "version", "bound", "overlap") if not isinstance(getattr(answer, name, None), str)
    ]
    missing += [name for name in _COST_METHODS if not callable(getattr(answer, name, None))]
    missing += [] if hasattr(answer, "energy") else ["energy"]
    if missing or isinstance(answer, type):
        lacks = f" (lacks {', '.join(missing)})" if missing else " (a class, not an instance)"
        raise WrongAnswerError(f"returned {_shown(answer)}{lacks}, CostModel expected")
    return answer  # type: ignore[return-value]  # a protocol, whose attributes were checked above


def schedule(answer: object) -> LoopSchedule | ScheduleInfeasible:
    """A schedule, or the report of a search that found none."""
    if isinstance(answer, ScheduleInfeasible):
        return answer
    return _instance(answer, LoopSchedule)


def front_ends(answer: object) -> tuple[FrontEnd, ...]:
    """Front ends of different formats."""
    return _named("format", answer, FrontEnd)


def runners(answer: object) -> tuple[Runner, ...]:
    """Runners of different names."""
    return _named("runner", answer, Runner)


def commands(answer: object) -> tuple[Command, ...]:
    """Verbs of different names that can be typed."""
    value = _named("verb", answer, Command)
    for item in value:
        if not isinstance(item.name, str) or not _VERB.fullmatch(item.name):
            raise WrongAnswerError(f"verb {item.name!r} is not lower-case words joined by dashes")
    return value


def mapping(answer: object) -> UnitMapping:
    """A mapping; its correctness is checked against the graph later."""
    return _instance(answer, UnitMapping)


def plan(answer: object) -> Plan:
    """A plan; its correctness is checked against the graph later."""
    return _instance(answer, Plan)


def exact(answer: object) -> ExactChoice:
    """A choice; its names are checked against the model later."""
    return _instance(answer, ExactChoice)


def fit(answer: object) -> Fit:
    """A Fit; its program is validated like all others."""
    return _instance(answer, Fit)


def unit_api(answer: object) -> UnitApi:
    """A UnitApi whose libraries have valid linker names, and whose folders begin with a variable."""
    value = _instance(answer, UnitApi)
    if wrong := [name for name in _items(value.libraries, str) if not _LIBRARY.fullmatch(name)]:
        raise WrongAnswerError(f"library {wrong[0]!r} is not a valid name for -l")
    if wrong := [name for name in _items(value.folders, str) if not _FOLDER.fullmatch(name)]:
        raise WrongAnswerError(f"folder {wrong[0]!r} is not a variable of the environment and a path below it")
    if (queue := value.queue) is not None and bool(queue.done) == bool(queue.launch and queue.wait):
        raise WrongAnswerError("queue needs the names of launch and wait, or only that of done")
    others = [name for name, kernel in value.kernels.items() if not isinstance(kernel, RegionKernel)]
    if queue is not None and queue.done and others:
        raise WrongAnswerError(f"queue has done, which is for regions, but kernel {others[0]!r} is no RegionKernel")
    return value


def _instance(answer: object, kind: type[_Item]) -> _Item:
    if not isinstance(answer, kind):
        raise WrongAnswerError(f"returned {_shown(answer)}, {kind.__name__} expected")
    return answer


def _items(answer: object, kind: type[_Item]) -> tuple[_Item, ...]:
    if not isinstance(answer, (tuple, list)):
        raise WrongAnswerError(f"returned {_shown(answer)}, tuple of {kind.__name__} expected")
    for position, item in enumerate(answer):
        if not isinstance(item, kind):
            raise WrongAnswerError(f"returned {_shown(item)} at position {position}, {kind.__name__} expected")
    return tuple(answer)


def _named(what: str, answer: object, kind: type[_Named]) -> tuple[_Named, ...]:
    items, seen = _items(answer, kind), set[str]()
    for name in (item.name for item in items):
        if name in seen:
            raise WrongAnswerError(f"gives the {what} name {name!r} twice")
        seen.add(name)
    return items


def _shown(answer: object) -> str:
    return f"the class {answer.__name__}" if isinstance(answer, type) else f"a value of type {type(answer).__name__}"


def region_code(answer: object, roles: Sequence[str] = ("load", "run", "unload")) -> RegionCode:
    """The answer of a package's ``compile`` in a form that the emitter can use, with functions for all ``roles``;
    TypeError or ValueError with the fault."""
    if not isinstance(answer, RegionCode):
        raise TypeError(f"gives a value of type {type(answer).__name__}, RegionCode expected")
    if answer.format not in REGION_FORMATS:
        raise ValueError(f"format {answer.format!r}, one of {', '.join(REGION_FORMATS)} expected")
    if not isinstance(answer.content, bytes):
        raise TypeError(f"content is {type(answer.content).__name__}, bytes expected")
    if answer.format != "binary":
        answer.content.decode("utf-8")
    for role in roles:
        name = getattr(answer, role)
        if not (isinstance(name, str) and name.isidentifier() and name.isascii()):
            raise ValueError(f"{role} is {name!r}, the name of a C function expected")
    for number, values in enumerate(answer.constants):
        _check_constant(number, values)
    if not isinstance(answer.scratch_bytes, int) or answer.scratch_bytes < 0:
        raise ValueError(f"scratch_bytes is {answer.scratch_bytes!r}, a number of bytes expected")
    return answer


def _check_constant(number: int, values: NDArray[np.generic]) -> None:
    import numpy as np

    if not isinstance(values, np.ndarray):
        raise TypeError(f"constant {number} is {type(values).__name__}, an array expected")
    try:
        c_type(values.dtype)
    except KeyError:
        raise ValueError(f"constant {number} has elements of type {values.dtype}, which C cannot carry") from None


def packed(kernel: Kernel, workload: Workload, arrays: Mapping[str, NDArray[np.generic]]) -> Mapping[str, Any]:
    """The constants, if the workload is the one that the kernel's interface declares and each constant has the bytes of
    its operand."""
    check_workload(kernel.interface, workload)
    for operand in workload.operands:
        for name in operand.fields if operand.role == "constant" else ():
            if name not in arrays:
                raise WrongAnswerError(f"constant {name} is missing, there are {', '.join(arrays) or 'none'}")
        if operand.role == "constant" and not operand.parts and arrays[operand.name].nbytes != far_bytes(operand):
            found, size = arrays[operand.name], far_bytes(operand)
            raise WrongAnswerError(f"constant {operand.name} has {found.nbytes} bytes ({found.dtype}), not {size}")
    return arrays


def check_workload(interface: KernelInterface, workload: Workload) -> None:
    """WrongAnswerError unless the workload has exactly the declared operands, dimensions, windows and geometry."""
    windowed = tuple(
        (operand.name, axis.name)
        for operand in workload.operands
        if operand.role != "constant"
        for axis in operand.axes
        if axis.windowed
    )
    fields = tuple((field, operand.role) for operand in workload.operands for field in operand.fields)
    pairs = (
        ("operands", _constants_sorted(fields), _constants_sorted(interface.operands)),
        ("dimensions", tuple(d.name for d in workload.dims), interface.dims),
        ("geometry", tuple(sorted(workload.parameters)), tuple(sorted(interface.geometry))),
    )
    for what, found, declared in pairs:
        if found != declared:
            raise WrongAnswerError(f"workload {workload.kind}: {what} {found} differ from the interface's {declared}")
    if not set(windowed) <= set(interface.windowed):
        raise WrongAnswerError(f"workload {workload.kind}: windows {windowed} are not in {interface.windowed}")


def _constants_sorted(operands: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Inputs and outputs in the given order, then the constants sorted, because their order has no meaning."""
    constants = tuple(sorted(entry for entry in operands if entry[1] == "constant"))
    return (*(entry for entry in operands if entry[1] != "constant"), *constants)
