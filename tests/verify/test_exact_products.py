"""Products that ONNX Runtime saturates on some processors, in branches too."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from match_verify.exact_products import with_exact_products


def test_products_in_a_branch_are_exact() -> None:
    branch = "b () => (uint8[1, 1, 1, 1] {0}) {{ {0} = QLinearConv (x, one, none, w, one, zero, scale, none) }}"
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    net (uint8[1, 64, 1, 1] x) => (uint8[1, 1, 1, 1] y)
    <bool yes = {{1}}, float one = {{1}}, uint8 none = {{0}}, int8 zero = {{0}}, float scale = {{20000}}> {{
      y = If (yes) <then_branch = {branch.format("t")}, else_branch = {branch.format("e")}>
    }}"""
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.full((1, 64, 1, 1), 127, np.int8), "w"))
    exact = with_exact_products(model)
    session = onnxruntime.InferenceSession(exact.SerializeToString(), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"x": np.full((1, 64, 1, 1), 255, np.uint8)})
    assert result.item() == round(255 * 127 * 64 / 20000)
