"""Static checks of a concurrent program: cover of the graph, start times, lives of buffers, parts of memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from match_core.validate.mapping import divided_axis

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.program import Program, Task


def cover_faults(graph: gs.Graph, program: Program) -> Iterator[str]:
    """Every node is in one task, or in shares that divide one dimension."""
    parts: dict[tuple[str, ...], list[Task]] = {}
    for task in program.tasks:
        parts.setdefault(task.assignment.candidate.node_names, []).append(task)
    covered = [name for names in parts for name in names]
    if sorted(covered) != sorted(node.name for node in graph.nodes):
        yield "the tasks do not cover each node once"
    for names, tasks in parts.items():
        shares = [task.assignment.candidate.share for task in tasks]
        known = [share for share in shares if share is not None]
        if not known and len(tasks) == 1:
            continue
        if len(known) < len(tasks) or len({divided_axis(share) for share in known}) > 1:
            yield f"{names}: several tasks that are not shares of one dimension"
            continue
        end = 0
        for share in sorted(known, key=lambda share: share.first):
            if share.first != end:
                yield f"{names}: shares do not meet at {end} of {share.dim}"
            end = share.first + share.size
        if end != known[0].whole.dim(known[0].dim).size:
            yield f"{names}: shares end at {end} of {known[0].dim}"


def time_faults(program: Program) -> Iterator[str]:
    """Modelled start times: after the queue's previous task and the required tasks, with the signals in between."""
    signalling = program.soc.signalling
    if signalling is None:
        yield f"{program.soc.name} cannot run units concurrently"
        return
    kinds = {queue.name: queue.kind for queue in program.queues}
    known = {"host": 0, "unit": signalling.notify_cycles, "link": 0}
    begins = {"host": 0, "unit": signalling.post_cycles + signalling.wake_cycles, "link": signalling.post_cycles}
    between = {"host": 0, "unit": signalling.task_cycles, "link": signalling.post_cycles}
    entries: dict[str, list[tuple[str, int, int, tuple[tuple[str, int], ...]]]] = {}
    for queue in program.queues:
        if queue.kind == "link":
            swaps = (program.swaps[index] for index in queue.tasks)
            rows = [(f"swap {s.index}", s.start_cycles, s.cycles, s.needs) for s in swaps]
        else:
            tasks = (program.tasks[index] for index in queue.tasks)
            rows = [(f"task {t.index}", t.start_cycles, t.cycles, t.needs) for t in tasks]
        entries[queue.name] = rows
    last = 0
    for name, rows in entries.items():
        free = begins[kinds[name]]
        for what, start, cycles, needs in rows:
            met = [entries[q][n - 1] for q, n in needs]
            ready = [
                row[1] + row[2] + known[kinds[q]] + begins[kinds[name]] for row, (q, _) in zip(met, needs, strict=True)
            ]
            if start < max([free, *ready]):
                yield f"{what} starts at {start}, before {max([free, *ready])}"
            free = start + cycles + between[kinds[name]]
            last = max(last, start + cycles + known[kinds[name]])
    last += signalling.session_cycles
    if last != program.predicted_cycles:
        yield f"predicted {program.predicted_cycles} cycles, the host notices the end at {last}"
    for task in program.tasks:
        if task.queue and task.cycles != task.assignment.schedule.cost.total_cycles:
            yield f"task {task.index} has {task.cycles} cycles, its schedule another number"


def life_faults(program: Program) -> Iterator[str]:
    """Buffers live from the first to the last task that names them; scratch lives during one task."""
    for buffer in program.buffers:
        uses = [task.index for task in program.tasks if buffer.name in (*task.buffers_in, *task.buffers_out)]
        views = [i for i in uses if program.tasks[i].assignment.candidate.pattern.view]
        uses = [index for index in uses if index not in views]
        if uses and not (buffer.first_task <= min(uses) and max(uses) <= buffer.last_task):
            yield f"{buffer.name} lives {buffer.first_task}..{buffer.last_task}, is used at {uses}"
        if buffer.kind == "scratch" and buffer.first_task != buffer.last_task:
            yield f"{buffer.name} outlives its task"


def part_faults(program: Program) -> Iterator[str]:
    """Tasks do not reach into the parts of shared memories that belong to units which are not busy with them."""
    uses = {use.memory: use for use in program.memory}
    for task in program.tasks:
        schedule, units = task.assignment.schedule, task.assignment.candidate.units
        parts = [part for part in program.soc.parts if part.memory == schedule.memory]
        first = min((part.offset_bytes for part in parts if part.unit in units), default=None)
        if first is None or schedule.memory is None:
            continue
        end = first + schedule.memory_bytes
        for part in parts:
            if part.unit not in units and first < part.offset_bytes + part.size_bytes and part.offset_bytes < end:
                yield f"task {task.index} uses {first} to {end} of {schedule.memory}, of which {part.unit} owns some"
        if end > uses[schedule.memory].arena_bytes:
            yield f"task {task.index} reaches beyond the arena of {schedule.memory}"
