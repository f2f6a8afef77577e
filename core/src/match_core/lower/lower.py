"""Lowering of chosen candidates to code, before addresses are known: packed constants, rendered kernels, scratch
sizes. The planner uses the sizes; the emitter prints the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx_graphsurgeon as gs
from numpy.typing import NDArray

from match_core.contract.candidate import Candidate
from match_core.contract.hardware import Soc
from match_core.contract.mapping import Assignment
from match_core.contract.unit_api import InlineCode, InlineKernel, InlineRequest, Kernel, RegionKernel, UnitApi
from match_core.lower.bundle import bundle_bytes
from match_core.lower.constants import ConstantPool
from match_core.lower.region_code import LoweredRegion, lower_region
from match_core.lower.sections import code_section
from match_core.lower.slices import sliced


@dataclass(frozen=True)
class Lowered:
    """One task's code without addresses. ``arguments``: of an inline kernel; ``in0``, ``out0``, ... and ``scratch`` are
    placeholders for the task's addresses. ``inputs`` and ``outputs`` are graph variables in argument order;
    ``constants`` are C names: by operand for unit kernels, by argument position for inline kernels; ``stored``: operand
    -> bytes from the start of the store's image, of its constants there. ``kernel``: the inline kernel to call; its
    ``definition`` is empty if an earlier task has the same one. ``region``: of a unit that takes whole regions."""

    function: str
    inputs: tuple[gs.Variable, ...]
    outputs: tuple[gs.Variable, ...]
    scratch_bytes: int
    constants: Mapping[str, str]
    inline: InlineCode | None = None
    kernel: str = ""
    definition: str = ""
    arguments: tuple[str, ...] = ()
    stored: Mapping[str, int] = field(default_factory=dict)
    region: LoweredRegion | None = None


Title = Callable[[Assignment], str]


def lower(
    prefix: str,
    assignments: tuple[Assignment, ...],
    apis: Mapping[str, UnitApi],
    pool: ConstantPool,
    title: Title,
    soc: Soc,
) -> tuple[Lowered | None, ...]:
    """Lower every assignment in order; None for a view (no code). ``title`` names an assignment in comments."""
    shared = KernelPool()
    return tuple(
        None
        if one.candidate.pattern.view
        else _lower_one(prefix, index, one, apis[one.candidate.unit], pool, shared, title(one), soc)
        for index, one in enumerate(assignments)
    )


class KernelPool:
    """The inline kernels of a program: kernels of a unit whose C differs only in the name become one function."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def add(self, unit: str, name: str, definition: str, section: str) -> tuple[str, str]:
        """The function to call and the C to emit for it, empty if an equal kernel was added before. ``section``: the
        macro that places it."""
        key = (unit, re.sub(rf"\b{name}", "", definition))
        if key in self._names:
            return self._names[key], ""
        self._names[key] = name
        return name, definition.replace(f"static void {name}(", f"{section}\nstatic void {name}(", 1)


def _lower_one(
    prefix: str,
    index: int,
    assignment: Assignment,
    api: UnitApi,
    pool: ConstantPool,
    shared: KernelPool,
    title: str,
    soc: Soc,
) -> Lowered:
    candidate = assignment.candidate
    kernel = api.kernels[candidate.pattern.name]
    function = f"{prefix}_{candidate.unit}_{index:02d}"
    if isinstance(kernel, InlineKernel):
        return _lower_inline(prefix, function, f"{index:02d}", assignment, kernel, pool, shared, title)
    if isinstance(kernel, RegionKernel):
        return _lower_region(function, f"{index:02d}", assignment, kernel, pool, title)
    return _lower_kernel(function, f"{index:02d}", assignment, kernel, pool, title, soc)


