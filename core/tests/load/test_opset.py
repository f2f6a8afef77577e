"""Models of every accepted opset mean the same after loading."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from match_core.contract.errors import ModelError
from match_core.contract.model import IR_VERSION, OPSET
from match_core.load.load import load_model
from match_core.load.opset import NEWEST, OLDEST
from match_verify.reference import ReferenceRunner

X = np.random.default_rng(1).standard_normal((1, 4, 6, 6)).astype(np.float32)


def same(path, feeds=None) -> None:
    """The loaded model computes what the file says, as far as onnxruntime takes that opset."""
    proto = onnx.load(path)
    proto.ir_version = min(proto.ir_version, IR_VERSION)
    model = load_model(path)
    assert model.graph.opset == OPSET
    feeds = feeds or {"x": X}
    expected, got = ReferenceRunner(proto).run(feeds), ReferenceRunner(model).run(feeds)
    assert list(expected) == list(got)
    for name in expected:
        assert np.allclose(expected[name], got[name], rtol=1e-6, atol=1e-6)


#: Opsets that onnxruntime takes without changing what operators mean.
RUNNABLE = range(8, 27)


def test_the_range_that_is_accepted(saved):
    for version in (OLDEST, NEWEST):
        text = (
            f"""<ir_version: 8, opset_import: ["" : {version}]> g (float[1,4] x) => (float[1,4] y) {{ y = Relu (x) }}"""
        )
        assert load_model(saved(text)).graph.opset == OPSET


@pytest.mark.parametrize("version", RUNNABLE)
def test_a_small_network(saved, version):
    clip = "Clip <min = 0.0, max = 6.0> (c)" if version < 11 else "Clip (c, lo, hi)"
    constants = "" if version < 11 else "<float lo = {0.0}, float hi = {6.0}>"
    text = f"""<ir_version: 8, opset_import: ["" : {version}]>
    g (float[1,4,6,6] x) => (float[1,144] y) {constants} {{
        w = Constant <value = float[4,1,1,1] {{0.5, -1.0, 2.0, 0.25}}> ()
        c = Conv <group = 4> (x, w)
        r = {clip}
        p = MaxPool <kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1]> (r)
        s = Add (p, x)
        y = Flatten <axis = 1> (s)
    }}"""
    same(saved(text))


@pytest.mark.parametrize("version", [8, 11, 12])
def test_axes_become_inputs(saved, version):
    text = f"""<ir_version: 8, opset_import: ["" : {version}]> g (float[1,4,6,6] x) => (float[1,4] y) {{
        s = ReduceSum <axes = [2], keepdims = 1> (x)
        m = ReduceMean <axes = [3], keepdims = 1> (s)
        q = Squeeze <axes = [2, 3]> (m)
        u = Unsqueeze <axes = [0]> (q)
        y = Squeeze <axes = [0]> (u)
    }}"""
    same(saved(text))


@pytest.mark.parametrize("version", [8, 10, 11, 13])
def test_softmax_of_old_opsets_flattens(saved, version):
    text = f"""<ir_version: 8, opset_import: ["" : {version}]>
    g (float[1,4,6,6] x) => (float[1,4,6,6] y) {{ y = Softmax <axis = 1> (x) }}"""
    same(saved(text))


@pytest.mark.parametrize("version", [11, 13, 17, 18])
def test_pad_split_resize(saved, version):
    text = f"""<ir_version: 8, opset_import: ["" : {version}]>
      g (float[1,4,6,6] x) => (float[1,2,8,8] a, float[1,2,8,8] b)
      <int64[8] pads = {{0, 0, 1, 1, 0, 0, 1, 1}}> {{
        p = Pad (x, pads)
        a, b = Split <axis = 1 {", num_outputs = 2" if version >= 18 else ""}> (p)
    }}"""
    same(saved(text))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("scales", ["1.0, 1.0, 2.0, 1.5", "1.0, 1.0, 0.5, 1.0"])
@pytest.mark.parametrize(("version", "operator"), [(7, "Upsample"), (9, "Upsample"), (10, "Resize")])
def test_resize_means_what_it_meant(saved, version, operator, mode, scales):
    sizes = [int(float(scale) * size) for scale, size in zip(scales.split(","), X.shape, strict=True)]
    if operator == "Upsample" and "0.5" in scales:
        pytest.skip("Upsample only grows")
    given = f", scales = [{scales}]" if version < 9 else ""
    second = "" if version < 9 else ", s"
    head = f"float[1,4,6,6] x) => (float[{','.join(map(str, sizes))}] y"
    text = f"""<ir_version: 8, opset_import: ["" : {version}]> g ({head}) <float[4] s = {{{scales}}}> {{
        y = {operator} <mode = "{mode}"{given}> (x{second})
    }}"""
    same(saved(text))


@pytest.mark.parametrize("coordinates", ["tf_half_pixel_for_nn", "half_pixel"])
def test_resize_keeps_what_opset_11_says(saved, coordinates):
    text = f"""<ir_version: 8, opset_import: ["" : 11]> g (float[1,4,6,6] x) => (float[1,4,4,9] y)
      <float[0] roi = {{}}, float[4] s = {{1.0, 1.0, 0.7, 1.5}}> {{
        y = Resize <mode = "nearest", coordinate_transformation_mode = "{coordinates}"> (x, roi, s)
    }}"""
    model = load_model(saved(text))
    (node,) = model.graph.nodes
    assert node.attrs["coordinate_transformation_mode"] == coordinates


def test_operators_newer_than_ours_get_their_standard_bodies(saved):
    text = """<ir_version: 10, opset_import: ["" : 24]> g (float[1,4,6,6] x) => (float[1,4,6,6] y) {
        y = Swish <alpha = 1.0> (x)
    }"""
    model = load_model(saved(text))
    got = ReferenceRunner(model).run({"x": X})["y"]
    assert np.allclose(got, X / (1 + np.exp(-X)), atol=1e-6)


def test_a_model_that_cannot_be_converted_is_refused(saved):
    text = """<ir_version: 8, opset_import: ["" : 9]> g (float[1,4,6,6] x) => (float[1,4,12,12] y)
      <float[4] scales = {1.0, 1.0, 2.0, 2.0}> { y = Upsample <mode = "nearest"> (x, scales) }"""
    path = saved(text)
    try:
        model = load_model(path)
    except ModelError as error:
        assert error.code in ("MATCH-F005", "MATCH-F009")
    else:  # a converter that learns it must do it right
        assert np.allclose(ReferenceRunner(model).run({"x": X})["y"], X.repeat(2, 2).repeat(2, 3))


def test_domains_without_nodes_are_dropped(saved):
    text = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1, "org.pytorch.aten" : 1]>
    g (float[1,4,6,6] x) => (float[1,4,6,6] y) { y = Relu (x) }"""
    model = load_model(saved(text))
    assert [entry.domain for entry in model.graph.import_domains] == [""]


