"""Each task as the templates print it: its entry in the run function and its C function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.contract.unit_api import Kernel, UnitApi
from match_core.emit.layer import LayerWriter
from match_core.emit.layer_facts import Layer, LayerRequest
from match_core.emit.swaps import swap_statements
from match_core.emit.view import StepView, TaskView
from match_core.ir.naming import c_identifier, comment_text
from match_core.lower.overlap import overwritten
from match_core.lower.sections import code_section
from match_core.lower.text import comment

if TYPE_CHECKING:
    from match_core.contract.candidate import Share
    from match_core.contract.model import Model
    from match_core.contract.program import Program, Task
    from match_core.contract.quantisation import Quantisation
    from match_core.emit.places import Places
    from match_core.lower.constants import ConstantPool
    from match_core.lower.lower import Lowered, Title


@dataclass(frozen=True)
class EmitRequest:
    """The input of the emitter. ``lowered`` is parallel to ``program.tasks`` (None for views); ``title`` names a task
    by its source nodes (raw text, not yet safe for C); ``stated``: real values of integer inputs and outputs."""

    model: Model
    title: Title
    program: Program
    lowered: tuple[Lowered | None, ...]
    pool: ConstantPool
    apis: Mapping[str, UnitApi]
    version: str
    stated: Mapping[str, Quantisation] = field(default_factory=dict)


class TaskWriter:
    """Makes the views of a program's tasks."""

    def __init__(self, request: EmitRequest, places: Places) -> None:
        self.request = request
        self.soc = request.program.soc
        self._addresses = {} if request.program.queues else places.expressions()
        self._fetched = {b.name: places.at(b, 0) for b in request.program.buffers if b.kind == "constant"}
        self._swaps = swap_statements(request.program, request.apis, places)
        self._overwritten = overwritten(request.program)
        of_regions = (low.function for low in request.lowered if low is not None and low.region is not None)
        self._regions = {function: number for number, function in enumerate(of_regions)}

    def view(self, task: Task, lowered: Lowered) -> TaskView:
        """The view of one task that has code."""
        candidate = task.assignment.candidate
        what = comment_text(f"{self.request.title(task.assignment)}{_share_words(candidate.share)}")
        title = f"{what} on {candidate.unit} ({comment_text(candidate.pattern.name)})"
        layer = self._layer(task, lowered) if lowered.inline is None and lowered.region is None else None
        detail = self._detail(task, layer)
        heading = comment(title, detail)
        private = layer.private_memories if layer is not None else ()
        names = self._direct(candidate.unit, lowered)
        return TaskView(
            index=task.index,
            unit=candidate.unit,
            title=what,
            heading=heading,
            note=comment(f"{task.index}: {title}", detail, indent=4),
            function=lowered.function,
            section=code_section(self.request.model.name, candidate.unit),
            definition=self._definition(candidate.unit, lowered, layer, heading),
            private_memories=private,
            kernel=lowered.kernel,
            arguments=", ".join(map(_parameter if names else _of_task, lowered.arguments)),
            parameters=", ".join(f"{'const ' if n.startswith('in') else ''}void *{_parameter(n)}" for n in names)
            or "void *argument",
            step=None if self.request.program.queues else self._step(task, lowered, private, bool(names)),
            region=self._regions.get(lowered.function),
        )

    def _definition(self, unit: str, lowered: Lowered, layer: Layer | None, heading: str) -> str:
        if lowered.region is not None:
            code, queue = lowered.region.code, self.request.apis[unit].queue
            begins = bool(self.request.program.queues and queue is not None and queue.done)
            run = code.start if begins else code.run
            return _region_function(self.request.model.name, lowered.function, run, heading)
        return LayerWriter(layer).write(heading) if layer is not None else lowered.definition

    def _direct(self, unit: str, lowered: Lowered) -> tuple[str, ...]:
        """The parameters of a task's function that takes its tensors directly: of an inline kernel in a sequential
        program whose host calls the function itself. Otherwise empty."""
        if lowered.inline is None or self.request.program.queues or self.request.apis[unit].platform.call:
            return ()
        names = [f"in{i}" for i in range(len(lowered.inputs))] + [f"out{i}" for i in range(len(lowered.outputs))]
        return (*names, *(["scratch"] if lowered.scratch_bytes else []))

    def _step(self, task: Task, lowered: Lowered, private: tuple[str, ...], direct: bool) -> StepView:
        places = [self._addresses[t.name] for t in (*lowered.inputs, *lowered.outputs)]
        scratch = [place] if (place := self._scratch(task)) else []
        fetched = [self._fetched[name] for name in task.buffers_in if name in self._fetched]
        return StepView(
            call=self.request.apis[task.assignment.candidate.unit].platform.call,
            inputs=", ".join([*(self._addresses[t.name] for t in lowered.inputs), *fetched]) or "NULL",
            outputs=", ".join(self._addresses[t.name] for t in lowered.outputs),
            private_near=", ".join(f"ctx->{c_identifier(memory)}" for memory in private),
            fields=", ".join(self._fields(task, lowered, bool(private))),
            direct=", ".join([*places, *scratch]) if direct else "",
            before=self._swaps.get(task.index, ()),
            handle=f"state->region_handle[{self._regions[lowered.function]}]" if lowered.region is not None else "",
        )

    def _scratch(self, task: Task) -> str:
        """The address of a task's scratch in the home memory; empty if it has none."""
        own = (b for b in self.request.program.buffers if b.kind == "scratch" and b.first_task == task.index)
        return next((f"{self.soc.home} + {buffer.offset_bytes}u" for buffer in own), "")

    def _fields(self, task: Task, lowered: Lowered, private: bool) -> list[str]:
        """The initialiser of the ``match_task_t`` that the function receives."""
        memory = task.assignment.schedule.memory
        scratch = self._scratch(task)
        fields = [f".near = ctx->{c_identifier(memory)}"] if memory else []
        fields += [".private_near = private_near"] if private else []
        fields += [".in = in", ".out = out"]
        fields += [f".scratch = {scratch}"] if scratch else []
        if task.assignment.schedule.streamed(self.soc.home) and self.soc.store is not None:
            fields.append(f".store = ctx->{c_identifier(self.soc.store)}")
        return fields

    def _layer(self, task: Task, lowered: Lowered) -> Layer:
        candidate = task.assignment.candidate
        api = self.request.apis[candidate.unit]
        kernel = api.kernels[candidate.pattern.name]
        assert isinstance(kernel, Kernel) and api.memory is not None
        return Layer(
            LayerRequest(
                name=lowered.function,
                workload=candidate.workload,
                schedule=task.assignment.schedule,
                kernel=kernel,
                memory=api.memory,
                home=self.soc.home,
                sources=_sources(task, lowered),
                store=api.store,
                stored=lowered.stored,
                section=code_section(self.request.model.name, candidate.unit),
            )
        )

    def _detail(self, task: Task, layer: Layer | None) -> str:
        """Shape, tiles, buffers and modelled cycles in words."""
        schedule, workload = task.assignment.schedule, task.assignment.candidate.workload
        parts = [" ".join(f"{dim.name}={dim.size}" for dim in workload.dims)]
        if schedule.loops:
            parts.append("tiles " + " ".join(f"{loop.dim}:{loop.steps}x{loop.tile}" for loop in schedule.loops))
        if layer is not None:
            parts += [f"two buffers for {names}"] if (names := _names(layer, "double")) else []
            parts += [f"streamed {names}"] if (names := _names(layer, "stage")) else []
        parts += [f"fetched {', '.join(fetched)}"] if (fetched := task.assignment.fetched) else []
        if shared := self._overwritten.get(task.index):
            parts.append(f"overwrites {', '.join(comment_text(buffer.tensors[-1]) for buffer in shared)}")
        parts.append(f"{schedule.cost.total_cycles} cycles (modelled)")
        return "; ".join(part for part in parts if part)