def _lower_region(
    function: str, label: str, assignment: Assignment, kernel: RegionKernel, pool: ConstantPool, title: str
) -> Lowered:
    if assignment.candidate.share is not None:
        raise ValueError(f"{title}: a region cannot be divided into shares")
    region = lower_region(function, label, assignment.candidate.match, kernel, pool, title)
    arrays = {f"const{number}": constant.array for number, constant in enumerate(region.constants)}
    return Lowered(
        function=function,
        inputs=region.region.inputs,
        outputs=region.region.outputs,
        scratch_bytes=region.code.scratch_bytes,
        constants=arrays,
        region=region,
    )


def _lower_kernel(
    function: str, label: str, assignment: Assignment, kernel: Kernel, pool: ConstantPool, title: str, soc: Soc
) -> Lowered:
    candidate, workload = assignment.candidate, assignment.candidate.workload
    packed = _packed(kernel, candidate)
    streamed = (*assignment.schedule.streamed(soc.home), *assignment.fetched)
    constants: dict[str, str] = {}
    stored: dict[str, int] = {}
    for operand in workload.operands:
        if operand.role != "constant":
            continue
        array = bundle_bytes(operand, packed, assignment.schedule.loops) if operand.parts else packed[operand.name]
        words = f"{', '.join(operand.fields)} of {title}"
        if operand.name in streamed:
            stored[operand.name] = pool.add_stored(array, words, _store_alignment_bytes(soc))
        else:
            constants[operand.name] = pool.add(f"{label}_{operand.name}", array, words)
    return Lowered(
        function=function,
        inputs=tuple(candidate.match.tensor(o.name) for o in workload.operands if o.role == "input"),
        outputs=candidate.match.outputs[: sum(o.role == "output" for o in workload.operands)],
        scratch_bytes=assignment.schedule.bytes_in(soc.home),
        constants=constants,
        stored=stored,
    )


def _packed(kernel: Kernel, candidate: Candidate) -> Mapping[str, NDArray[np.generic]]:
    """The constants by field; for a share, slices of the whole operator's constants."""
    if candidate.share is None:
        return kernel.pack(candidate.match, candidate.workload)
    return sliced(kernel.pack(candidate.match, candidate.share.whole), candidate.share)


def _store_alignment_bytes(soc: Soc) -> int:
    if soc.store is None:
        raise ValueError(f"a schedule streams constants, but {soc.name} has no store")
    return soc.memory(soc.store).alignment_bytes


def _lower_inline(
    prefix: str,
    function: str,
    label: str,
    assignment: Assignment,
    kernel: InlineKernel,
    pool: ConstantPool,
    shared: KernelPool,
    title: str,
) -> Lowered:
    if assignment.candidate.share is not None:
        raise ValueError(f"{title}: kernels that work in place cannot compute shares")
    match = assignment.candidate.match
    tensors = kernel.inputs(match)
    outputs = match.outputs
    code = kernel.render(InlineRequest(f"{function}_kernel", match.nodes, tensors, outputs))
    arguments: list[str] = []
    constants: dict[str, str] = {}
    variables: list[gs.Variable] = []
    for position, tensor in enumerate(tensors):
        if isinstance(tensor, gs.Constant):
            values = code.constants.get(position, tensor.values)
            role = code.names[position] if code.names else f"input_{position}"
            name = pool.add(f"{label}_{role}", values, f"{role.replace('_', ' ')} of {title}")
            constants[str(position)] = name
            arguments.append(name)
        else:
            arguments.append(f"in{len(variables)}")
            variables.append(tensor)
    arguments += [f"out{i}" for i in range(len(outputs))]
    if code.scratch_bytes:
        arguments.append("scratch")
    arguments += code.parameters
    unit = assignment.candidate.unit
    name, definition = shared.add(unit, f"{function}_kernel", code.definition, code_section(prefix, unit))
    return Lowered(
        function=function,
        inputs=tuple(variables),
        outputs=outputs,
        scratch_bytes=code.scratch_bytes,
        constants=constants,
        inline=code,
        kernel=name,
        definition=definition,
        arguments=tuple(arguments),
    )