def test_a_model_with_types_that_are_newer_than_ours_keeps_its_opset(saved):
    text = """<ir_version: 10, opset_import: ["" : 25]> g (float[3] x) => (int2[3] y) { y = Cast <to = 26> (x) }"""
    model = load_model(saved(text))
    assert model.graph.opset == 25
    assert np.dtype(model.graph.outputs[0].dtype).name == "int2"


def test_composite_operators_become_elementary_ones(saved):
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[1,4,6,6] x) => (float[1,4,6,6] y) {
        y = MeanVarianceNormalization <axes = [2, 3]> (x)
    }"""
    model = load_model(saved(text))
    mean, deviation = X.mean((2, 3), keepdims=True), X.std((2, 3), keepdims=True)
    got = ReferenceRunner(model).run({"x": X})["y"]
    assert np.allclose(got, (X - mean) / (deviation + 1e-9), atol=1e-5)
    assert "MeanVarianceNormalization" not in {node.op for node in model.graph.nodes}


def test_inputs_without_elements_are_constants(saved):
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[1,4] x, int64[0] axes) => (float[1,1] y) {
        s = ReduceSum (x, axes)
        y = Sqrt (s)
    }"""
    model = load_model(saved(text))
    assert [tensor.name for tensor in model.graph.inputs] == ["x", "axes"]
    assert ReferenceRunner(model).run({"x": X[:, :, 0, 0] ** 2, "axes": np.zeros(0, np.int64)})["y"].shape == (1, 1)


@pytest.mark.parametrize("rank", [3, 4])
def test_slopes_of_opset_6_belong_to_channels(saved, rank):
    """ONNX Runtime has no PRelu of opset 6, so the expected values are written out."""
    sizes = (2, 3, 5, 4)[:rank]
    text = f"""<ir_version: 4, opset_import: ["" : 6]>
    g (float[{",".join(map(str, sizes))}] x) => (float[{",".join(map(str, sizes))}] y)
    <float[3] slopes = {{0.1, 0.2, 0.3}}> {{ y = PRelu (x, slopes) }}"""
    x = np.random.default_rng(3).standard_normal(sizes).astype(np.float32)
    slopes = np.array([0.1, 0.2, 0.3], np.float32).reshape(3, *[1] * (rank - 2))
    (got,) = ReferenceRunner(load_model(saved(text))).run({"x": x}).values()
    assert np.allclose(got, np.where(x < 0, slopes * x, x), rtol=1e-6)
