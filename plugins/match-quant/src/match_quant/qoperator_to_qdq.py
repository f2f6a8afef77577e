"""QOperators (QLinearConv, QGemm, ...) become DequantizeLinear -> operator -> QuantizeLinear, the form that
integerisation reads."""

from __future__ import annotations

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.qoperator import MICROSOFT, expand

from match_quant.proto import rewrite_nodes


def run(model: Model, context: PassContext) -> Model:
    """Replace every supported QOperator."""
    if not any(node.op.startswith("QLinear") or node.domain == MICROSOFT for node in model.graph.nodes):
        return model
    return rewrite_nodes(model, expand)


QOPERATOR_TO_QDQ = Pass(
    "qoperator_to_qdq",
    Phase.INTEGER,
    run,
    "QLinear operators become float operators between DequantizeLinear and QuantizeLinear",
    before=("integerise",),
    exact=None,
)
