"""How far each integer operator is from the original, when it is fed the original's own quantised tensors.

End to end, differences of 1 LSB propagate and add up; this tells what each operator contributes by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from match_core.contract.model import Model
from match_quant.integer_graph import stored_name
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class OperatorDistance:
    """Differences of one quantised tensor in LSB: ``tensor`` is its name in the original, ``nodes`` the source nodes
    that compute it, ``differing`` how many of ``count`` values differ."""

    tensor: str
    nodes: tuple[str, ...]
    max_abs_lsb: int
    differing: int
    count: int

    @property
    def share(self) -> float:
        """Share of values that differ."""
        return self.differing / self.count if self.count else 0.0


def operator_distances(
    original: Model, integer: Model, samples: Iterable[Mapping[str, NDArray[np.generic]]]
) -> tuple[OperatorDistance, ...]:
    """Compare ``integer`` (the result of integerisation, before any layout change) with ``original``, operator by
    operator, over all samples. Tensors that both have, as ``t`` and ``stored_name(t)``, are compared and cut."""
    names = _common_tensors(original, integer)
    forced, makers = _cut(integer, names)
    outputs = [output.name for output in original.graph.outputs]
    teacher = ReferenceRunner(original, [name for name in names if name not in outputs])
    student = ReferenceRunner(forced)
    worst = dict.fromkeys(names, 0)
    differing = dict.fromkeys(names, 0)
    count = dict.fromkeys(names, 0)
    for sample in samples:
        truth = teacher.run(sample)
        feed = dict(sample)
        expected: dict[str, NDArray[np.int64]] = {}
        for name in names:
            stored = forced.graph.tensors()[stored_name(name)]
            low = int(np.iinfo(np.dtype(truth[name].dtype.name)).min) - int(np.iinfo(stored.dtype).min)
            expected[name] = truth[name].astype(np.int64) - low
            feed[_fed(name)] = expected[name].astype(stored.dtype)
        got = student.run(feed)
        for name in names:
            distance = np.abs(got[stored_name(name)].astype(np.int64) - expected[name])
            worst[name] = max(worst[name], int(distance.max(initial=0)))
            differing[name] += int(np.count_nonzero(distance))
            count[name] += distance.size
    return tuple(OperatorDistance(name, makers[name], worst[name], differing[name], count[name]) for name in names)


def _fed(name: str) -> str:
    return f"{stored_name(name)}_fed"


def _common_tensors(original: Model, integer: Model) -> list[str]:
    made = {t.name for node in integer.graph.nodes for t in node.outputs}
    return [t.name for node in original.graph.nodes for t in node.outputs if stored_name(t.name) in made]


def _cut(integer: Model, names: Iterable[str]) -> tuple[Model, dict[str, tuple[str, ...]]]:
    """The integer model where consumers of every named tensor read a new graph input and the tensor is an output."""
    import onnx_graphsurgeon as gs

    model = integer.copy()
    graph = model.graph
    tensors = graph.tensors()
    makers = {}
    for name in names:
        tensor = tensors[stored_name(name)]
        makers[name] = model.origin(tensor.inputs)
        fed = gs.Variable(_fed(name), dtype=tensor.dtype, shape=list(tensor.shape))
        for consumer in list(tensor.outputs):
            for position, read in enumerate(consumer.inputs):
                if read is tensor:
                    consumer.inputs[position] = fed
        graph.inputs.append(fed)
        if not any(output is tensor for output in graph.outputs):
            graph.outputs.append(tensor)
    return model, makers
