"""Integer products of the reference are exact whatever the machine's ONNX Runtime does."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import pytest
from match_verify import exact_products
from match_verify.reference import ReferenceRunner
from onnx import helper, numpy_helper

TYPES = (np.uint8, np.int8)


def _model(op: str, left: np.ndarray, right: np.ndarray, *, constant: bool) -> onnx.ModelProto:
    def value(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    ends = [value("a", left), *([] if constant else [value("b", right)])]
    weights = [numpy_helper.from_array(right, "b")] if constant else []
    result = helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)
    graph = helper.make_graph([helper.make_node(op, ["a", "b"], ["y"])], "g", ends, [result], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize(("left", "right", "constant"), product(TYPES, TYPES, (True, False)))
@pytest.mark.parametrize("saturates", [True, False])
def test_products_of_the_largest_values(
    left: type, right: type, constant: bool, saturates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rewritten too where this machine needs no rewriting; left alone only where it multiplies exactly."""
    if not saturates and exact_products.saturates():
        pytest.skip("this machine's ONNX Runtime saturates")
    monkeypatch.setattr(exact_products, "saturates", lambda: saturates)
    a, b = np.full((2, 64), np.iinfo(left).max, left), np.full((64, 16), np.iinfo(right).max, right)
    feed = {"a": a} if constant else {"a": a, "b": b}
    made = ReferenceRunner(_model("MatMulInteger", a, b, constant=constant)).run(feed)["y"]
    np.testing.assert_array_equal(made, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(("left", "right"), product(TYPES, TYPES))
def test_convolutions_of_the_largest_values(left: type, right: type) -> None:
    a, b = np.full((1, 16, 4, 4), np.iinfo(left).max, left), np.full((8, 16, 1, 1), np.iinfo(right).max, right)
    made = ReferenceRunner(_model("ConvInteger", a, b, constant=True)).run({"a": a})["y"]
    assert (made == int(a.flat[0]) * int(b.flat[0]) * 16).all()


@pytest.mark.parametrize(("left", "right"), [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
def test_quantised_convolutions_of_the_largest_values(left: type, right: type) -> None:
    a, b = np.full((1, 16, 4, 4), np.iinfo(left).max, left), np.full((8, 16, 3, 3), np.iinfo(right).max, right)
    total = int(a.flat[0]) * int(b.flat[0]) * 16 * 9
    constants = {
        **{"xs": np.float32(1), "xz": left(0), "b": b, "ws": np.float32(1), "wz": right(0)},
        **{"ys": np.float32(total / 100), "yz": left(3)},
    }
    x = helper.make_tensor_value_info("a", helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    y = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(a.dtype), None)
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph([helper.make_node("QLinearConv", ["a", *constants], ["y"])], "g", [x], [y], stored)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert (ReferenceRunner(proto).run({"a": a})["y"] == 103).all()
