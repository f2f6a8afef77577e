"""Costs of conversions between stored forms, for every pair of forms that a choice of candidates may require."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.map.forms import forms_made, forms_read

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.mapping import Assignment, Converter
    from match_core.map.objective import Weighting

    from match_map.option import Option


@dataclass(frozen=True, slots=True)
class Conversion:
    """The cost if one of the options ``makers`` writes the tensor in form ``source`` and one of ``readers`` reads it in
    ``target``; ``made``, ``read``: true for every choice (graph inputs and outputs). ``assignment`` None: there is no
    such conversion."""

    tensor: str
    source: str
    target: str
    makers: tuple[int, ...]
    readers: tuple[int, ...]
    made: bool
    read: bool
    cost: int
    assignment: Assignment | None

    def needed(self, chosen: frozenset[int]) -> bool:
        """Whether the chosen options (indices) require it."""
        return (self.made or not chosen.isdisjoint(self.makers)) and (self.read or not chosen.isdisjoint(self.readers))

    def within(self, indices: frozenset[int]) -> Conversion | None:
        """The conversion among these options only; None if none of them writes or none reads the tensor."""
        makers = tuple(index for index in self.makers if index in indices)
        wants = tuple(index for index in self.readers if index in indices)
        if not (makers or self.made) or not (wants or self.read):
            return None
        return replace(self, makers=makers, readers=wants)


def conversions_of(
    graph: gs.Graph,
    offered: Sequence[Assignment],
    options: Sequence[Option],
    weighting: Weighting,
    convert: Converter,
) -> tuple[Conversion, ...]:
    """All conversions that some choice of options requires, in the order of the tensors in the graph."""
    reads: dict[str, dict[str, list[int]]] = {tensor.name: {"": []} for tensor in graph.outputs}
    makes: dict[str, dict[str, list[int]]] = {tensor.name: {"": []} for tensor in graph.inputs}
    ends = frozenset(tensor.name for tensor in graph.outputs)
    for option in options:
        candidate = offered[option.index].candidate
        for name, form in forms_read(candidate).items():
            reads.setdefault(name, {}).setdefault(form, []).append(option.index)
        for name, form in forms_made(candidate).items():
            makes.setdefault(name, {}).setdefault(form, []).append(option.index)
    sources = frozenset(tensor.name for tensor in graph.inputs)
    return tuple(
        Conversion(
            tensor=tensor.name,
            source=source,
            target=target,
            makers=tuple(makers),
            readers=tuple(readers),
            made=tensor.name in sources,
            read=not target and tensor.name in ends,
            cost=weighting.of(assignment.schedule.cost) if assignment is not None else 0,
            assignment=assignment,
        )
        for tensor in _tensors(graph)
        for source, makers in makes.get(tensor.name, {}).items()
        for target, readers in reads.get(tensor.name, {}).items()
        if source != target and (makers or tensor.name in sources) and (readers or (not target and tensor.name in ends))
        for assignment in [convert(tensor, source, target)]
    )


def _tensors(graph: gs.Graph) -> Iterator[gs.Tensor]:
    yield from graph.inputs
    for node in graph.nodes:
        yield from (tensor for tensor in node.outputs if not tensor.is_empty())
