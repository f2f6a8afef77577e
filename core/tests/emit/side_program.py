"""A program of units side by side, made by hand: three convolutions, two of them shared, between tasks of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import onnx_graphsurgeon as gs
from match_concurrent.share import divisible, share_of
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.hardware import MemoryPart, Signalling, Soc
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment, SolverStatus
from match_core.contract.mapping import Mapping as UnitMapping
from match_core.contract.model import Model
from match_core.contract.pattern import Pattern
from match_core.contract.program import Buffer, MemoryUse, Program, Queue, Swap, Task
from match_core.contract.sources import SourceFile
from match_core.contract.structure import Match
from match_core.contract.unit_api import (
    InlineCode,
    InlineKernel,
    InlineRequest,
    Kernel,
    PlatformApi,
    QueueApi,
    RuntimeFile,
    SwapApi,
    UnitApi,
)
from match_core.contract.workload import Dim, Workload
from match_core.emit.manifest import manifest
from match_core.emit.program_files import EmitRequest, ProgramEmitter
from match_core.lower.constants import ConstantPool
from match_core.lower.lower import lower
from numpy.typing import NDArray

from core.tests.emit import layer_program as lp
from core.tests.emit.hand_schedules import SOC, Where, faults, hand_schedule, random_cuts
from core.tests.emit.workloads import INTERFACES, Problem, Window, conv2d_of

SOLVED = SolverStatus("none", "optimal", 0, 0)
UNITS = ("array", "other")
#: Bytes of memory ``near`` that belong to the first unit.
PART_BYTES = 1 << 16
CHIP: Soc = replace(
    SOC,
    host="host",
    units=("host", *UNITS),
    signalling=Signalling("poll", 10, 20, 30, 5),
    mode="concurrent",
    parts=tuple(MemoryPart(unit, "near", number * PART_BYTES, PART_BYTES) for number, unit in enumerate(UNITS)),
)
#: Bytes that every buffer has.
BUFFER_BYTES = 1024


@dataclass(frozen=True)
class Job:
    """A task: ``operator`` (-1, 3: of the host), its share as (dimension, first, size), and a schedule as in
    ``hand_schedule``."""

    queue: str
    operator: int
    needs: tuple[tuple[str, int], ...] = ()
    share: tuple[str, int, int] | None = None
    cuts: tuple[tuple[str, int], ...] = ()
    near: tuple[tuple[str, Where], ...] = ()
    stage: tuple[tuple[str, Where], ...] = ()


#: Tensors x, h, y0, y1, y2, out. The second operator begins when y0 has been in the store and is back elsewhere.
JOBS = (
    Job("host", -1),
    Job("array", 0, (("host", 1),), ("OY", 0, 5), (("OY", 2),), (("input", (1, 2)), ("output", (1, 2)))),
    Job("other", 0, (("host", 1),), ("OY", 5, 4), (("OX", 4), ("K", 2)), (("weight", (2, 1)),), (("weight", (2, 2)),)),
    Job("array", 1, (("link", 2),), ("K", 0, 2), (("OY", 4),)),
    Job("other", 1, (("link", 2),), ("K", 2, 4), (("K", 3),), (("weight", (1, 2)),), (("weight", (1, 2)),)),
    Job("array", 2, (("other", 2),)),
    Job("host", 3, (("array", 3),)),
)
SWAPS = ((("array", 1), ("other", 1)), ())


def chain() -> tuple[list[Problem], NDArray[np.uint8]]:
    """Three convolutions, each on the result of the one before, and the first input."""
    random, same = np.random.default_rng(4), Window(9, 3, 1, 1, 1)
    problems = [conv2d_of(random, k, c, same, same) for k, c in ((5, 4), (6, 5), (3, 6))]
    return problems, np.asarray(problems[0].operands["input"], np.uint8)


def expected(x: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What the program computes."""
    x = ~x
    for problem in chain()[0]:
        pad = problem.workload.parameters["pad_value"]
        padded = np.pad(x, ((1, 1), (1, 1), (0, 0)), constant_values=pad).astype(np.int64)
        w, m, a = (problem.operands[key].astype(np.int64) for key in ("weight", "multiplier", "addend"))
        sums = np.stack([[(w * padded[y : y + 3, q : q + 3]).sum(axis=(1, 2, 3)) for q in range(9)] for y in range(9)])
        x = np.clip((sums * m + a) >> 16, 0, 255).astype(np.uint8)
    return np.asarray(~x)


def runtime() -> tuple[RuntimeFile, ...]:
    """The fake units."""
    names = ("fake_unit.h", "fake_unit.c", "fake_queues.h", "fake_queues.c")
    return tuple(RuntimeFile(name, (lp.HERE / name).read_text()) for name in names)


