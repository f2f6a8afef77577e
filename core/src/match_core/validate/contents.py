"""Replay of a sequential program with parts and copies: which byte of which tensor every byte of a memory holds.

Tasks and copies run in the order of the emitted code: a task first waits for copies that have started, then those
start that follow the tasks before it, then it waits for those among them that it needs, then it runs. A copy may move
its bytes at any time between its start and the wait for it. So nobody must write what a copy in flight reads, nor touch
what it writes; and everything that a task reads must be the bytes of the tensor that it expects. Constants that were
fetched are bytes of the store's image.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.validate.touched import stored_bytes

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.program import Buffer, Program, Swap, Task

#: The name of the store's image, as a memory and as the tensor whose bytes it holds.
_IMAGE = "constants of the store"
#: Bytes [start, end) of a memory hold the bytes of a tensor from ``first`` on.
_Piece = tuple[int, int, str, int]


@dataclass
class _Memory:
    """What the bytes of one memory hold; pieces do not overlap."""

    pieces: list[_Piece] = field(default_factory=list)

    def write(self, start: int, size: int, tensor: str, first: int) -> None:
        end, kept = start + size, []
        for low, high, name, at in self.pieces:
            if low < start:
                kept.append((low, min(high, start), name, at))
            if high > end:
                cut = max(low, end)
                kept.append((cut, high, name, at + cut - low))
        self.pieces = [*(piece for piece in kept if piece[0] < piece[1]), (start, end, tensor, first)]

    def holds(self, start: int, size: int, tensor: str, first: int) -> bool:
        """Whether these bytes are those of a tensor from ``first`` on."""
        known = 0
        for low, high, name, at in self.pieces:
            low_end, high_end = max(low, start), min(high, start + size)
            if low_end < high_end and name == tensor and at - low == first - start:
                known += high_end - low_end
        return known == size


@dataclass(frozen=True, slots=True)
class _Region:
    memory: str
    start: int
    size: int

    def meets(self, other: _Region) -> bool:
        apart = self.start + self.size <= other.start or other.start + other.size <= self.start
        return self.memory == other.memory and not apart


def content_faults(
    graph: gs.Graph, program: Program, sizes: Mapping[str, int], stored: Mapping[int, Mapping[str, int]]
) -> Iterator[str]:
    """Faults of a program that copies between the home memory and the store, or whose tensors are parts of others.
    ``sizes``: bytes of all tensors by name; ``stored``: by task and operand, where a constant begins in the image."""
    fetches = any(task.assignment.fetched for task in program.tasks)
    if program.swaps or fetches or any(buffer.starts for buffer in program.buffers):
        yield from _Replay(graph, program, sizes, stored).faults()


class _Replay:
    def __init__(
        self, graph: gs.Graph, program: Program, sizes: Mapping[str, int], stored: Mapping[int, Mapping[str, int]]
    ) -> None:
        self.program, self.sizes, self.inside = program, dict(sizes), _inside(program, sizes)
        self.homes = {tensor: buffer for buffer in program.buffers for tensor in buffer.tensors}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        self.memories: dict[str, _Memory] = defaultdict(_Memory)
        self.ended = self.started = 0
        link = program.soc.link_between(program.soc.home, program.soc.store or "")
        self.link = "" if link is None else link.name
        for tensor in graph.inputs:
            self._put(tensor.name)
        for task in program.tasks:
            own = (self.buffers[name] for name in task.buffers_in if self.buffers[name].kind == "constant")
            fetched = [o for o in task.assignment.candidate.workload.operands if o.name in task.assignment.fetched]
            for operand, buffer in zip(fetched, own, strict=False):
                name = f"{operand.name} of task {task.index}"
                self.homes[name], self.sizes[name] = buffer, stored_bytes(operand)
                self.inside[name] = _IMAGE, stored.get(task.index, {}).get(operand.name, -1)
        self.memories[_IMAGE].write(0, 1 << 62, _IMAGE, 0)

    def faults(self) -> Iterator[str]:
        swaps, host = self.program.swaps, self.program.soc.host
        for position, task in enumerate(self.program.tasks):
            wait = dict(task.needs).get(self.link, 0)
            while self.ended < min(wait, self.started):
                yield from self._end(swaps[self.ended])
            while self.started < len(swaps) and dict(swaps[self.started].needs)[host] <= position:
                yield from self._start(swaps[self.started])
            if wait > self.started:
                yield f"task {position} waits for {wait} copies, {self.started} have started"
            while self.ended < min(wait, self.started):
                yield from self._end(swaps[self.ended])
            if not task.assignment.candidate.pattern.view:
                yield from self._run(position, task)
        if self.ended < len(swaps):
            yield f"nobody waits for the last {len(swaps) - self.ended} copies"

    def _run(self, position: int, task: Task) -> Iterator[str]:
        nodes = task.assignment.candidate.match.nodes
        made = {tensor.name for node in nodes for tensor in node.outputs}
        reads = {tensor.name for node in nodes for tensor in node.inputs if tensor.name in self.homes} - made
        constants = {f"{name} of task {position}" for name in task.assignment.fetched}
        yield from (f"no buffer holds {name}, which is fetched" for name in sorted(constants - self.homes.keys()))
        reads |= constants & self.homes.keys()
        writes = [name for name in sorted(made) if name in self.homes]
        for name in sorted(reads):
            if not self.memories[self._region(name).memory].holds(*self._bytes(name)):
                yield f"task {position} reads {name!r}, whose bytes are not there"
        for name, writing in (*((name, False) for name in sorted(reads)), *((name, True) for name in writes)):
            yield from self._races(f"task {position}", self._region(name), writing)
        for buffer in self.program.buffers:
            if buffer.kind == "scratch" and buffer.first_task == position:
                region = _Region(buffer.memory, buffer.offset_bytes, buffer.size_bytes)
                yield from self._races(f"scratch of task {position}", region, True)
                self.memories[buffer.memory].write(region.start, region.size, f"scratch {position}", 0)
        for name in writes:
            self._put(name)

    def _races(self, who: str, region: _Region, writes: bool) -> Iterator[str]:
        for swap in self.program.swaps[self.ended : self.started]:
            source, target = self._ends(swap)
            if region.meets(target) or (writes and region.meets(source)):
                yield f"{who} touches bytes that copy {swap.index} moves"

    def _start(self, swap: Swap) -> Iterator[str]:
        for region, name in zip(self._ends(swap), (swap.source, swap.target), strict=True):
            place = self._place(self.buffers[name])
            if region.start < place.start or region.start + region.size > place.start + place.size:
                yield f"copy {swap.index} leaves {name}"
        for other in self.program.swaps[self.ended : self.started]:
            if any(self._ends(swap)[1].meets(region) for region in self._ends(other)):
                yield f"copy {swap.index} writes bytes that copy {other.index} moves"
        self.started += 1

    def _end(self, swap: Swap) -> Iterator[str]:
        source, target = self._ends(swap)
        moved = 0
        for low, high, name, first in tuple(self.memories[source.memory].pieces):
            begin, end = max(low, source.start), min(high, source.start + source.size)
            if begin < end:
                at = target.start + begin - source.start
                self.memories[target.memory].write(at, end - begin, name, first + begin - low)
                moved += end - begin
        if moved != source.size:
            yield f"copy {swap.index} reads bytes that nothing wrote"
        self.ended += 1

    def _ends(self, swap: Swap) -> tuple[_Region, _Region]:
        source, target = (self._place(self.buffers[name]) for name in (swap.source, swap.target))
        return (
            _Region(source.memory, source.start + swap.source_start, swap.size_bytes),
            _Region(target.memory, target.start + swap.target_start, swap.size_bytes),
        )

    def _place(self, buffer: Buffer) -> _Region:
        """Where a buffer is; those of the caller get places of their own, beyond the memory, as does the image."""
        if buffer.kind == "constant" and buffer.memory != self.program.soc.home:
            return _Region(_IMAGE, 0, buffer.size_bytes)
        if buffer.kind not in ("input", "output"):
            return _Region(buffer.memory, buffer.offset_bytes, buffer.size_bytes)
        others = [b for b in self.program.buffers if b.kind in ("input", "output")]
        end = self.program.soc.memory(buffer.memory).size_bytes
        before = sum(b.size_bytes for b in others[: others.index(buffer)])
        return _Region(buffer.memory, end + before, buffer.size_bytes)

    def _region(self, name: str) -> _Region:
        place, start = self._place(self.homes[name]), dict(self.homes[name].starts).get(name, 0)
        return _Region(place.memory, place.start + start, self.sizes[name])

    def _bytes(self, name: str) -> tuple[int, int, str, int]:
        """Where a tensor is, and which bytes of which whole tensor it has."""
        region, whole, first = self._region(name), name, 0
        while whole in self.inside:
            whole, at = self.inside[whole]
            first += at
        return region.start, region.size, whole, first

    def _put(self, name: str) -> None:
        self.memories[self._region(name).memory].write(*self._bytes(name))


def _inside(program: Program, sizes: Mapping[str, int]) -> dict[str, tuple[str, int]]:
    """For a tensor whose bytes are also those of another one: that one, and the first byte there. From the nodes alone:
    a Slice of rows, the inputs of a Concat of rows, the result of a view."""
    found: dict[str, tuple[str, int]] = {}
    for task in program.tasks:
        pattern, node = task.assignment.candidate.pattern, task.assignment.candidate.match.nodes[0]
        if not pattern.view:
            continue
        if node.op == "Concat":
            start = 0
            for tensor in node.inputs:
                name = tensor.name
                while name in found and sizes[found[name][0]] == sizes[name]:  # a view of the tensor that has the bytes
                    name, _ = found[name]
                found[name] = (node.outputs[0].name, start)
                start += sizes[tensor.name]
        elif node.op == "Slice" and sizes[node.outputs[0].name] != sizes[node.inputs[0].name]:
            axis = int(node.inputs[3].values.reshape(-1)[0])
            row = sizes[node.inputs[0].name] // int(node.inputs[0].shape[axis])
            found[node.outputs[0].name] = (node.inputs[0].name, int(node.inputs[1].values.reshape(-1)[0]) * row)
        else:
            read = next(tensor for tensor in node.inputs if sizes.get(tensor.name) == sizes[node.outputs[0].name])
            found[node.outputs[0].name] = (read.name, 0)
    return found
