"""A region as a match, as patterns and workloads see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.contract.region import Region
from match_core.contract.structure import Match

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def region_match(nodes: Sequence[gs.Node], results: Sequence[gs.Variable]) -> Match:
    """These nodes, in topological order, and their ``results``, as a match."""
    region = Region.of(nodes, results)
    captures = {
        **{f"in{number}": tensor for number, tensor in enumerate(region.inputs)},
        **{f"const{number}": tensor for number, tensor in enumerate(region.constants)},
        **{f"out{number}": tensor for number, tensor in enumerate(region.outputs)},
    }
    return Match(region.nodes, captures, region.outputs)
