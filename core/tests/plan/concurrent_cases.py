"""Programs whose units run side by side, for tests: random graphs, and a machine that runs them on real bytes in random
legal orders."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from match_concurrent.planning.plan import begin
from match_concurrent.planning.planning_effort import PlanOptions
from match_core.contract.errors import InfeasibleError

UNITS = ("host", "npu", "cluster")
FAST = PlanOptions(deterministic_seconds=0.0)


def plan_concurrent(*given, options=None, **more):
    """The program of a mapping."""
    return begin(*given, **more).program(options or PlanOptions())


@dataclass(frozen=True)
class Case:
    operators: dict
    inputs: dict
    outputs: tuple
    scratch: dict


@st.composite
def cases(draw, side_operator, most=9):
    """Random operators: one to three earlier tensors read, whole or in shares of rows or columns; some views; some keep
    a second unit busy."""
    shapes = {"in": (draw(st.integers(2, 6)), draw(st.integers(1, 6)))}
    operators = {}
    viewed = set()
    for number in range(draw(st.integers(1, most))):
        name = f"t{number}"
        reads = tuple(draw(st.lists(st.sampled_from(sorted(shapes)), min_size=1, max_size=3, unique=True)))
        shape = shapes[reads[0]] if draw(st.booleans()) else (draw(st.integers(1, 6)), draw(st.integers(1, 6)))
        if draw(st.integers(0, 6)) == 0:
            operators[name] = side_operator(reads[:1], shapes[reads[0]], ("host",), (0,), view=True)
            shapes[name] = shapes[reads[0]]
            viewed.add(name)
            continue
        dim = draw(st.sampled_from(["row", "col"]))
        extent = shape[0 if dim == "row" else 1]
        cuts = draw(st.lists(st.integers(1, extent - 1), max_size=3, unique=True)) if extent > 1 else []
        edges = [0, *sorted(cuts), extent]
        sizes = tuple(b - a for a, b in pairwise(edges)) if cuts else ()
        parts = len(sizes) or 1
        units = tuple(draw(st.sampled_from(UNITS)) for _ in range(parts))
        cycles = tuple(draw(st.integers(1, 60)) for _ in range(parts))
        busy = draw(st.sampled_from(("", "", *UNITS[1:])))
        operators[name] = side_operator(reads, shape, units, cycles, sizes, dim, busy=busy)
        shapes[name] = shape
    last = tuple(draw(st.lists(st.sampled_from(sorted(shapes)), min_size=1, max_size=2, unique=True)))
    operators["end"] = side_operator(last, (2, 2), (draw(st.sampled_from(UNITS)),), (7,))
    read = {r for operator in operators.values() for r in operator.reads}
    outputs = tuple(n for n in operators if n not in read and n not in viewed)
    tasks = sum(len(op.units) for op in operators.values())
    scratch = {n: draw(st.integers(1, 30)) for n in range(tasks) if draw(st.integers(0, 3)) == 0}
    return Case(operators, {"in": shapes["in"]}, outputs, scratch)


def planned(side, case, soc, options=FAST):
    model, mapping = side.build(case.operators, case.inputs, case.outputs)
    return model, plan_of(model, mapping, case, soc, options)


def plan_of(model, mapping, case, soc, options=FAST):
    views = {n for n, a in enumerate(mapping.assignments) if a.candidate.pattern.view}
    scratch = {n: size for n, size in case.scratch.items() if n not in views}
    return plan_concurrent(model, mapping, soc, (("w", 10),), scratch, options=options)


# --- running a program on bytes ------------------------------------------------------------------------------------


class Machine:
    """Memories with bytes. A task may write its results at any time between its begin and its end, so they are garbage
    from its begin, and must be able to read its inputs until its end."""

    def __init__(self, case, model, program, seed):
        self.case, self.program, self.chance = case, program, random.Random(seed)
        self.busy = set()
        rng = np.random.default_rng(seed)
        self.buffers = {b.name: b for b in program.buffers}
        self.memory = {use.memory: rng.integers(0, 256, use.arena_bytes + 1, np.uint8) for use in program.memory}
        self.own = {b.name: rng.integers(0, 256, b.size_bytes, np.uint8) for b in program.buffers}
        shapes = {**case.inputs, **{name: op.shape for name, op in case.operators.items()}}
        self.value = {name: rng.integers(0, 256, shape, np.uint8) for name, shape in shapes.items()}
        for name, operator in case.operators.items():
            if operator.view:
                self.value[name] = self.value[operator.reads[0]]
        for tensor in model.graph.inputs:
            self.view(next(b for b in program.buffers if b.kind == "input"), tensor.name)[:] = self.value[tensor.name]
        self.model = model

    def bytes_of(self, buffer):
        if buffer.kind in ("input", "output"):
            return self.own[buffer.name]
        return self.memory[buffer.memory][buffer.offset_bytes : buffer.offset_bytes + buffer.size_bytes]

    def view(self, buffer, tensor):
        return self.bytes_of(buffer).reshape(self.value[tensor].shape)

    def parts(self, task):
        """(buffer, tensor, rows, columns, writes) of everything that a task touches."""
        (node,) = task.assignment.candidate.match.nodes
        operator, share = self.case.operators[node.name], task.assignment.candidate.share
        found = []
        for name in operator.reads:
            shape = self.value[name].shape
            rows, columns = slice(0, shape[0]), slice(0, shape[1])
            if share is not None and share.dim == "row" and shape[0] == operator.shape[0]:
                rows = slice(max(0, share.first - 1), min(shape[0], share.first + share.size + 1))
            if share is not None and share.dim == "col" and shape[1] == operator.shape[1]:
                columns = slice(share.first, share.first + share.size)
            found.append((self.named(task.buffers_in, name), name, rows, columns, False))
        rows, columns = slice(0, operator.shape[0]), slice(0, operator.shape[1])
        if share is not None:
            part = slice(share.first, share.first + share.size)
            rows, columns = (part, columns) if share.dim == "row" else (rows, part)
        found.append((self.named(task.buffers_out, node.name), node.name, rows, columns, True))
        return found

    def named(self, names, tensor):
        (buffer,) = (self.buffers[name] for name in names if tensor in self.buffers[name].tensors)
        return buffer

    def begin(self, kind, number):
        if kind == "link":
            swap = self.program.swaps[number]
            self.check(swap.source)
            self.bytes_of(self.buffers[swap.target])[:] = 0xAA
            return None
        task = self.program.tasks[number]
        units = set(task.assignment.candidate.units)
        assert not units & self.busy, f"task {number} begins while another keeps its units busy"
        self.busy |= units
        for buffer, tensor, rows, columns, writes in self.parts(task):
            if writes:
                self.view(buffer, tensor)[rows, columns] = self.chance.randrange(256)
        self.read(task)
        scratch = [b for b in self.program.buffers if b.kind == "scratch" and b.first_task == number]
        marks = [self.chance.randrange(256) for _ in scratch]
        for buffer, mark in zip(scratch, marks, strict=True):
            self.bytes_of(buffer)[:] = mark
        return list(zip(scratch, marks, strict=True))

    def end(self, kind, number, marks):
        if kind == "link":
            swap = self.program.swaps[number]
            self.check(swap.source)
            self.bytes_of(self.buffers[swap.target])[:] = self.bytes_of(self.buffers[swap.source])
            return
        task = self.program.tasks[number]
        self.busy -= set(task.assignment.candidate.units)
        self.read(task)
        for buffer, mark in marks:
            assert (self.bytes_of(buffer) == mark).all(), f"scratch of task {number}"
        for buffer, tensor, rows, columns, writes in self.parts(task):
            if writes:
                self.view(buffer, tensor)[rows, columns] = self.value[tensor][rows, columns]

    def read(self, task):
        for buffer, tensor, rows, columns, writes in self.parts(task):
            if not writes:
                seen = self.view(buffer, tensor)[rows, columns]
                assert (seen == self.value[tensor][rows, columns]).all(), f"task {task.index} reads {tensor}"

    def check(self, name):
        tensor = self.buffers[name].tensors[0]
        assert (self.view(self.buffers[name], tensor) == self.value[tensor]).all(), f"swap of {name}"

    def run(self):
        """Queues go on in a random order, as far as the needs allow."""
        queues = {queue.name: queue for queue in self.program.queues}
        done = dict.fromkeys(queues, 0)
        running = {}
        while any(done[name] < len(queue.tasks) for name, queue in queues.items()):
            able = list(running)
            for name, queue in queues.items():
                if name not in running and done[name] < len(queue.tasks):
                    number = queue.tasks[done[name]]
                    row = self.program.swaps[number] if queue.kind == "link" else self.program.tasks[number]
                    if all(done[other] >= count for other, count in row.needs):
                        able.append(name)
            assert able, "deadlock"
            name = self.chance.choice(able)
            kind, number = queues[name].kind, queues[name].tasks[done[name]]
            if name in running:
                self.end(kind, number, running.pop(name))
                done[name] += 1
            else:
                running[name] = self.begin(kind, number)
        for tensor in self.model.graph.outputs:
            (buffer,) = (b for b in self.program.buffers if b.kind == "output" and tensor.name in b.tensors)
            assert (self.view(buffer, tensor.name) == self.value[tensor.name]).all(), tensor.name


def least_bytes(side, case):
    """The smallest home memory with a plan, by trying."""
    low, high = 0, 1 << 12
    while high - low > 4:
        middle = (low + high) // 2 // 4 * 4
        try:
            planned(side, case, side.soc(middle))
            high = middle
        except InfeasibleError:
            low = middle
    return high


# --- single decisions ---


def one(side, reads, shape, unit, cycles=10):
    return side.Operator(reads, shape, (unit,), (cycles,))


def skip(side):
    """A tensor that is made first and read last, and a wide part in between."""
    return {
        "skip": one(side, ("in",), (8, 8), "npu"),
        "wide": one(side, ("in",), (8, 16), "cluster"),
        "wider": one(side, ("wide",), (8, 16), "cluster"),
        "thin": one(side, ("wider",), (8, 8), "npu"),
        "end": one(side, ("skip", "thin"), (4, 4), "cluster"),
    }
