"""Passes on float operators, in float32 and float16: results stay within 1e-5 or 2^-8 of the largest value."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.passes.pipeline import run_passes
from match_quant.explicit_geometry import EXPLICIT_GEOMETRY
from match_quant.fold_batch_norm import FOLD_BATCH_NORM
from match_quant.fold_padding import FOLD_PADDING
from match_quant.normalise_gemm import NORMALISE_GEMM

from tests.pass_checks import VerifyPass

RANDOM = np.random.default_rng(11)


def ops(model) -> list[str]:
    return [node.op for node in model.graph.nodes]


def after(model, context, *passes):
    return run_passes(model, passes, context, [VerifyPass()])


@pytest.fixture(params=["float", "float16"])
def model_of(request, model_of):
    """Models of these tests once more with float16 in place of float32."""

    def make(text, constants=None):
        if request.param == "float16":
            text = text.replace("float[", "float16[")
            halves = {k: v.astype(np.float16) for k, v in (constants or {}).items() if v.dtype == np.float32}
            constants = {**(constants or {}), **halves}
        return model_of(text, constants)

    return make


def normal(*shape: int):
    return RANDOM.standard_normal(shape).astype(np.float32)


def norm_constants(channels: int) -> dict:
    return {
        "gamma": normal(channels),
        "beta": normal(channels),
        "mean": normal(channels),
        "var": RANDOM.random(channels).astype(np.float32) + 0.1,
    }


NORM = "BatchNormalization <epsilon = 1e-3> (c, gamma, beta, mean, var)"


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("group", "weights"), [(1, (6, 4, 3, 3)), (2, (6, 2, 3, 3))])
def test_batch_norm_into_convolution(model_of, host_only, bias, group, weights):
    constants = {"w": normal(*weights), **norm_constants(6), **({"b": normal(6)} if bias else {})}
    inputs = "x, w, b" if bias else "x, w"
    text = f"g (float[1,4,7,7] x) => (float[1,6,5,5] y) {{ c = Conv <group = {group}> ({inputs})  y = {NORM} }}"
    result = after(model_of(text, constants), host_only, FOLD_BATCH_NORM)
    assert ops(result) == ["Conv"]
    assert result.provenance["Conv_0"] == ("Conv_0", "BatchNormalization_1")


@pytest.mark.parametrize("group", [1, 2])
def test_batch_norm_into_transposed_convolution(model_of, host_only, group):
    constants = {"w": normal(4, 6 // group, 3, 3), "b": normal(6), **norm_constants(6)}
    text = f"g (float[1,4,5,5] x) => (float[1,6,7,7] y) {{ c = ConvTranspose <group = {group}> (x, w, b)  y = {NORM} }}"
    assert ops(after(model_of(text, constants), host_only, FOLD_BATCH_NORM)) == ["ConvTranspose"]


@pytest.mark.parametrize("transposed", [0, 1])
def test_batch_norm_into_gemm(model_of, host_only, transposed):
    weights = normal(6, 4) if transposed else normal(4, 6)
    constants = {"w": weights, "b": normal(6), **norm_constants(6)}
    text = f"""g (float[1,4] x) => (float[1,6] y) {{
        c = Gemm <transB = {transposed}, beta = 0.5, alpha = 2.0> (x, w, b)  y = {NORM} }}"""
    assert ops(after(model_of(text, constants), host_only, FOLD_BATCH_NORM)) == ["Gemm"]


def test_batch_norm_alone_or_after_a_shared_value(model_of, host_only):
    constants = {"w": normal(6, 4, 1, 1), **norm_constants(6)}
    text = f"""g (float[1,4,5,5] x) => (float[1,6,5,5] y, float[1,6,5,5] c) {{ c = Conv (x, w)  y = {NORM} }}"""
    assert ops(after(model_of(text, constants), host_only, FOLD_BATCH_NORM)) == ["Conv", "Mul", "Add"]


def test_batch_norm_whose_parameters_are_inputs_stays(model_of, host_only):
    text = f"""g (float[1,2,3,3] c, float[2] gamma, float[2] beta, float[2] mean, float[2] var)
        => (float[1,2,3,3] y) {{ y = {NORM} }}"""
    model = model_of(text)
    assert ops(FOLD_BATCH_NORM.run(model, host_only)) == ["BatchNormalization"]


PADDED = {"pads": np.array([0, 0, 1, 2, 0, 0, 0, 1])}


@pytest.mark.parametrize(
    ("pad", "node", "folds"),
    [
        ("Pad (x, pads)", "Conv <pads = [1, 0, 0, 0]> (p, w)", True),
        ("Pad (x, pads, zero)", "Conv (p, w)", True),
        ("Pad (x, short, zero, axes)", "Conv (p, w)", True),
        ("Pad (x, pads, one)", "Conv (p, w)", False),
        ('Pad <mode = "edge"> (x, pads)', "Conv (p, w)", False),
        ("Pad (x, channels)", "Conv (p, w6)", False),
        ("Pad (x, cut)", "Conv (p, w)", False),
        ("Pad (x, pads, minus_infinity)", "MaxPool <kernel_shape = [3, 3]> (p)", True),
        ("Pad (x, pads, zero)", "MaxPool <kernel_shape = [3, 3]> (p)", False),
        ("Pad (x, pads)", "AveragePool <kernel_shape = [3, 3]> (p)", True),
        ("Pad (x, pads)", "AveragePool <kernel_shape = [4, 4], pads = [1,1,1,1], count_include_pad = 1> (p)", True),
        ("Pad (x, pads)", "AveragePool <kernel_shape = [3, 3], pads = [1,1,1,1], count_include_pad = 1> (p)", False),
        ("Pad (x, pads)", "AveragePool <kernel_shape = [3, 3], pads = [1,1,1,1]> (p)", False),
    ],
)
def test_padding(model_of, host_only, pad, node, folds):
    constants = {
        **PADDED,
        "short": np.array([2, 1]),
        "axes": np.array([-1]),
        "channels": np.array([0, 1, 0, 0, 0, 1, 0, 0]),
        "cut": np.array([0, 0, -1, 0, 0, 0, 0, 0]),
        "zero": np.float32(0),
        "one": np.float32(1),
        "minus_infinity": np.float32(-np.inf),
        "w": normal(3, 4, 3, 3),
        "w6": normal(3, 6, 3, 3),
    }
    text = f"g (float[1,4,8,8] x) => (float[1,c,h,w] y) {{ p = {pad}  y = {node} }}"
    result = after(model_of(text, constants), host_only, EXPLICIT_GEOMETRY, FOLD_PADDING)
    assert len(result.graph.nodes) == (1 if folds else 2)


@pytest.mark.parametrize(
    "node",
    [
        'Conv <auto_pad = "SAME_UPPER", strides = [2, 2]> (x, w)',
        'Conv <auto_pad = "SAME_LOWER", strides = [3, 2]> (x, w)',
        'Conv <auto_pad = "VALID"> (x, w)',
        "Conv (x, w)",
        'MaxPool <kernel_shape = [3, 2], auto_pad = "SAME_UPPER", strides = [2, 2]> (x)',
        "MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)",
        "AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 1], count_include_pad = 1> (x)",
        "AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 1]> (x)",
        "GlobalAveragePool (x)",
        "GlobalMaxPool (x)",
    ],
)
def test_geometry(model_of, host_only, node):
    text = f"g (float[1,4,9,8] x) => (float[1,c,h,w] y) {{ y = {node} }}"
    model = model_of(text, {"w": normal(3, 4, 3, 3)} if "Conv" in node else {})
    result = after(model, host_only, EXPLICIT_GEOMETRY)
    (made,) = result.graph.nodes
    assert {"kernel_shape", "strides", "dilations", "pads"} <= set(made.attrs)
    assert "auto_pad" not in made.attrs
    assert made.op in ("Conv", "MaxPool", "AveragePool")


def test_pooling_with_indices_is_left_alone(model_of, host_only):
    model = model_of(
        "g (float[1,4,8,8] x) => (float[1,4,7,7] y, int64[1,4,7,7] i) { y, i = MaxPool <kernel_shape = [2, 2]> (x) }"
    )
    assert set(EXPLICIT_GEOMETRY.run(model, host_only).graph.nodes[0].attrs) == {"kernel_shape"}


@pytest.mark.parametrize("attributes", ["", "alpha = 0.5", "beta = 3.0", "transB = 1", "alpha = 2.0, transB = 1"])
@pytest.mark.parametrize("bias", [None, (3,), (1, 3), (1,), (1, 1), ()])
def test_gemm(model_of, host_only, attributes, bias):
    constants = {"w": normal(3, 4) if "transB" in attributes else normal(4, 3)}
    inputs = "x, w"
    if bias is not None:
        constants["b"] = normal(*bias)
        inputs += ", b"
    text = f"g (float[1,4] x) => (float[1,3] y) {{ y = Gemm {f'<{attributes}>' if attributes else ''} ({inputs}) }}"
    (node,) = after(model_of(text, constants), host_only, NORMALISE_GEMM).graph.nodes
    assert node.attrs == {}
    assert node.inputs[1].shape == (4, 3)
