"""Layer normalisation that an exporter wrote as single operators.

The difference to the mean is read twice, so the place is no tree and is searched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from match_core import Match
from match_core.patterns.topology import Topology, is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def find_normalisations(graph: gs.Graph) -> tuple[Match, ...]:
    """(x - mean) / sqrt(mean((x - mean)^2) + epsilon), with the factor and the summand per column behind it, if any;
    for every place each of its beginnings that could stand alone. Captures: input, epsilon, scale, bias."""
    topology = Topology.of(graph)
    return tuple(match for node in topology.nodes if node.op == "Div" for match in _at_quotient(topology, node))


def _at_quotient(topology: Topology, quotient: gs.Node) -> Iterator[Match]:
    found = _core(topology, quotient)
    if found is None:
        return
    source, epsilon, nodes = found
    captures: dict[str, gs.Tensor] = {"input": source, "epsilon": epsilon}
    yield Match(topology.sort(nodes), dict(captures))
    for op, name in (("Mul", "scale"), ("Add", "bias")):
        behind = _only_reader(topology, nodes[-1].outputs[0])
        if behind is None or behind.op != op:
            continue
        constants = [tensor for tensor in behind.inputs if is_constant(tensor)]
        if not constants:
            return
        captures[name] = constants[0]
        nodes = (*nodes, behind)
        yield Match(topology.sort(nodes), dict(captures))


def _core(topology: Topology, quotient: gs.Node) -> tuple[gs.Tensor, gs.Tensor, tuple[gs.Node, ...]] | None:
    """Input, epsilon and nodes, the quotient last."""
    root = _maker(topology, quotient.inputs[1], "Sqrt")
    shifted = root and _maker(topology, root.inputs[0], "Add")
    if root is None or shifted is None:
        return None
    epsilons = [tensor for tensor in shifted.inputs if is_constant(tensor) and tensor.values.size == 1]
    variances = [tensor for tensor in shifted.inputs if not is_constant(tensor)]
    variance = _maker(topology, variances[0], "ReduceMean") if len(epsilons) == len(variances) == 1 else None
    square = variance and _maker(topology, variance.inputs[0], "Pow", "Mul")
    difference = _maker(topology, quotient.inputs[0], "Sub")
    mean = difference and _maker(topology, difference.inputs[1], "ReduceMean")
    if variance is None or square is None or difference is None or mean is None:
        return None
    inner = (mean, difference, square, variance, shifted, root)
    right = (
        difference.inputs[0] is mean.inputs[0]
        and _is_square(square, difference.outputs[0])
        and _over_columns(mean)
        and _over_columns(variance)
        and all(_stays_inside(topology, node, (*inner, quotient)) for node in inner)
    )
    return (difference.inputs[0], epsilons[0], (*inner, quotient)) if right else None


def _maker(topology: Topology, tensor: gs.Tensor, *ops: str) -> gs.Node | None:
    node = topology.producer(tensor)
    return node if node is not None and node.op in ops else None


def _only_reader(topology: Topology, tensor: gs.Tensor) -> gs.Node | None:
    readers = topology.consumers(tensor)
    return readers[0] if len(readers) == 1 and not topology.is_output(tensor) else None


def _is_square(node: gs.Node, tensor: gs.Tensor) -> bool:
    base, other = node.inputs[:2]
    if base is not tensor:
        return False
    if node.op == "Mul":
        return other is tensor
    return is_constant(other) and other.values.size == 1 and float(other.values.reshape(-1)[0]) == 2.0


def _over_columns(node: gs.Node) -> bool:
    rank = len(node.inputs[0].shape)
    axes = node.attrs.get("axes")
    if axes is None and len(node.inputs) > 1 and is_constant(node.inputs[1]):
        axes = np.asarray(node.inputs[1].values).reshape(-1)
    kept = int(node.attrs.get("keepdims", 1)) == 1
    return kept and axes is not None and [int(axis) % rank for axis in axes] == [rank - 1]


def _stays_inside(topology: Topology, node: gs.Node, nodes: tuple[gs.Node, ...]) -> bool:
    tensor = node.outputs[0]
    inside = all(any(reader is other for other in nodes) for reader in topology.consumers(tensor))
    return inside and not topology.is_output(tensor)
