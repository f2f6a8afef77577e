"""The least memory that a program's activations need: the largest set of tensors that are alive at one time.

This is a second opinion of the planner, so nothing of it is used: what is alive is found from the graph's nodes and
the order of the tasks. A tensor is alive from the task that makes it to the last task that reads it, both included.
Counted are

- tensors that one task makes and another one reads, and all results of a task's last node, in the bytes of a dense
  array, rounded up to the alignment of the memory, at which every address must lie;
- a view and what it is a view of, once, as long as either is alive;
- the scratch of a task, while it runs.

Not counted are graph inputs and outputs, which the caller owns, and what never leaves a task. A program whose results
overwrite inputs may need less.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.program import Program, Task


@dataclass(frozen=True, slots=True)
class Live:
    """The most that is alive at one time: so many ``bytes``, while ``task`` runs."""

    bytes: int
    task: int


def largest_live_set(graph: gs.Graph, program: Program) -> Live:
    """Of a program that runs one task after another, in the order in which it does."""
    alignment = program.soc.memory(program.soc.home).alignment_bytes
    spans = _spans(graph, program)
    scratch = {b.first_task: b.size_bytes for b in program.buffers if b.kind == "scratch"}
    most = Live(0, 0)
    for task in range(len(program.tasks)):
        sizes = [size for first, last, size in spans if first <= task <= last] + [scratch.get(task, 0)]
        total = sum(-(-size // alignment) * alignment for size in sizes)
        if total > most.bytes:
            most = Live(total, task)
    return most


def _spans(graph: gs.Graph, program: Program) -> list[tuple[int, int, int]]:
    """(task that makes it, last task that reads it, bytes) of all memory that is not the caller's."""
    caller = {tensor.name for tensor in (*graph.inputs, *graph.outputs)}
    shown = _viewed(program)  # tensor -> what it is a view of
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    size: dict[str, int] = {}
    callers = {_root(name, shown) for name in caller}
    for index, task in enumerate(program.tasks):
        members = {node.name for node in task.assignment.candidate.match.nodes}
        for tensor in _results(graph, task, members):
            root = _root(tensor.name, shown)
            first.setdefault(root, index)
            last[root] = index
            size.setdefault(root, _bytes(tensor))
        for node in task.assignment.candidate.match.nodes:
            for tensor in node.inputs:
                root = _root(tensor.name, shown)
                if root in first:
                    last[root] = index
    return [(first[root], last[root], size[root]) for root in first if root not in callers]


def _results(graph: gs.Graph, task: Task, members: set[str]) -> list[gs.Variable]:
    """What a task makes for others, and all results of its last node."""
    nodes = task.assignment.candidate.match.nodes
    outputs = {tensor.name for tensor in graph.outputs}
    found = []
    for node in nodes:
        for tensor in node.outputs:
            outside = any(reader.name not in members for reader in tensor.outputs) or tensor.name in outputs
            if tensor.name and (outside or node is nodes[-1]):
                found.append(tensor)
    return found


def _viewed(program: Program) -> dict[str, str]:
    """Views need no code: their result is their first input's bytes."""
    views = [task.assignment.candidate for task in program.tasks if task.assignment.candidate.pattern.view]
    return {c.match.nodes[-1].outputs[0].name: c.match.nodes[0].inputs[0].name for c in views}


def _root(name: str, shown: dict[str, str]) -> str:
    while name in shown:
        name = shown[name]
    return name


def _bytes(tensor: gs.Variable) -> int:
    return prod(int(size) for size in tensor.shape) * int(np.dtype(tensor.dtype).itemsize)