def _region_function(name: str, function: str, run: str, heading: str) -> str:
    """The function of a task that runs a region, or starts it."""
    call = f"    region->status = {run}(region->handle, region->task.in, region->task.out, region->task.scratch);"
    declared = f"    {name}_region_task_t *const region = argument;"
    return f"{heading}\nvoid {function}(void *argument)\n{{\n{declared}\n{call}\n}}\n"


def _parameter(argument: str) -> str:
    """``in1`` as ``input_2``, ``out0`` as ``output``: how a task's function calls its tensors."""
    found = re.fullmatch(r"(in|out)(\d+)", argument)
    return argument if found is None else f"{found[1]}put" + (f"_{int(found[2]) + 1}" if found[2] != "0" else "")


def _of_task(argument: str) -> str:
    """An argument of an inline kernel in a function that receives a ``match_task_t``."""
    if argument == "scratch":
        return "task->scratch"
    return re.sub(r"^(in|out)(\d+)$", r"task->\1[\2]", argument)


def _share_words(share: Share | None) -> str:
    if share is None:
        return ""
    return f", {share.dim} {share.first}..{share.first + share.size - 1} of {share.whole.dim(share.dim).size}"


def _names(layer: Layer, what: str) -> str:
    return ", ".join(moved.operand.name for moved in layer.moved if getattr(moved, what))


def _sources(task: Task, lowered: Lowered) -> dict[str, str]:
    """C expression of every operand's address in home memory; those of the store have none."""
    operands, fetched = task.assignment.candidate.workload.operands, task.assignment.fetched
    reads, makes = ([o.name for o in operands if o.role == role] for role in ("input", "output"))
    return {
        **{name: f"(const uint8_t *){array}" for name, array in lowered.constants.items()},
        **{name: f"task->in[{place}]" for place, name in enumerate([*reads, *fetched])},
        **{name: f"task->out[{place}]" for place, name in enumerate(makes)},
    }
