"""Integers in float tensors get integer types: the same results, bit for bit, and the operators that units run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integer_chains import random_network
from match_core.contract.model import qualified_op
from match_core.contract.passes import PassContext
from match_core.load.load import model_from_proto
from match_core.passes.pipeline import run_passes
from match_quant.narrow_integers import NARROW_INTEGERS
from match_quant.narrow_requant import Requantisation
from match_verify.held import integer_inputs
from match_verify.reference import ReferenceRunner
from narrow_chains import Arrays, ModelOf, narrowed, ops, rq, whole

from tests.all_passes import core_passes
from tests.examples import examples

CONV = """g (float[1,4,6,6] x) => (float[1,8,6,6] y)
    {{ a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w{c}) {rest} }}"""


@pytest.mark.parametrize("lowest", [-127, -128])
@pytest.mark.parametrize("bias", [True, False])
def test_a_convolution_of_a_graph_input(model_of: ModelOf, accelerated: PassContext, lowest: int, bias: bool) -> None:
    """The sign of the input is not known, so both parts are read, the negative one twice where -128 is a weight."""
    weight = whole(lowest, 128, 8, 4, 3, 3)
    weight[0, 0, 0, 0] = lowest
    constants = {"w": weight, "c": whole(-999, 999, 8), "m": whole(1, 9, 8), "b": whole(-9999, 9999, 8)}
    result = narrowed(model_of(CONV.format(c=", c" if bias else "", rest=f"y = {rq('a')}"), constants), accelerated)
    assert ops(result) == {
        "QuantizeLinear": 2, "Concat": 1, "ConvInteger": 1, "RequantU8": 1, "OffsetU8ToI8": 1, "Cast": 1
    }  # fmt: skip
    (conv,) = (node for node in result.graph.nodes if node.op == "ConvInteger")
    assert conv.inputs[1].shape == (8, 8 if lowest == -127 else 12, 3, 3)
    assert conv.inputs[1].dtype == np.int8
    assert integer_inputs(result) == {"x"}
    assert {result.graph.inputs[0].dtype, result.graph.outputs[0].dtype} == {np.dtype(np.float32)}


def test_groups_keep_their_channels(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (float[1,4,5,5] x) => (float[1,6,5,5] y)
        {{ a = Conv <kernel_shape = [3,3], pads = [1,1,1,1], group = 2> (x, w) y = {rq("a", div=4096)} }}"""
    constants = {"w": whole(-60, 60, 6, 2, 3, 3), "m": whole(9, 99, 6), "b": np.float32(77)}
    narrowed(model_of(text, constants), accelerated)


def test_inner_layers_are_read_as_they_are(model_of: ModelOf, accelerated: PassContext) -> None:
    """A signed tensor becomes uint8; its offset goes into padding and addend."""
    rest = f"""r = {rq("a")} z = Conv <kernel_shape = [3,3], pads = [0,1,1,0], strides = [2,2]> (r, v)
        s = {rq("z", 0, 2048)} p = MaxPool <kernel_shape = [2,2]> (s) f = Flatten (p)
        h = Gemm <transB = 1> (f, d, e) y = {rq("h", div=512)}"""
    text = CONV.replace("float[1,8,6,6] y", "float[1,10] y").format(c="", rest=rest)
    constants = {
        "w": whole(-50, 50, 8, 4, 3, 3), "v": whole(-50, 50, 5, 8, 3, 3), "m": np.float32(7), "b": np.float32(-300),
        "d": whole(-50, 50, 10, 20), "e": whole(-900, 900, 10),
    }  # fmt: skip
    result = narrowed(model_of(text, constants), accelerated)
    found = ops(result)
    assert (found["ConvInteger"], found["MatMulInteger"], found["RequantU8"], found["Pad"]) == (2, 1, 3, 1)
    assert not {"Conv", "Gemm", "RequantI8", "AsInteger"} & set(found)
    (pad,) = (node for node in result.graph.nodes if node.op == "Pad")
    assert int(pad.inputs[2].values) == 128


def test_a_host_alone_keeps_signed_types(model_of: ModelOf, host_only: PassContext) -> None:
    constants = {"w": whole(-50, 50, 8, 4, 3, 3), "m": np.float32(7), "b": np.float32(-300)}
    found = ops(narrowed(model_of(CONV.format(c="", rest=f"y = {rq('a')}"), constants), host_only))
    assert found["RequantI8"] == 1
    assert not found["OffsetU8ToI8"]


