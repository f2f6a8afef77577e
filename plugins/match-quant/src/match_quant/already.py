"""Networks that hold integers already: nothing is left to quantise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError
from match_core.load.integer_operators import DOMAIN

if TYPE_CHECKING:
    from pathlib import Path

    import onnx

_OPERATORS = frozenset(
    [
        *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"),
        *("DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "MatMulIntegerToFloat", "MatMulNBits", "MatMulBnb4"),
        *("QGemm", "QAttention", "QEmbedLayerNormalization", "QOrderedMatMul", "QMoE"),
    ]
)


def check_float(proto: onnx.ModelProto, path: Path) -> None:
    """ModelError MATCH-R005 if operators of the network are quantised."""
    nodes = [*proto.graph.node, *(node for function in proto.functions for node in function.node)]
    found = [node for node in nodes if _is_quantised(node)]
    if found:
        raise ModelError(
            code="MATCH-R005",
            what="the network is quantised already",
            where=path.name,
            why=f"{len(found)} of its {len(nodes)} operators work on integers, the first is {found[0].op_type} "
            f"{found[0].name!r}",
            help=(
                f"see which units run it as it is: match operators {path}",
                "give the float network it was made from",
            ),
        )


def _is_quantised(node: onnx.NodeProto) -> bool:
    return node.domain == DOMAIN or node.op_type in _OPERATORS or node.op_type.startswith("QLinear")
