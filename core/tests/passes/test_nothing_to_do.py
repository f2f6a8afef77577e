"""Passes whose operators a model lacks return it as it is, without a copy of its graph."""

from __future__ import annotations

import onnx.parser
import pytest
from match_core.contract.passes import Pass, PassContext
from match_core.load.load import model_from_proto
from match_core.passes.fold_constants import FOLD_CONSTANTS
from match_core.passes.remove_identities import REMOVE_IDENTITIES
from match_quant.dequantise_constants import DEQUANTISE_CONSTANTS
from match_quant.explicit_geometry import EXPLICIT_GEOMETRY
from match_quant.fold_batch_norm import FOLD_BATCH_NORM
from match_quant.fold_padding import FOLD_PADDING
from match_quant.fold_quantised import FOLD_QUANTISED
from match_quant.normalise_gemm import NORMALISE_GEMM
from match_quant.qoperator_to_qdq import QOPERATOR_TO_QDQ
from match_quant.quantise_before_moves import QUANTISE_BEFORE_MOVES
from match_quant.recognise_functions import RECOGNISE_FUNCTIONS

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
plain (float[1, 8] x) => (float[1, 8] y) { y = Relu (x) }
"""
PASSES = (
    *(FOLD_CONSTANTS, REMOVE_IDENTITIES, EXPLICIT_GEOMETRY, FOLD_BATCH_NORM, FOLD_PADDING, NORMALISE_GEMM),
    *(RECOGNISE_FUNCTIONS, QOPERATOR_TO_QDQ, QUANTISE_BEFORE_MOVES, DEQUANTISE_CONSTANTS, FOLD_QUANTISED),
)


@pytest.mark.parametrize("item", PASSES, ids=lambda item: item.name)
def test_a_model_without_its_operators_is_not_copied(item: Pass, accelerated: PassContext) -> None:
    model = model_from_proto(onnx.parser.parse_model(MODEL), "plain", "plain.onnx")
    assert item.run(model, accelerated) is model