def apis(problems: list[Problem]) -> dict[str, UnitApi]:
    """The host and two fake units; the pattern of operator n is ``conv<n>``, of the host's ones ``invert``."""

    def kernel(problem: Problem) -> Kernel:
        constants = {name: values for name, values in problem.operands.items() if name != "input"}
        return Kernel(INTERFACES["conv2d"], "conv2d_launch", "kernel_wait", pack=lambda match, workload: constants)

    others = {kind: Kernel(i, "", "", pack=lambda match, workload: {}) for kind, i in INTERFACES.items()}
    found = {"host": UnitApi(PlatformApi(), None, {"invert": InlineKernel(lambda m: m.nodes[0].inputs, _invert)})}
    for unit in UNITS:
        found[unit] = UnitApi(
            platform=PlatformApi("queues_start", "queues_stop"),
            memory=lp.MEMORY,
            kernels={**others, **{f"conv{number}": kernel(problem) for number, problem in enumerate(problems)}},
            headers=("fake_unit.h", "fake_queues.h"),
            runtime=runtime(),
            store=lp.STORE,
            queue=QueueApi(f"{unit}_launch", "fake_queue_wait", f"{unit}_join", "fake_signal", "fake_notify"),
            swap=SwapApi("swap_out", "swap_in", "swap_busy"),
        )
    return found


def _invert(request: InlineRequest) -> InlineCode:
    elements = int(np.prod(request.inputs[0].shape))
    return InlineCode(
        f"static void {request.function}(const uint8_t *restrict in, uint8_t *restrict out)\n{{\n"
        f"    for (uint32_t i = 0u; i < {elements}u; i++) {{\n        out[i] = (uint8_t)~in[i];\n    }}\n}}\n"
    )


def _workload(problem: Problem, match: Match) -> Workload:
    return problem.workload


def model_of(name: str) -> Model:
    """The graph: x, h, y0, y1, y2, out."""
    problems, x = chain()
    shapes = [x.shape, x.shape, *(problem.expected.shape for problem in problems), problems[-1].expected.shape]
    names = ("x", "h", "y0", "y1", "y2", "out")
    tensors = [gs.Variable(tensor, np.uint8, shape) for tensor, shape in zip(names, shapes, strict=True)]
    nodes = [
        gs.Node("Not" if number in (0, 4) else "Conv", f"n{number}", inputs=[a], outputs=[b])
        for number, (a, b) in enumerate(pairwise(tensors))
    ]
    return Model(name, gs.Graph(nodes, [tensors[0]], [tensors[-1]]))


def assignment_of(job: Job, index: int, model: Model) -> Assignment:
    """The candidate and schedule of a task."""
    node = model.graph.nodes[job.operator + 1]
    match = Match((node,), {"input": node.inputs[0]})
    if job.queue == "host":
        pattern = Pattern("invert", "", None, (), lambda match: Workload("invert", (), (), 0))
        workload = Workload("invert", (Dim("N", int(np.prod(node.inputs[0].shape))),), (), 0)
        schedule = LoopSchedule((), (), (), 0, 0, None, (), Cost())
        return Assignment(Candidate(index, "host", pattern, match, workload), schedule)
    problem = chain()[0][job.operator]
    pattern = Pattern(f"conv{job.operator}", "", None, (), partial(_workload, problem))
    candidate = Candidate(index, job.queue, pattern, match, problem.workload)
    if job.share is not None:
        candidate = share_of(candidate, *job.share)
    schedule = hand_schedule(candidate.workload, job.cuts, dict(job.near), dict(job.stage))
    assert faults(candidate.workload, schedule) == ()
    return Assignment(candidate, schedule)