NEMO = """g (float[1,3,8,8] x) => (float[1,5,8,8] y) {{
    a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w) k = Mul (a, kappa) l = Add (k, lambda) {requant} }}"""
REQUANTS = {
    "div": "m = Mul (l, mul) d = Div (m, D) f = Floor (d) y = Clip (f, lo, hi)",
    "reciprocal": "m = Mul (l, mul) d = Mul (m, R) f = Floor (d) y = Clip (f, lo, hi)",
}


@pytest.mark.parametrize("form", REQUANTS)
@pytest.mark.parametrize(("lo", "hi"), [(0, 255), (-128, 127), (0, 127)])
def test_the_idiom_of_elementary_operators(
    model_of: ModelOf, accelerated: PassContext, form: str, lo: int, hi: int
) -> None:
    constants = {
        "w": whole(-7, 8, 5, 3, 3, 3), "kappa": whole(1, 9, 1, 5, 1, 1), "lambda": whole(-999, 999, 1, 5, 1, 1),
        "mul": np.float32(3), "D": np.float32(1024), "R": np.float32(1 / 1024),
        "lo": np.float32(lo), "hi": np.float32(hi),
    }  # fmt: skip
    model = model_of(NEMO.format(requant=REQUANTS[form]), constants)
    result = narrowed(model, accelerated, 0)
    found = ops(result)
    assert (found["ConvInteger"], found["RequantU8"]) == (1, 1)
    assert not {"Conv", "Mul", "Add", "Div", "Floor", "Clip"} & set(found)
    (node,) = (node for node in result.graph.nodes if node.op == "RequantU8")
    offset = 128 if lo < 0 else 0
    assert [int(node.inputs[i].values) - offset for i in (4, 5)] == [lo, hi]


