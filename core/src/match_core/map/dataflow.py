"""The tensors that each task reads and writes, and which of them share bytes.

Only tensors that leave a candidate are in memory. A view's result shares the bytes of its input. All tables are
keyed by tensor name: names of tensors are unique in an ONNX graph.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.errors import UnsupportedError
from match_core.contract.geometry import far_bytes
from match_core.ir.topology import Topology, is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_core.contract.mapping import Assignment
    from match_core.contract.model import Model
    from match_core.contract.pattern import Part


@dataclass(frozen=True, slots=True)
class Flow:
    """Names of the tensors that an assignment reads and makes, each once. ``stored``: (name, bytes) of tensors that it
    writes in a stored form. ``parts``: of a view, which tensors are parts of which; ``swapped``: parts are copies."""

    reads: tuple[str, ...]
    makes: tuple[str, ...]
    view: bool
    stored: tuple[tuple[str, int], ...] = ()
    parts: tuple[Part, ...] = ()
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes in memory: ``tensors`` share them, the first one is written first. ``source``: bytes of a graph input;
    ``target``: of a graph output; ``overflow``: they are in the Soc's overflow memory; ``away``: in its store;
    ``starts``: (tensor, bytes from the start) of parts that begin later."""

    tensors: tuple[str, ...]
    size_bytes: int
    source: bool
    target: bool
    overflow: bool = False
    away: bool = False
    starts: tuple[tuple[str, int], ...] = ()

    @property
    def owned(self) -> bool:
        """Whether they require bytes of the arena in the home memory."""
        return not (self.source or self.target or self.overflow or self.away)


def tensor_bytes(tensor: gs.Tensor) -> int:
    """Bytes of a dense tensor; types narrower than a byte are packed."""
    elements = 1
    for size in tensor.shape:
        elements *= int(size)
    return -(-elements * _element_bits(tensor.dtype) // 8)


def _element_bits(dtype: object) -> int:
    import numpy as np

    if isinstance(dtype, int):  # graphsurgeon represents types that numpy does not have by ONNX numbers
        import onnx

        name = onnx.TensorProto.DataType.Name(dtype)
        if name.endswith(("INT4", "4E2M1")):
            return 4
        dtype = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    return 8 * int(np.dtype(dtype).itemsize)  # type: ignore[call-overload]  # any dtype


def flow_of(topology: Topology, assignment: Assignment) -> Flow:
    """Reads in the order in which the nodes list them; makes in the order in which the nodes compute them: the outputs
    of the match (else all results of the last node), and other tensors that are read outside or are graph outputs."""
    nodes = assignment.candidate.match.nodes
    members = {id(node) for node in nodes}
    made = [tensor for node in nodes for tensor in node.outputs if not tensor.is_empty()]
    inside = {tensor.name for tensor in made}
    listed = {tensor.name for tensor in assignment.candidate.match.outputs}
    reads = dict.fromkeys(
        tensor.name
        for node in nodes
        for tensor in node.inputs
        if not tensor.is_empty() and not is_constant(tensor) and tensor.name not in inside
    )
    leaving = [
        tensor.name
        for tensor in made
        if tensor.name in listed
        or topology.is_output(tensor)
        or any(id(reader) not in members for reader in topology.consumers(tensor))
    ]
    candidate = assignment.candidate
    outputs = (operand for operand in candidate.workload.operands if operand.role == "output" and operand.form)
    stored = tuple((candidate.result(operand.name).name, far_bytes(operand)) for operand in outputs)
    view, swapped = candidate.pattern.view, candidate.pattern.swapped
    parts = candidate.pattern.parts(candidate.match) if candidate.pattern.parts is not None else ()
    return Flow(tuple(reads), tuple(dict.fromkeys(leaving)), view, stored, parts, swapped)


def tensors_of(graph: gs.Graph) -> dict[str, gs.Tensor]:
    """All named variables of the graph by name."""
    found = {tensor.name: tensor for tensor in graph.inputs}
    for node in graph.nodes:
        found.update({t.name: t for t in node.outputs if not t.is_empty()})
    return found


def storages_of(model: Model, flows: Sequence[Flow], overflow: Container[str] = ()) -> tuple[Storage, ...]:
    """All bytes in memory, in the order in which tensors are written (graph inputs first). ``overflow``: tensors in the
    Soc's overflow memory.

    UnsupportedError MATCH-P003 if a graph output is not computed, or is only a reshaped input or other output: both
    buffers belong to the caller, and the program has no copy between them.
    """
    tensors, graph = tensors_of(model.graph), model.graph
    inputs, outputs = [t.name for t in graph.inputs], [t.name for t in graph.outputs]
    inside = {part.name: (part.whole, part.start_bytes) for f in flows if not f.swapped for part in f.parts}
    inside.update((name, (_viewed(tensors, f), 0)) for f in flows if f.view and not f.parts for name in f.makes)
    names = [*inputs, *(name for flow in flows for name in flow.makes)]
    places = {name: _place(inside, name) for name in names}
    root = {name: place[0] for name, place in places.items()}
    shared: dict[str, list[str]] = {}
    for name in names:
        shared.setdefault(root[name], []).append(name)
    made = {name for flow in flows for name in flow.makes}
    stored = dict(pair for flow in flows for pair in flow.stored)
    for position, name in enumerate(outputs):
        earlier = [other for other in outputs[:position] if other in root and root[other] == root.get(name)]
        if name not in made or root[name] in inputs or earlier:
            raise _not_computed(model, name)
    return tuple(
        Storage(
            tensors=tuple(names),
            size_bytes=stored.get(first, tensor_bytes(tensors[first])),
            source=first in inputs,
            target=any(n in outputs for n in names),
            overflow=any(n in overflow for n in names),
            away=first in model.away,
            starts=tuple((n, places[n][1]) for n in names if places[n][1]),
        )
        for first, names in shared.items()
    )


def _place(inside: Mapping[str, tuple[str, int]], name: str) -> tuple[str, int]:
    """The tensor whose bytes a tensor shares in the end, and where they begin in it."""
    start = 0
    while name in inside:
        name, first = inside[name]
        start += first
    return name, start


def _viewed(tensors: dict[str, gs.Tensor], flow: Flow) -> str:
    """The tensor whose bytes a view shares: the first tensor it reads with the same number of bytes."""
    size = tensor_bytes(tensors[flow.makes[0]])
    for name in flow.reads:
        if tensor_bytes(tensors[name]) == size:
            return name
    raise ValueError(f"view {flow.makes[0]!r} has {size} bytes, but none of its inputs {flow.reads} has this size")


def _not_computed(model: Model, name: str) -> UnsupportedError:
    return UnsupportedError(
        code="MATCH-P003",
        what=f"graph output {name!r} is not computed by any operator",
        where=f"{model.source or model.name}, output {name!r}",
        why="it is a constant, or holds the bytes of a graph input or of another graph output, perhaps reshaped; the "
        "caller owns both buffers, and the program does not copy between them",
        help=("remove the output from the model", "compute it with an operator that is not only a reshape"),
    )
