"""A part of a graph that one unit takes as a whole, with the tensors that cross its border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.macs import node_macs

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True)
class Region:
    """Nodes in topological order. ``inputs``: variables read from outside, in the order of first use; ``outputs``:
    variables that others read or that are graph outputs, in the order in which they are computed; ``constants``:
    distinct constants, in the order of first use."""

    nodes: tuple[gs.Node, ...]
    inputs: tuple[gs.Variable, ...]
    outputs: tuple[gs.Variable, ...]
    constants: tuple[gs.Constant, ...]

    @classmethod
    def of(cls, nodes: Sequence[gs.Node], outputs: Sequence[gs.Variable]) -> Region:
        """The region of these nodes, with the given ``outputs``."""
        import onnx_graphsurgeon as gs

        inside = {tensor.name for node in nodes for tensor in node.outputs}
        read = {tensor.name: tensor for node in nodes for tensor in node.inputs if not tensor.is_empty()}
        return cls(
            nodes=tuple(nodes),
            inputs=tuple(t for name, t in read.items() if name not in inside and isinstance(t, gs.Variable)),
            outputs=tuple(outputs),
            constants=tuple(t for t in read.values() if isinstance(t, gs.Constant)),
        )

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all nodes."""
        return sum(node_macs(node) for node in self.nodes)

    @property
    def constant_bytes(self) -> int:
        """Bytes of all constants."""
        return sum(int(tensor.values.nbytes) for tensor in self.constants)
