"""Float16 on the host: the layers of ``test_layers`` with float16 tensors, and roundings inside of fused kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from host_harness import Array, Case, expected, make_model
from match_verify.reference import ReferenceRunner
from test_layers import GROUPS, Made

FLOAT, FLOAT16 = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16
#: One unit of the last place: where sums in another order lie on two sides of the middle between two numbers.
ULP = 2.0**-10
node = onnx.helper.make_node


def as_half(made: Made) -> Made | None:
    """The same model with float16 for float32; None where it has no float32 tensors or ONNX wants float32."""
    model, sample = (
        onnx.ModelProto(),
        {k: v.astype(np.float16) if v.dtype == np.float32 else v for k, v in made[1].items()},
    )
    model.CopyFrom(made[0])
    graph = model.graph
    if any(n.op_type in ("Resize", "DequantizeLinear", "QuantizeLinear") for n in graph.node):
        return None
    changed = False
    for info in (*graph.input, *graph.output, *graph.value_info):
        if info.type.tensor_type.elem_type == FLOAT:
            info.type.tensor_type.elem_type, changed = FLOAT16, True
    for tensor in graph.initializer:
        if tensor.data_type == FLOAT:
            values = onnx.numpy_helper.to_array(tensor).astype(np.float16)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    for attribute in (a for n in graph.node for a in n.attribute if a.name == "to" and a.i == FLOAT):
        attribute.i = FLOAT16
    return (model, sample) if changed else None


HALVES = {
    (group, name): half
    for group, cases in GROUPS.items()
    for name, make in cases.items()
    if (half := as_half(make())) is not None
}


@pytest.fixture(scope="module")
def results(
    run_cases: Callable[..., list[list[dict[str, Array]]]],
) -> dict[tuple[str, str], tuple[Case, dict[str, Array]]]:
    cases = {key: Case(model, [sample]) for key, (model, sample) in HALVES.items()}
    ran = run_cases(list(cases.values()))
    return {key: (case, samples[0]) for (key, case), samples in zip(cases.items(), ran, strict=True)}


@pytest.mark.parametrize("key", HALVES, ids=" ".join)
def test_layers(key: tuple[str, str], results: dict[tuple[str, str], tuple[Case, dict[str, Array]]]) -> None:
    case, got = results[key]
    for name, want in expected(case.model, case.samples[0]).items():
        assert (got[name].dtype, got[name].shape) == (want.dtype, want.shape)
        if want.dtype.kind == "f" and key[0] != "move":
            np.testing.assert_allclose(got[name], want, rtol=ULP, atol=1e-5 * float(np.abs(want).max()))
        else:
            np.testing.assert_array_equal(got[name], want)


def test_all_groups_have_float16_layers() -> None:
    assert {group for group, _ in HALVES} == set(GROUPS)


def fused_model() -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A product and sums whose results differ where the operators between are not rounded to float16."""
    random = np.random.default_rng(5)
    values = {name: random.normal(0, 1, (64, 33)).astype(np.float16) for name in "ab"}
    nodes = [
        node("Mul", ["a", "b"], ["p"]),
        node("Sub", ["p", "nearly"], ["d"]),
        node("Sqrt", ["large"], ["s"]),
        node("Mul", ["s", "d"], ["m"]),
        node("ReduceSum", ["m"], ["y"], keepdims=0),
    ]
    nearly = (values["a"] * values["b"] + np.float16(0.001)).astype(np.float16)
    large = np.abs(random.normal(0, 9, (64, 33))).astype(np.float16)
    return make_model(nodes, values, {"nearly": nearly, "large": large}, ["m", "y"]), values


def test_every_operator_of_a_region_is_rounded(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    model, values = fused_model()
    case = Case(model, [values])
    ((got,),) = run_cases([case])
    assert "host_region" in case.used
    np.testing.assert_array_equal(got["m"], expected(model, values)["m"])
    wide = [v.astype(np.float64) for v in values.values()]
    constants = {t.name: onnx.numpy_helper.to_array(t).astype(np.float64) for t in model.graph.initializer}
    unrounded = np.sqrt(constants["large"]) * (wide[0] * wide[1] - constants["nearly"])
    assert np.count_nonzero(got["m"] != unrounded.astype(np.float16)) > 500, "the case tells nothing"


def test_convolution_is_rounded_before_its_activation(run_cases: Callable[..., list[list[dict[str, Array]]]]) -> None:
    random = np.random.default_rng(6)
    x = {"x": random.normal(0, 1, (1, 4, 6, 6)).astype(np.float16)}
    w = random.normal(0, 1, (5, 4, 3, 3)).astype(np.float16)
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Sigmoid", ["c"], ["y"])]
    case = Case(make_model(nodes, x, {"w": w}), [x], ("host_conv_activation",))
    ((got,),) = run_cases([case])
    np.testing.assert_allclose(got["y"], expected(case.model, x)["y"], rtol=ULP, atol=1e-7)


def test_reference_rounds_every_tensor() -> None:
    """ONNX Runtime alone would keep float32 between these two operators."""
    values = {name: np.random.default_rng(i).normal(0, 1, 256).astype(np.float16) for i, name in enumerate("abc")}
    model = make_model([node("Mul", ["a", "b"], ["p"]), node("Sub", ["p", "c"], ["y"])], values)
    got = ReferenceRunner(model).run(values)["y"]
    np.testing.assert_array_equal(got, values["a"] * values["b"] - values["c"])
