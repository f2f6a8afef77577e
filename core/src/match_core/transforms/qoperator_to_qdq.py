"""QOperators (QLinearConv, QGemm, ...) become DequantizeLinear -> operator -> QuantizeLinear, the form that
integerisation reads."""

from __future__ import annotations

from match_core.ir.model import Model
from match_core.ir.proto import rewrite_nodes
from match_core.ir.qoperator import expand
from match_core.transforms.base import Pass, PassContext, Phase


def run(model: Model, context: PassContext) -> Model:
    """Replace every QOperator that is understood."""
    return rewrite_nodes(model, expand)


QOPERATOR_TO_QDQ = Pass(
    "qoperator_to_qdq",
    Phase.INTEGER,
    run,
    "QLinear operators become float operators between DequantizeLinear and QuantizeLinear",
    before=("integerise",),
    exact=None,
)
