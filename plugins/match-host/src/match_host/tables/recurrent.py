"""LSTM, GRU and RNN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.node_rule import NodeRule

from match_host.kernels.scalar import ANY_FLOATS
from match_host.kernels.sequence.recurrent import ACTIVATIONS, GATES, activation_names, build_recurrent
from match_host.operator import Operator
from match_host.rules import STATIC, types

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _activations(node: gs.Node) -> str | None:
    unknown = [name for name in activation_names(node) if name not in ACTIVATIONS]
    return f"activations are {', '.join(unknown)}" if unknown else None


KNOWN_ACTIVATIONS = NodeRule("activations", f"activations are among {', '.join(ACTIVATIONS)}", _activations)

RECURRENT: tuple[Operator, ...] = tuple(
    Operator(
        name, "recurrent", (STATIC, types(ANY_FLOATS, 0), types(("int32",), 4), KNOWN_ACTIVATIONS), build_recurrent
    )
    for name in GATES
)