def test_pooling_of_a_graph_input_stays_in_floats(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (float[1,4,6,6] x) => (float[1,8,3,3] y) {{
        p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (p, w) y = {rq("a")} }}"""
    constants = {"w": whole(-50, 50, 8, 4, 3, 3), "m": np.float32(7), "b": np.float32(-300)}
    found = ops(narrowed(model_of(text, constants), accelerated))
    assert (found["MaxPool"], found["ConvInteger"], found["QuantizeLinear"]) == (1, 1, 2)


def test_sums_that_need_more_than_32_bits_stay_in_floats(model_of: ModelOf, accelerated: PassContext) -> None:
    """A product of two tensors of int32 range: the reader gets a Cast instead of known integers."""
    text = f"""g (float[1,16] x) => (float[1,16] y) {{
        a = MatMul (x, w) c = Mul (a, a) e = Mul (c, c) f = Mul (e, e) h = Mul (f, f) y = {rq("h", m="m")} }}"""
    constants = {"w": np.zeros((16, 16), np.float32) + 1, "m": np.float32(1), "b": np.float32(0)}
    found = ops(narrowed(model_of(text, constants), accelerated, 0, 4))
    assert found["MatMulInteger"] == 1


@pytest.mark.parametrize(
    "changed", [{"w": np.float32(0.5)}, {"lambda": np.float32(0.25)}, {"D": np.float32(2.5)}, {"lo": np.float32(-0.5)}]
)
def test_real_numbers_stay_real(model_of: ModelOf, accelerated: PassContext, changed: Arrays) -> None:
    constants = {
        "w": whole(-7, 8, 5, 3, 3, 3), "kappa": whole(1, 9, 1, 5, 1, 1), "lambda": whole(-999, 999, 1, 5, 1, 1),
        "mul": np.float32(3), "D": np.float32(1024), "lo": np.float32(0), "hi": np.float32(255),
    }  # fmt: skip
    constants.update({k: np.full_like(constants[k], v) for k, v in changed.items()})
    model = model_of(NEMO.format(requant=REQUANTS["div"]), constants)
    assert NARROW_INTEGERS.run(model, accelerated) is model


def test_an_image_that_is_only_scaled_stays_real(model_of: ModelOf, accelerated: PassContext) -> None:
    """Nothing tells that a graph input holds integers if no weights are read."""
    text = "g (float[1,64] x) => (float[1,64] y) { d = Div (x, D) f = Floor (d) y = Clip (f, lo, hi) }"
    model = model_of(text, {"D": np.float32(4), "lo": np.float32(0), "hi": np.float32(255)})
    assert NARROW_INTEGERS.run(model, accelerated) is model


def test_floats_that_are_read_by_others_stay(model_of: ModelOf, accelerated: PassContext) -> None:
    """A real-valued operator reads the sums as floats; they are computed once, as integers."""
    text = f"""g (float[1,16] x) => (float[1,16] y, float[1,16] z) {{
        a = MatMul (x, w) c = Add (a, d) y = {rq("c")} z = Sigmoid (c) }}"""
    constants = {"w": whole(-3, 3, 16, 16), "d": whole(-9, 9, 16), "m": np.float32(30), "b": np.float32(0)}
    result = narrowed(model_of(text, constants), accelerated)
    assert ops(result)["MatMulInteger"] == 1
    assert not ops(result)["MatMul"]


def test_integers_behind_real_numbers_are_cast(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"g (float[1,16] x) => (float[1,16] y) {{ s = Sin (x) a = Mul (s, k) f = Floor (a) y = {rq('f')} }}"
    constants = {"k": np.float32(999), "m": np.float32(30), "b": np.float32(0)}
    found = ops(narrowed(model_of(text, constants), accelerated))
    assert (found["Sin"], found["Floor"], found["RequantI8"]) == (1, 1, 1)


def test_parameters_across_the_channels_keep_clear_of_units(model_of: ModelOf, accelerated: PassContext) -> None:
    """One multiplier per row, with as many rows as columns: "sums, then Requant" would read them as columns."""
    text = f"g (float[4,8] x) => (float[4,4] y) {{ a = MatMul (x, w) y = {rq('a')} }}"
    constants = {"w": whole(-50, 50, 8, 4), "m": whole(1, 20, 4, 1), "b": np.float32(0)}
    result = narrowed(model_of(text, constants), accelerated)
    (node,) = (node for node in result.graph.nodes if node.op.startswith("Requant"))
    assert node.inputs[0].inputs[0].op == "Cast"


def test_an_int32_model_keeps_its_types(model_of: ModelOf, accelerated: PassContext) -> None:
    text = f"""g (int32[1,4,8] x, int32[1,8,4] z) => (int32[1,4,4] y) {{ a = MatMul (x, z) y = {rq("a")} }}"""
    result = narrowed(model_of(text, {"m": np.int32(3), "b": np.int32(5)}), accelerated)
    assert ops(result) == {"MatMul": 1, "RequantI8": 1, "Cast": 1}
    assert {str(np.dtype(t.dtype)) for t in (*result.graph.inputs, *result.graph.outputs)} == {"int32"}


def test_bytes_at_the_graph_inputs_need_no_parts(model_of: ModelOf, accelerated: PassContext) -> None:
    """A model that casts uint8 inputs to float says what they hold."""
    text = f"""g (uint8[1,4,6,6] u) => (float[1,8,6,6] y) {{
        x = Cast <to = 1> (u) a = Conv <kernel_shape = [3,3]> (x, w) p = Pad (a, pads) y = {rq("p")} }}"""
    constants = {
        "w": whole(-9, 9, 8, 4, 3, 3), "m": np.float32(30), "b": np.float32(9),
        "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
    }  # fmt: skip
    result = narrowed(model_of(text, constants), accelerated, 0)
    assert ops(result)["ConvInteger"] == 1
    assert not {"QuantizeLinear", "Concat", "Conv"} & set(ops(result))


MOVES = f"""g (float[1,4,8] x) => (float[1,4,8] y) {{{{
    a = MatMul (x, w) r = {rq("a")} s = {rq("a", 0)}
    {{move}}
    y = {rq("t", div=64)} }}}}"""


@pytest.mark.parametrize(
    "move",
    [
        "c = Concat <axis = 1> (r, s) t = Slice (c, from, to, axes)",
        "d = Sub (r, s) e = Neg (d) n = Relu (e) t = Mul (n, two)",
        "n = Mul (r, s) t = Clip (n, floor, top)",
        "n = Sub (two, r) t = Add (n, s)",
        "n = Add (r, s) q = Add (n, r) t = Identity (q)",
        "n = Clip (s, below, floor) t = Add (n, r)",
        "n = Neg (s) o = Sub (n, two) p = Relu (o) t = Add (p, r)",
        "n = Gather <axis = 1> (r, index) t = Add (n, s)",
        "n = ReduceSum <keepdims = 1> (r, axes) t = Add (n, s)",
    ],
)
def test_elementwise_and_moves(model_of: ModelOf, accelerated: PassContext, host_only: PassContext, move: str) -> None:
    constants = {
        "w": whole(-50, 50, 8, 8), "m": np.float32(9), "b": np.float32(70), "two": np.float32(2),
        "from": np.array([2]), "to": np.array([6]), "axes": np.array([1]), "index": np.array([3, 1, 0, 2]),
        "floor": np.float32(-5000), "top": np.float32(3000), "below": np.float32(-6000),
    }  # fmt: skip
    for context in (accelerated, host_only):
        result = narrowed(model_of(MOVES.format(move=move), constants), context)
        floats = [n.op for n in result.graph.nodes if np.dtype(n.outputs[0].dtype).kind == "f"]
        assert floats == ["Cast"]


def test_every_source_node_is_named_by_what_replaces_it(model_of: ModelOf, accelerated: PassContext) -> None:
    model = model_of(
        """g (float[1,16] x) => (float[1,16] y) {
        [product] a = MatMul (x, w) [bias] c = Add (a, d) [scale] e = Mul (c, k) [left] l = """
        + rq("e")
        + " [right] r = "
        + rq("a")
        + " [sum] s = Add (l, r) [last] y = "
        + rq("s")
        + " }",
        {
            "w": whole(-30, 30, 16, 16),
            "d": whole(-9, 9, 16),
            "k": whole(1, 4, 16),
            "m": np.float32(9),
            "b": np.float32(0),
        },
    )
    result = narrowed(model, accelerated)
    names = {name for origin in result.provenance.values() for name in origin}
    assert names == {"product", "bias", "scale", "left", "right", "sum", "last"}


def test_the_whole_pipeline_keeps_every_bit(model_of: ModelOf, accelerated: PassContext) -> None:
    rest = f"r = {rq('a')} z = Conv <kernel_shape = [1,1]> (r, v) s = {rq('z')} t = Add (r, s) y = {rq('t', div=2)}"
    constants = {
        "w": whole(-50, 50, 8, 4, 3, 3), "v": whole(-50, 50, 8, 8, 1, 1), "m": np.float32(7), "b": np.float32(-30)
    }  # fmt: skip
    model = model_of(CONV.format(c="", rest=rest), constants)
    x = {"x": whole(-128, 128, 1, 4, 6, 6)}
    expected = ReferenceRunner(model).run(x)
    result = run_passes(model, core_passes(accelerated.soc, accelerated.units), accelerated)
    assert np.array_equal(ReferenceRunner(result).run(x)["y"], expected["y"])
    assert {"match.nhwc::ConvInteger", "match.arith::AddRequantU8"} <= {qualified_op(n) for n in result.graph.nodes}


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.integers(-60, 60).map(lambda v: 12 * v), min_size=1, max_size=3),
    st.integers(-9999, 9999),
    st.integers(1, 30).map(lambda v: 4 * v),
    st.integers(-5000, 5000),
)
def test_common_factors_go_without_a_trace(factors: list[int], addend: int, divisor: int, x: int) -> None:
    multiplier = np.array(factors, np.int64)
    given_ = Requantisation(multiplier, np.array(addend, np.int64), divisor, -128, 127)
    reduced, _ = given_.reduced(multiplier)
    assert reduced.divisor <= divisor // 4
    assert np.array_equal(given_.of(np.array(x)), reduced.of(np.array(x)))


@pytest.mark.parametrize("seed", range(40))
def test_random_networks(seed: int, accelerated: PassContext, host_only: PassContext) -> None:
    model = model_from_proto(random_network(seed), "net", "net.onnx")
    for context in (accelerated, host_only):
        result = narrowed(model, context)
        assert integer_inputs(result) <= {"x"}
        assert not {"Conv", "Gemm", "MatMul"} & set(ops(result))
