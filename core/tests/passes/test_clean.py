"""Passes that only tidy up: the result is the same bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.passes import Pass, Phase
from match_core.passes.clean_up import CLEAN_UP
from match_core.passes.constant_nodes import CONSTANT_NODES
from match_core.passes.fold_constants import FOLD_CONSTANTS
from match_core.passes.pipeline import run_passes
from match_core.passes.remove_dead_nodes import REMOVE_DEAD_NODES
from match_core.passes.remove_identities import REMOVE_IDENTITIES
from match_quant.dequantise_constants import DEQUANTISE_CONSTANTS
from match_verify.reference import ReferenceRunner

from tests.pass_checks import PassBrokeModelError, VerifyPass, difference


def ops(model) -> list[str]:
    return [node.op for node in model.graph.nodes]


def after(model, context, *passes):
    return run_passes(model, passes, context, [VerifyPass()])


def test_constant_nodes(model_of, host_only):
    model = model_of(
        """g (float[1,2] x) => (float[1,2] y) {
        a = Constant <value = float[2] {1.0, 2.0}> ()
        b = Constant <value_float = 3.0> ()
        c = Constant <value_floats = [4.0, 5.0]> ()
        s = Add (x, a) t = Mul (s, b) y = Sub (t, c) }"""
    )
    assert ops(after(model, host_only, CONSTANT_NODES)) == ["Add", "Mul", "Sub"]


def test_folding(model_of, host_only):
    model = model_of(
        """g (float[1,2,3] x) => (float[1,6] y) <int64[1] one = {1}> {
        shape = Shape (x)
        first = Slice (shape, zero, one)
        six = Constant <value = int64[1] {6}> ()
        target = Concat <axis = 0> (first, six)
        y = Reshape (x, target) }""",
        {"zero": np.array([0])},
    )
    result = after(model, host_only, CONSTANT_NODES, FOLD_CONSTANTS)
    assert ops(result) == ["Reshape"]
    assert result.graph.nodes[0].inputs[1].values.tolist() == [1, 6]


def test_folding_leaves_weights_and_huge_results(model_of, host_only):
    model = model_of(
        """g (float[1,4] x) => (float[1,3] y, float[4000,4000] h)
           <float scale = {0.5}, int64[2] huge = {4000, 4000}> {
        w = DequantizeLinear (q, scale)
        y = MatMul (x, w)
        h = ConstantOfShape (huge) }""",
        {"q": np.ones((4, 3), np.int8)},
    )
    result = FOLD_CONSTANTS.run(model, host_only)
    assert sorted(ops(result)) == ["DequantizeLinear", "Expand", "MatMul"]


def test_folding_an_output(model_of, host_only):
    model = model_of("g (float[2] x) => (float[2] y, int64[1] s) { y = Relu (x) s = Shape (x) }")
    result = after(model, host_only, FOLD_CONSTANTS)
    assert [tensor.name for tensor in result.graph.outputs] == ["y", "s"]


@pytest.mark.parametrize(
    "node",
    [
        "Identity (a)",
        "Dropout (a)",
        "Dropout (a, ratio, off)",
        "Cast <to = 1> (a)",
        "Reshape (a, shape)",
        "Flatten <axis = 1> (a)",
        "Transpose <perm = [0, 1]> (a)",
        "Pad (a, zeros)",
        "Slice (a, begin, end)",
        "Concat <axis = 0> (a)",
        "Max (a)",
        "Sum (a)",
        "Clip (a)",
        "Expand (a, shape)",
    ],
)
def test_identities(model_of, host_only, node):
    model = model_of(
        f"""g (float[1,6] x) => (float[1,6] y) <float ratio = {{0.5}}> {{ a = Relu (x)  b = {node}  y = Neg (b) }}""",
        {
            "shape": np.array([1, 6]),
            "zeros": np.zeros(4, np.int64),
            "begin": np.array([0, 0]),
            "end": np.array([1, 6]),
            "off": np.array(False),
        },
    )
    assert ops(after(model, host_only, REMOVE_IDENTITIES)) == ["Relu", "Neg"]


@pytest.mark.parametrize(
    "node",
    [
        "Cast <to = 1> (i)",
        "Transpose <perm = [1, 0]> (a)",
        "Pad (a, ones)",
        "Slice (a, begin, end, axes, back)",
        "Clip (a, low)",
        "Concat <axis = 0> (a, a)",
    ],
)
def test_what_looks_like_an_identity(model_of, host_only, node):
    model = model_of(
        f"""g (float[2,2] x, int32[2,2] i) => (float[a,b] y) {{ a = Relu (x)  y = {node} }}""",
        {
            "ones": np.array([1, 0, 0, 0]),
            "begin": np.array([-1]),
            "end": np.array([-9]),
            "axes": np.array([1]),
            "back": np.array([-1]),
            "low": np.array(0.5, np.float32),
        },
    )
    before = ops(model)
    kept = after(model, host_only, REMOVE_IDENTITIES)
    assert [op for op in before if op != "Relu"] == [op for op in ops(kept) if op != "Relu"]


def test_an_identity_between_input_and_output_stays(model_of, host_only):
    model = model_of(
        "g (float[2] x) => (float[2] y, float[2] z) { y = Identity (x) a = Identity (x) z = Identity (a) }"
    )
    assert ops(after(model, host_only, REMOVE_IDENTITIES)) == ["Identity", "Identity"]


def test_a_dropout_whose_mask_is_wanted_leaves_a_constant(model_of, host_only):
    model = model_of("g (float[4] x) => (float[4] z, bool[4] mask) { y, mask = Dropout (x) z = Relu (y) }")
    changed = after(model, host_only, REMOVE_IDENTITIES)
    assert sorted(ops(changed)) == ["Identity", "Relu"]
    (copy,) = (node for node in changed.graph.nodes if node.op == "Identity")
    assert copy.outputs[0].name == "mask"
    assert copy.inputs[0].values.tolist() == [True] * 4


def test_dead_nodes(model_of, host_only):
    model = model_of("g (float[2] x) => (float[2] y, float[2] b) { a = Neg (x) b = Abs (a) y = Relu (x) }")
    del model.graph.outputs[1]
    assert ops(after(model, host_only, REMOVE_DEAD_NODES)) == ["Relu"]


def test_last_clean_up_merges_chains(model_of, host_only):
    model = model_of(
        """g (float[1,2,3,4] x) => (float[24] y, float[1,2,3,4] z) {
        a = Transpose <perm = [0, 2, 3, 1]> (x)
        b = Transpose <perm = [0, 3, 1, 2]> (a)
        c = Reshape (b, s)  d = Flatten <axis = 1> (c)  e = Squeeze (d, zero)  y = Relu (e)
        f = Transpose <perm = [0, 3, 1, 2]> (x)  g = Transpose <perm = [0, 3, 1, 2]> (f)
        h = Transpose <perm = [0, 3, 1, 2]> (g)  z = Relu (h) }""",
        {"s": np.array([1, 4, 6]), "zero": np.array([0])},
    )
    result = after(model, host_only, CLEAN_UP)
    assert sorted(ops(result)) == ["Relu", "Relu", "Reshape"]
    (reshape,) = (node for node in result.graph.nodes if node.op == "Reshape")
    assert len(result.provenance[reshape.name]) >= 3


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_weights_of_float_operators_become_float(model_of, host_only, axis):
    count = {None: 1, 0: 4, 1: 3}[axis]
    attribute = "" if axis is None else f"<axis = {axis}>"
    random = np.random.default_rng(0)
    model = model_of(
        f"""g (float[1,4] x) => (float[1,3] y) {{ w = DequantizeLinear {attribute} (q, s, z)  y = MatMul (x, w) }}""",
        {
            "q": random.integers(-128, 128, (4, 3)).astype(np.int8),
            "s": random.random(count, np.float32) if axis is not None else np.float32(0.3),
            "z": random.integers(-5, 5, count).astype(np.int8) if axis is not None else np.int8(3),
        },
    )
    assert ops(after(model, host_only, DEQUANTISE_CONSTANTS)) == ["MatMul"]


def test_the_verifier_names_the_pass_that_breaks_a_model(model_of, host_only):
    model = model_of("g (float[1,8] x) => (float[1,8] y) { a = Neg (x) y = Relu (a) }")

    def breaks(model, context):
        broken = model.copy()
        broken.graph.nodes[1].op = "Abs"
        return broken

    good = Pass("good", Phase.CLEAN, lambda m, c: m.copy(), "")
    for exact in (True, False):
        bad = Pass("bad", Phase.FLOAT, breaks, "", exact=exact)
        with pytest.raises(PassBrokeModelError, match="'bad' changed output 'y'"):
            run_passes(model, (bad, good), host_only, [VerifyPass()])
    chooses = Pass("bad", Phase.FLOAT, breaks, "", exact=None)
    run_passes(model, (chooses, good), host_only, [VerifyPass()])


def test_difference_sees_types_shapes_and_tolerances():
    a = np.array([1.0, 100.0], np.float32)
    assert difference(a, a.astype(np.float64), None) is not None
    assert difference(a, a.reshape(1, 2), None) is not None
    assert difference(a, a + np.float32(5e-4), False) is None
    assert difference(a, a + np.float32(5e-3), False) is not None
    assert difference(a, a + np.float32(5e-4), True) is not None
    assert difference(a, np.array([1.0, np.nan], np.float32), False) is not None
    half = a.astype(np.float16)
    assert difference(half, half + np.float16(0.375), False) is None
    assert difference(half, half + np.float16(0.5), False) is not None
    assert difference(half, half + np.float16(0.375), True) is not None
    assert difference(np.array([3], np.int8), np.array([4], np.int8), False) is None
    assert difference(np.array([3], np.int8), np.array([5], np.int8), False) is not None


def test_passes_do_not_change_their_argument(model_of, host_only):
    model = model_of("g (float[2] x) => (float[2] y) { a = Identity (x) b = Identity (a) y = Relu (b) }")
    before = model.to_onnx().SerializeToString()
    for item in (REMOVE_IDENTITIES, FOLD_CONSTANTS, CONSTANT_NODES, CLEAN_UP, REMOVE_DEAD_NODES):
        item.run(model, host_only)
        assert model.to_onnx().SerializeToString() == before
    assert ReferenceRunner(model).run({"x": np.array([1, -1], np.float32)})["y"].tolist() == [1, 0]
