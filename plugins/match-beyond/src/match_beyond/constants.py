"""A lower bound of the constants that every program has in the home memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import onnx_graphsurgeon as gs
from match_core.contract.geometry import far_bytes

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.fitting import FitRequest

#: Smaller constants do not count: code may contain them, and layers may share them (scales and biases above all).
BYTES_MIN = 1024


def least_constants(request: FitRequest) -> int:
    """Bytes of weights that no program of the request has elsewhere.

    A candidate needs at least its largest constants, as many as its nodes have weights, but not more than these have in
    the graph, unless its unit may copy them from the store. This is divided among the nodes in proportion to their
    weights. Every program runs each node, so it needs at least the sum over the nodes of the least part that any
    candidate needs for them. Weights that are equal to others may be stored once and do not count."""
    if request.soc.mapped:
        return 0
    weights = _weights(request.candidates)
    least: dict[str, int] = {}
    for candidate in request.candidates:
        own = {name: weights[name] for name in candidate.node_names if weights.get(name)}
        need = 0 if request.streams(candidate) else _need(candidate, list(own.values()))
        for name, size in own.items():
            least[name] = min(least.get(name, size), need * size // sum(own.values()))
    return sum(least.values())


def _need(candidate: Candidate, weights: Sequence[int]) -> int:
    return min(sum(weights), sum(sorted(constant_sizes(candidate), reverse=True)[: len(weights)]))


def constant_sizes(candidate: Candidate) -> list[int]:
    """Bytes of the constants of a candidate."""
    return [far_bytes(operand) for operand in candidate.workload.operands if operand.role == "constant"]


def _weights(candidates: Sequence[Candidate]) -> dict[str, int]:
    """The bytes of each node's largest constant input."""
    found: dict[str, tuple[int, bytes]] = {}
    for node in {node.name: node for candidate in candidates for node in candidate.match.nodes}.values():
        arrays = [tensor.values for tensor in node.inputs if isinstance(tensor, gs.Constant)]
        largest = max(arrays, key=lambda array: array.nbytes, default=None)
        if largest is not None and largest.nbytes >= BYTES_MIN:
            found[node.name] = largest.nbytes, sha256(largest.tobytes()).digest()
    counts = Counter(digest for _, digest in found.values())
    return {name: size for name, (size, digest) in found.items() if counts[digest] == 1}