def program_of(jobs: Sequence[Job], assignments: tuple[Assignment, ...], pool: ConstantPool) -> Program:
    """Buffers one behind the other; where there are swaps y1 takes the place that y0 had before it went to the
    store."""
    swapping = any(queue == "link" for job in jobs for queue, _ in job.needs)
    places = (("h", 0), ("y0", 1), ("y0", 2), ("y1", 1 if swapping else 4), ("y2", 3))
    names = ("h", "y0", "y0_back", "y1", "y2")
    buffers = [Buffer("input_0", ("x",), "home", 0, 1, 0, 0, "input")]
    buffers += [Buffer("output_0", ("out",), "home", 0, 1, 6, 6, "output")]
    buffers += [Buffer("y0_away", ("y0",), "store", 64, 405, 0, 6)]
    for buffer, (tensor, number) in zip(names, places, strict=True):
        buffers.append(Buffer(buffer, (tensor,), "home", number * BUFFER_BYTES, BUFFER_BYTES, 0, 6))
    offset = 5 * BUFFER_BYTES
    for index, assignment in enumerate(assignments):
        if size := assignment.schedule.bytes_in("home"):
            buffers.append(Buffer(f"scratch_{index}", (), "home", offset, size, index, index, "scratch"))
            offset += size
    reads = {-1: "input_0", 0: "h", 1: "y0_back" if swapping else "y0", 2: "y1", 3: "y2"}
    makes = {-1: "h", 0: "y0", 1: "y1", 2: "y2", 3: "output_0"}
    tasks = tuple(
        Task(i, a, (reads[job.operator],), (makes[job.operator],), (), 100 * i, job.queue, 90, job.needs)
        for i, (job, a) in enumerate(zip(jobs, assignments, strict=True))
    )
    queues = [Queue("host", "host", _tasks_of("host", jobs))]
    queues += [Queue(unit, "unit", _tasks_of(unit, jobs)) for unit in UNITS]
    queues += [Queue("idle", "unit", ()), Queue("link", "link", (0, 1) if swapping else ())]
    swaps = (
        Swap(0, "y0", "y0_away", 405, 200, 50, SWAPS[0]),
        Swap(1, "y0_away", "y0_back", 405, 250, 50, SWAPS[1]),
    )
    memory = (
        MemoryUse("near", 2 * PART_BYTES, 0, 1 << 20),
        MemoryUse("home", offset, pool.size_bytes, 1 << 20),
        MemoryUse("store", 512 if swapping else 0, len(pool.image), 1 << 20),
    )
    return Program(CHIP, tasks, tuple(buffers), memory, SOLVED, 700, tuple(queues), swaps if swapping else ())


def _tasks_of(queue: str, jobs: Sequence[Job]) -> tuple[int, ...]:
    return tuple(index for index, job in enumerate(jobs) if job.queue == queue)


def title(assignment: Assignment) -> str:
    return str(assignment.candidate.match.nodes[0].name)


def emit(
    name: str, change: Callable[[Program], Program] = lambda program: program, jobs: Sequence[Job] = JOBS
) -> tuple[SourceFile, ...]:
    """All files of the program, which ``change`` may alter before."""
    model = model_of(name)
    assignments = tuple(assignment_of(job, index, model) for index, job in enumerate(jobs))
    units, pool = apis(chain()[0]), ConstantPool(name)
    lowered = lower(name, assignments, units, pool, title, CHIP)
    program = change(program_of(jobs, assignments, pool))
    emitter = ProgramEmitter(EmitRequest(model, title, program, lowered, pool, units, "1"))
    files = emitter.emit()
    return (*files, manifest(emitter, UnitMapping(assignments, SOLVED), files, {}, {}))


def random_jobs(random: np.random.Generator) -> list[Job]:
    """The chain with its operators divided by chance; a task waits for all of the operator before, and the host may
    have nothing but the ends to do."""
    jobs, before = [Job("host", -1)], ["host"]
    for operator, problem in enumerate(chain()[0]):
        made: list[Job] = []
        for share in _random_shares(random, problem.workload):
            queue = UNITS[int(random.integers(2))]
            part = share_of(Candidate(0, queue, _PATTERN, Match((), {}), problem.workload), *share).workload
            cuts = tuple(random_cuts(random, part, 12))
            near: list[tuple[str, Where]] = [("input", (len(cuts), 2)), ("output", (len(cuts), 2))] if cuts else []
            made.append(Job(queue, operator, _all_of(before, queue), share, cuts, tuple(near)))
        jobs += made
        before = [job.queue for job in jobs]
    return [*jobs, Job("host", 3, _all_of(before, "host"))]


_PATTERN = Pattern("any", "", None, (), lambda match: Workload("any", (), (), 0))


def _random_shares(random: np.random.Generator, workload: Workload) -> list[tuple[str, int, int]]:
    """Parts of a dimension that cover it."""
    kinds = divisible(workload)
    kind = kinds[int(random.integers(len(kinds)))]
    count = min(int(random.integers(1, 4)), kind.size)
    ends = sorted(random.choice(np.arange(1, kind.size), count - 1, replace=False).tolist())
    return [(kind.dim, first, end - first) for first, end in pairwise([0, *ends, kind.size])]


def _all_of(queues: Sequence[str], own: str) -> tuple[tuple[str, int], ...]:
    """The needs of a task that waits for all tasks so far."""
    return tuple((queue, queues.count(queue)) for queue in dict.fromkeys(queues) if queue != own)
