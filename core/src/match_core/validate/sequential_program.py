"""Check a program against the graph, sharing nothing with the planner and its allocator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from match_core.validate.contents import content_faults
from match_core.validate.touched import stored_bytes, tensor_size

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.candidate import Candidate
    from match_core.contract.program import Buffer, Program, Task
    from match_core.contract.unit_api import Overwrite
    from match_core.contract.workload import Operand


class InvalidProgramError(RuntimeError):
    """A program breaks its contract; the planner's fault, not the user's."""


def validate_program(graph: gs.Graph, program: Program, overlaps: Sequence[Overwrite] = ()) -> None:
    """InvalidProgramError with all faults, if there are any."""
    faults = program_faults(graph, program, overlaps)
    if faults:
        raise InvalidProgramError("; ".join(faults))


def program_faults(
    graph: gs.Graph,
    program: Program,
    overlaps: Sequence[Overwrite] = (),
    stored: Mapping[int, Mapping[str, int]] | None = None,
) -> tuple[str, ...]:
    """All faults of a program; empty if it is correct: values are computed before they are read, in buffers that are
    large enough and live long enough; buffers that live at the same time do not overlap, except as the kernel of the
    only task at which both live allows (``overlaps``); everything is inside its
    arena, aligned, and within the memories; streamed constants are in the store and staged. If parts of tensors are
    copied to the store and back, or constants (``stored`` there) fetched, ``contents.py`` replays all bytes."""
    faults = [*_task_faults(graph, program)]
    if not faults:
        faults += _buffer_faults(graph, program)
        faults += _life_faults(graph, program)
        faults += place_faults(program)
        sizes = {name: tensor_size(tensor) for name, tensor in _variables(graph).items()}
        faults += content_faults(graph, program, sizes, stored or {})
    faults += _overlap_faults(graph, program, overlaps)
    faults += memory_faults(program)
    faults += streaming_faults(program)
    return tuple(faults)


def _is_read(tensor: gs.Tensor) -> bool:
    import onnx_graphsurgeon as gs

    return isinstance(tensor, gs.Variable) and tensor.name != ""


def _readers(graph: gs.Graph) -> dict[str, set[str]]:
    """The names of the nodes that read each tensor; "" for the caller."""
    readers: dict[str, set[str]] = {tensor.name: {""} for tensor in graph.outputs}
    for node in graph.nodes:
        for tensor in node.inputs:
            readers.setdefault(tensor.name, set()).add(node.name)
    return readers


def _outer(task: Task, readers: Mapping[str, set[str]]) -> tuple[set[str], set[str]]:
    """Names of the tensors that a task reads from other tasks, and that it computes for others."""
    nodes = task.assignment.candidate.match.nodes
    names = {node.name for node in nodes}
    made = {tensor.name for node in nodes for tensor in node.outputs if tensor.name}
    reads = {tensor.name for node in nodes for tensor in node.inputs if _is_read(tensor)} - made
    return reads, {name for name in made if readers.get(name, set()) - names}


def _task_faults(graph: gs.Graph, program: Program) -> Iterator[str]:
    """Order, dependencies and start times."""
    covered = [name for task in program.tasks for name in task.assignment.candidate.node_names]
    if sorted(covered) != sorted(node.name for node in graph.nodes):
        yield "the tasks do not cover each node once"
        return
    maker: dict[str, int] = {}
    readers, given = _readers(graph), {tensor.name for tensor in graph.inputs}
    start = 0
    for position, task in enumerate(program.tasks):
        if task.index != position:
            yield f"task {position} has index {task.index}"
        reads, makes = _outer(task, readers)
        match = task.assignment.candidate.match
        left_out = makes - {tensor.name for tensor in match.results or match.nodes[-1].outputs}
        yield from (f"task {position} does not list {name!r}, which other tasks read" for name in sorted(left_out))
        unmade = sorted(name for name in reads if name not in given and name not in maker)
        yield from (f"task {position} reads {name!r} before it is computed" for name in unmade)
        if set(task.depends) != {maker[name] for name in reads if name in maker}:
            yield f"task {position} depends on {task.depends}"
        if task.start_cycles < start:
            yield f"task {position} starts at {task.start_cycles}, the previous one ends at {start}"
        start = task.start_cycles + task.assignment.schedule.cost.total_cycles
        for node in task.assignment.candidate.match.nodes:
            maker.update({tensor.name: position for tensor in node.outputs})
    if program.predicted_cycles != start:
        yield f"predicted {program.predicted_cycles} cycles, the last task ends at {start}"


def _variables(graph: gs.Graph) -> dict[str, gs.Tensor]:
    variables = {t.name: t for node in graph.nodes for t in (*node.inputs, *node.outputs) if _is_read(t)}
    return {**variables, **{tensor.name: tensor for tensor in graph.inputs}}


def _buffer_faults(graph: gs.Graph, program: Program) -> Iterator[str]:
    """Every tensor in memory has a buffer of its size and kind, which tasks name."""
    homes = {tensor: buffer for buffer in program.buffers for tensor in buffer.tensors}
    if len(homes) != sum(len(buffer.tensors) for buffer in program.buffers):
        yield "a tensor is in two buffers"
    if len({buffer.name for buffer in program.buffers}) != len(program.buffers):
        yield "two buffers share a name"
    variables = _variables(graph)
    readers = _readers(graph)
    for task in program.tasks:
        reads, makes = _outer(task, readers)
        missing = sorted(name for name in reads | makes if name not in homes)
        if missing:
            yield f"task {task.index}: no buffer holds {missing}"
            continue
        for names, buffers in ((reads, task.buffers_in), (makes, task.buffers_out)):
            unnamed = {homes[name].name for name in names} - set(buffers)
            if unnamed:
                yield f"task {task.index} does not name {sorted(unnamed)}"
        pattern = task.assignment.candidate.pattern
        view = pattern.view and not pattern.swapped
        for name in makes:
            if homes[name].size_bytes < tensor_size(variables[name]):
                yield f"{name!r} has {tensor_size(variables[name])} bytes, its buffer {homes[name].size_bytes}"
            if homes[name].size_bytes < (stored := _formed_bytes(task, name)):
                yield f"{name!r} has {stored} bytes in its form, its buffer {homes[name].size_bytes}"
            shares = [other for other in reads if homes[other] is homes[name]]
            if bool(shares) != view:
                yield f"task {task.index}: {name!r} {'shares no' if view else 'shares an'} input's bytes"
    for tensors, kind in ((graph.inputs, "input"), (graph.outputs, "output")):
        for tensor in tensors:
            if tensor.name not in homes or homes[tensor.name].kind != kind:
                yield f"graph {kind} {tensor.name!r} is not in a buffer of the caller"
        owners = [buffer for buffer in program.buffers if buffer.kind == kind]
        if len(owners) != len(tensors):
            yield f"{len(owners)} {kind} buffers for {len(tensors)} graph {kind}s"


def _formed_bytes(task: Task, name: str) -> int:
    """Bytes of a tensor that the task writes in a stored form: the product of the operand's axes."""
    found = [operand for operand, tensor in _results(task.assignment.candidate) if operand.form and tensor.name == name]
    return sum(-(-prod(axis.size for axis in o.axes) * o.element_bits // 8) for o in found)


def _results(candidate: Candidate) -> list[tuple[Operand, gs.Tensor]]:
    """The output operands with their tensors, in order."""
    operands = [operand for operand in candidate.workload.operands if operand.role == "output"]
    made = candidate.match.results or candidate.match.nodes[-1].outputs
    return list(zip(operands, made, strict=False))  # tensors that no kernel computes are never read


def _life_faults(graph: gs.Graph, program: Program) -> Iterator[str]:
    """Buffers live from the first to the last task that touches them; outputs to the end."""
    touched: dict[str, set[int]] = {buffer.name: set() for buffer in program.buffers}
    for task in program.tasks:
        for name in (*task.buffers_in, *task.buffers_out) if not task.assignment.candidate.pattern.swapped else ():
            touched.setdefault(name, set()).add(task.index)
    last = len(program.tasks) - 1
    for buffer in program.buffers:
        uses = touched[buffer.name]
        if buffer.kind == "output":
            uses.add(last)
        if buffer.kind == "input" and program.tasks:
            uses.add(0)
        if uses and not (buffer.first_task <= min(uses) and max(uses) <= buffer.last_task):
            yield f"{buffer.name} lives {buffer.first_task}..{buffer.last_task}, is used at {sorted(uses)}"
        if buffer.kind == "scratch" and buffer.first_task != buffer.last_task:
            yield f"{buffer.name} outlives its task"


def _owned(program: Program) -> list[Buffer]:
    own = [buffer for buffer in program.buffers if buffer.kind not in ("input", "output")]
    return [buffer for buffer in own if buffer.kind != "constant" or buffer.memory == program.soc.home]


def _overlap_faults(graph: gs.Graph, program: Program, overlaps: Sequence[Overwrite]) -> Iterator[str]:
    leads = {(overlap.input, overlap.output): overlap.lead_bytes for overlap in overlaps}
    owned = _owned(program)
    for position, one in enumerate(owned):
        for two in owned[:position]:
            together = one.memory == two.memory
            together = together and one.first_task <= two.last_task and two.first_task <= one.last_task
            apart = one.offset_bytes + one.size_bytes <= two.offset_bytes
            apart = apart or two.offset_bytes + two.size_bytes <= one.offset_bytes
            if together and not apart:
                early, late = sorted((one, two), key=lambda buffer: buffer.first_task)
                if not _may_overwrite(graph, program, early, late, leads):
                    yield f"{one.name} and {two.name} overlap"


def _may_overwrite(
    graph: gs.Graph, program: Program, early: Buffer, late: Buffer, leads: Mapping[tuple[str, str], int]
) -> bool:
    """Whether the task that begins one buffer is the last one of the other, and its kernel allows each tensor that it
    writes in the one to overlap each that it reads in the other, at their addresses."""
    last = [task for task in program.tasks if task.index == late.first_task]
    if not last or early.last_task != late.first_task or early.first_task == late.first_task:
        return False
    reads, _ = _outer(last[0], _readers(graph))
    made = {tensor.name for node in last[0].assignment.candidate.match.nodes for tensor in node.outputs}
    pairs = [(source, result) for source in reads & set(early.tensors) for result in made & set(late.tensors)]
    starts = {name: b.offset_bytes + dict(b.starts).get(name, 0) for b in (early, late) for name in b.tensors}
    return bool(pairs) and all(pair in leads and starts[pair[1]] + leads[pair] <= starts[pair[0]] for pair in pairs)


def memory_faults(program: Program) -> Iterator[str]:
    """Faults in the use of memories: bytes outside of an arena, misaligned, or more than the memory has."""
    uses = {use.memory: use for use in program.memory}
    if sorted(uses) != sorted(memory.name for memory in program.soc.memories):
        yield "memory use does not list the memories of the Soc"
        return
    for buffer in _owned(program):
        memory, use = program.soc.memory(buffer.memory), uses[buffer.memory]
        if buffer.offset_bytes < 0 or buffer.offset_bytes % memory.alignment_bytes:
            yield f"{buffer.name}: offset {buffer.offset_bytes} is not a multiple of {memory.alignment_bytes}"
        if buffer.offset_bytes + buffer.size_bytes > use.arena_bytes:
            yield f"{buffer.name} ends beyond the {use.arena_bytes} bytes of its arena"
    for task in program.tasks:
        for name, size in task.assignment.schedule.working_bytes:
            if size > uses[name].arena_bytes:
                yield f"task {task.index} needs {size} bytes of {name}"
    for memory in program.soc.memories:
        use = uses[memory.name]
        if use.available_bytes != memory.size_bytes or use.used_bytes > memory.size_bytes:
            yield f"{memory.name}: {use.used_bytes} used, {use.available_bytes} available of {memory.size_bytes}"
        if memory.kind == "read-only" and use.arena_bytes + use.caller_bytes:
            yield f"{memory.name} is read-only and has {use.arena_bytes + use.caller_bytes} bytes of activations"
        holds = [size for t in program.tasks for n, size in t.assignment.candidate.workload.holds if n == memory.name]
        if sum(holds) > use.constant_bytes:
            yield f"tasks hold {sum(holds)} bytes of {memory.name}, {use.constant_bytes} are counted"
    for name, use in uses.items():
        callers = (buffer for buffer in program.buffers if buffer.kind in ("input", "output") and buffer.memory == name)
        if use.caller_bytes < (kept := sum(buffer.size_bytes for buffer in callers)):
            yield f"graph inputs and outputs have {kept} bytes in {name}, {use.caller_bytes} are counted"


def place_faults(program: Program) -> Iterator[str]:
    """Operands whose schedule expects the tensor in another memory than its buffer is in."""
    memory = {tensor: buffer.memory for buffer in program.buffers for tensor in buffer.tensors}
    for task in program.tasks:
        candidate = task.assignment.candidate
        if task.assignment.schedule.memory is None:
            continue
        read = [(o, candidate.match.tensor(o.name)) for o in candidate.workload.operands if o.role == "input"]
        for operand, tensor in (*read, *_results(candidate)):
            if memory[tensor.name] != (operand.far or program.soc.home):
                yield f"task {task.index}: {tensor.name!r} is in {memory[tensor.name]}, not as scheduled"


def streaming_faults(program: Program) -> Iterator[str]:
    """Every streaming task owns a staging area while it runs, and its streamed constants are in the store."""
    home, store = program.soc.home, program.soc.store
    stored = max((use.constant_bytes for use in program.memory if use.memory == store), default=0)
    most = 0
    for task in program.tasks:
        candidate, schedule = task.assignment.candidate, task.assignment.schedule
        staging = [placement for placement in schedule.placements if placement.memory == home]
        staged = {*(placement.operand for placement in staging), *task.assignment.fetched}
        if not staged:
            continue
        need = max((p.offset_bytes + p.size_bytes * p.buffers for p in staging), default=0)
        own = [b for b in program.buffers if b.kind == "scratch" and b.first_task == b.last_task == task.index]
        if max((buffer.size_bytes for buffer in own), default=0) < need:
            yield f"task {task.index} stages {need} bytes in {home} that it does not own"
        for operand in candidate.workload.operands:
            if operand.name in staged:
                most = max(most, stored_bytes(operand))
                if operand.role != "constant":
                    yield f"task {task.index} streams {operand.name}, an {operand.role}"
    if stored < most or ((stored > 0) != (most > 0) and not program.soc.mapped):
        yield f"{stored} bytes in the store, a streamed constant has {most}"
