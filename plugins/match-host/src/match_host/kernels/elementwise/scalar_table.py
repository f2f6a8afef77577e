"""All scalar operators by name."""

from __future__ import annotations

from collections.abc import Mapping

from match_host.kernels.elementwise.arithmetic_ops import ARITHMETIC_OPS
from match_host.kernels.elementwise.double_ops import DOUBLE_OPS
from match_host.kernels.elementwise.float_ops import FLOAT_OPS
from match_host.kernels.elementwise.integer_ops import INTEGER_OPS
from match_host.kernels.elementwise.logic_ops import LOGIC_OPS
from match_host.kernels.elementwise.quantize_ops import QUANTIZE_OPS
from match_host.kernels.elementwise.requant_ops import REQUANT_OPS
from match_host.kernels.scalar import ScalarOp

SCALAR_OPS: Mapping[str, ScalarOp] = {
    op.name: op
    for op in (*ARITHMETIC_OPS, *LOGIC_OPS, *FLOAT_OPS, *QUANTIZE_OPS, *REQUANT_OPS, *DOUBLE_OPS, *INTEGER_OPS)
}
