"""NCHW becomes NHWC around convolutions: same values, and transposes only at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.contract.model import qualified_op
from match_core.contract.passes import Phase
from match_core.passes.clean_up import CLEAN_UP
from match_core.passes.pipeline import run_passes
from match_quant.nhwc_layout import NHWC_LAYOUT
from match_verify.reference import ReferenceRunner

from tests.all_passes import core_passes
from tests.pass_checks import VerifyPass

RANDOM = np.random.default_rng(23)


def ops(model) -> list[str]:
    return [qualified_op(node) for node in model.graph.nodes]


def convolution(x: str, y: str, weight: str, pads: str = "1,1,1,1") -> str:
    attributes = f"pads = [{pads}], strides = [1,1], dilations = [1,1], group = 1, kernel_shape = [3,3]"
    return f"{y} = ConvInteger <{attributes}> ({x}, {weight})"


def weights(*shape: int):
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def converted(model, context):
    return run_passes(model, (NHWC_LAYOUT,), context, [VerifyPass()])


def test_a_chain_is_transposed_once_at_each_end(model_of, accelerated):
    text = f"""g (uint8[1,3,8,8] x) => (int32[1,5,8,8] y) {{
        {convolution("x", "a", "w1")}
        s = Cast <to = 7> (a)  m = Mul (s, scale)  d = Div (m, scalar)  c = Clip (d, zero, top)  b = Cast <to = 2> (c)
        p = Pad (b, pads, value)
        {convolution("p", "y", "w2", "0,0,0,0")} }}"""
    constants = {
        "w1": weights(4, 3, 3, 3),
        "w2": weights(5, 4, 3, 3),
        "scale": RANDOM.integers(1, 90, (4, 1, 1)),
        "scalar": np.array(4096),
        "zero": np.array(0),
        "top": np.array(255),
        "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
        "value": np.uint8(7),
    }
    result = converted(model_of(text, constants), accelerated)
    assert ops(result).count("Transpose") == 2
    assert ops(result).count("match.nhwc::ConvInteger") == 2
    (pad,) = (node for node in result.graph.nodes if node.op == "Pad")
    assert pad.inputs[1].values.tolist() == [0, 1, 1, 0, 0, 1, 1, 0]


def test_branches_concat_and_pooling(model_of, accelerated):
    text = f"""g (uint8[1,3,8,8] x) => (uint8[1,7,4,4] y) {{
        {convolution("x", "a", "w1")}
        c1 = Cast <to = 2> (a)
        {convolution("x", "b", "w2")}
        c2 = Cast <to = 2> (b)
        c = Concat <axis = 1> (c1, c2)
        y = MaxPool <kernel_shape = [2,2], strides = [2,2], pads = [0,0,0,0], dilations = [1,1],
                     ceil_mode = 0> (c) }}"""
    model = model_of(text, {"w1": weights(4, 3, 3, 3), "w2": weights(3, 3, 3, 3)})
    result = converted(model, accelerated)
    assert ops(result).count("Transpose") == 2
    assert "match.nhwc::MaxPool" in ops(result)
    (concat,) = (node for node in result.graph.nodes if node.op == "Concat")
    assert concat.attrs["axis"] == 3


def test_transposes_that_move_only_ones_are_reshapes(model_of, accelerated):
    text = f"""g (uint8[1,1,8,8] x) => (int32[1,4] y) {{
        {convolution("x", "a", "w1", "0,0,0,0")}
        b = Cast <to = 2> (a)
        c = ConvInteger <pads = [0,0,0,0], strides = [1,1], dilations = [1,1], group = 4, kernel_shape = [6,6]> (b, w2)
        y = Reshape (c, shape) }}"""
    model = model_of(text, {"w1": weights(4, 1, 3, 3), "w2": weights(4, 1, 6, 6), "shape": np.array([1, 4])})
    result = converted(model, accelerated)
    assert "Transpose" not in ops(result)


def test_a_reshape_that_reads_pixels_gets_them_in_order(model_of, accelerated):
    text = f"""g (uint8[1,3,4,4] x) => (int32[1,64] y) {{ {convolution("x", "a", "w")} y = Reshape (a, shape) }}"""
    result = converted(model_of(text, {"w": weights(4, 3, 3, 3), "shape": np.array([1, 64])}), accelerated)
    assert ops(result).count("Transpose") == 2


def test_operators_that_know_axes_read_nchw(model_of, accelerated):
    text = f"""g (uint8[1,3,4,4] x) => (float[1,4,4,4] y) {{
        {convolution("x", "a", "w")} f = Cast <to = 1> (a)  y = CumSum (f, one) }}"""
    result = converted(model_of(text, {"w": weights(4, 3, 3, 3), "one": np.array(1)}), accelerated)
    assert "CumSum" in ops(result)


@pytest.mark.parametrize(
    ("attributes", "moves"),
    [
        ('mode = "nearest"', True),
        ('mode = "linear", coordinate_transformation_mode = "asymmetric"', True),
        ('mode = "linear", antialias = 1', False),
        ('mode = "cubic"', False),
    ],
)
@pytest.mark.parametrize("axes", ["", ", axes = [3, 2]"])
def test_planes_are_scaled_with_channels_behind(model_of, accelerated, attributes, moves, axes):
    text = f"""g (uint8[1,3,6,6] x) => (int32[1,5,9,12] y) {{
        {convolution("x", "a", "w1")}
        f = Cast <to = 1> (a)
        r = Resize <{attributes}{axes}> (f, , scales)
        b = Cast <to = 2> (r)
        {convolution("b", "y", "w2")} }}"""
    scales = np.array([2, 1.5] if axes else [1, 1, 1.5, 2], np.float32)
    model = model_of(text, {"w1": weights(4, 3, 3, 3), "w2": weights(5, 4, 3, 3), "scales": scales})
    result = converted(model, accelerated)
    assert ops(result).count("Transpose") == (2 if moves else 4)
    (resize,) = (node for node in result.graph.nodes if node.op == "Resize")
    assert list(resize.attrs.get("axes", [])) == (
        ([2, 1] if axes else [0, 3, 1, 2]) if moves else [3, 2] if axes else []
    )


def test_per_channel_quantisers_are_not_moved(model_of, accelerated):
    text = f"""g (uint8[1,3,4,4] x) => (int8[1,4,4,4] y) {{
        {convolution("x", "a", "w")} f = Cast <to = 1> (a)
        y = QuantizeLinear <axis = 1> (f, s, z) }}"""
    constants = {"w": weights(4, 3, 3, 3), "s": RANDOM.random(4, np.float32) * 99 + 1, "z": np.zeros(4, np.int8)}
    converted(model_of(text, constants), accelerated)


def test_convolutions_with_zero_points_are_left_alone(model_of, accelerated):
    text = """g (uint8[1,3,4,4] x) => (int32[1,4,2,2] y) { y = ConvInteger <kernel_shape = [3,3]> (x, w, z) }"""
    result = converted(model_of(text, {"w": weights(4, 3, 3, 3), "z": np.uint8(3)}), accelerated)
    assert ops(result) == ["ConvInteger"]


def test_layout_keeps_every_bit_of_the_networks(shared, accelerated):
    for name, transposes in (
        ("mlperf_resnet8_int8_qdq", 1),
        ("mlperf_dscnn_int8_qdq", 0),
        ("mlperf_mobilenetv1_025_int8_qdq", 1),
        ("mlperf_autoencoder_int8_qdq", 0),
    ):
        model, samples = shared(name)
        passes = core_passes(accelerated.soc, accelerated.units)
        before = run_passes(model, [p for p in passes if p.phase < Phase.LAYOUT], accelerated)
        after = run_passes(
            before, [p for p in passes if p.phase >= Phase.LAYOUT], accelerated, [VerifyPass(samples[0])]
        )
        assert ops(after).count("Transpose") == transposes, name
        assert "ConvInteger" not in ops(after)
        inner = [node for node in after.graph.nodes if node.op == "Transpose"]
        assert all(node.inputs[0].inputs[0].op == "OffsetI8ToU8" for node in inner), "only the input is transposed"
        first, second = ReferenceRunner(before), ReferenceRunner(after)
        for sample in samples[:5]:
            for expected, got in zip(first.run(sample).values(), second.run(sample).values(), strict=True):
                assert np.array_equal(expected, got)


def half_text(conv: str) -> str:
    return f"""g (float16[1,3,8,8] x) => (float16[1,4,4,4] y) {{
        c = Conv <pads = [1,1,1,1], strides = [1,1], dilations = [1,1], group = 1, kernel_shape = [3,3]> ({conv})
        m = Mul (c, scale)  a = Add (m, shift)  r = Relu (a)  t = Add (r, c)
        p = MaxPool <kernel_shape = [2,2], strides = [1,1], pads = [0,0,1,1], dilations = [1,1], ceil_mode = 0> (t)
        y = AveragePool <kernel_shape = [2,2], strides = [2,2], pads = [0,0,0,0], dilations = [1,1], ceil_mode = 0,
                         count_include_pad = 0> (p) }}"""


def half_constants():
    channel = {name: RANDOM.normal(0, 1, (1, 4, 1, 1)).astype(np.float16) for name in ("scale", "shift")}
    return {"w": RANDOM.normal(0, 1, (4, 3, 3, 3)).astype(np.float16), "b": np.ones(4, np.float16), **channel}


@pytest.mark.parametrize("inputs", ["x, w", "x, w, b"])
def test_float16_moves_with_its_channel_constants(model_of, halves, inputs):
    result = converted(model_of(half_text(inputs), half_constants()), halves)
    names = ops(result)
    assert names.count("Transpose") == 2
    assert {"match.nhwc::Conv", "match.nhwc::MaxPool", "match.nhwc::AveragePool"} <= set(names)
    for op in ("Mul", "Add"):
        node = next(node for node in result.graph.nodes if node.op == op)
        assert node.inputs[1].shape == (1, 1, 1, 4)


def test_types_that_no_unit_takes_stay(model_of, halves, accelerated, host_only):
    half, integer = (
        model_of(half_text("x, w"), half_constants()),
        model_of(
            f"""g (uint8[1,3,4,4] x) => (int32[1,4,4,4] y) {{ {convolution("x", "y", "w")} }}""",
            {"w": weights(4, 3, 3, 3)},
        ),
    )
    assert not any(op.startswith("match.nhwc") for op in ops(converted(half, accelerated)))
    assert not any(op.startswith("match.nhwc") for op in ops(converted(integer, halves)))
    assert any(op.startswith("match.nhwc") for op in ops(converted(integer, accelerated)))
    assert ops(converted(half, host_only)) == ops(half)


def test_transposes_of_the_model_meet_those_of_the_pass(model_of, halves):
    """What a model computes in NHWC by itself needs no transposes next to convolutions."""
    geometry = "pads = [1,1,1,1], strides = [1,1], dilations = [1,1], group = 1, kernel_shape = [3,3]"
    text = f"""g (float16[1,8,8,3] x) => (float16[1,8,8,3] y) {{
        n = Transpose <perm = [0,3,1,2]> (x)
        c = Conv <{geometry}> (n, w)
        l = Transpose <perm = [0,2,3,1]> (c)
        s = Softmax <axis = -1> (l)
        b = Transpose <perm = [0,3,1,2]> (s)
        m = Mul (scale, b)  d = Conv <{geometry}> (m, w)
        y = Transpose <perm = [0,2,3,1]> (d) }}"""
    constants = {
        "w": RANDOM.normal(0, 1, (3, 3, 3, 3)).astype(np.float16),
        "scale": RANDOM.normal(0, 1, (3, 1, 1)).astype(np.float16),
    }
    result = run_passes(model_of(text, constants), (NHWC_LAYOUT, CLEAN_UP), halves, [VerifyPass()])
    assert ops(result) == ["match.nhwc::Conv", "Softmax", "Mul", "match.nhwc::Conv"]


@pytest.mark.parametrize("name", ["matcha_resnet8_f16", "matcha_convnext_block_f16", "matcha_mobilenet_f16"])
def test_float16_networks_keep_every_bit(shared, halves, name):
    model, samples = shared(name)
    passes = core_passes(halves.soc, halves.units)
    before = run_passes(model, [p for p in passes if p.phase < Phase.LAYOUT], halves)
    after = run_passes(before, [p for p in passes if p.phase >= Phase.LAYOUT], halves)
    assert sum(op == "Transpose" for op in ops(after)) <= 2
    assert not {"Conv", "MaxPool", "AveragePool"} & set(ops(after))
    for sample in samples[:1]:
        expected, got = ReferenceRunner(before).run(sample), ReferenceRunner(after).run(sample)
        for key, values in expected.items():
            np.testing.assert_array_equal(got[key], values)


@pytest.mark.parametrize("axes", [(1, 2, 3), (-1, 1, 2)])
def test_a_slice_between_convolutions_is_one_of_channels_behind(model_of, accelerated, axes):
    text = f"""g (uint8[1,3,8,8] x) => (int32[1,5,5,3] y) {{
        {convolution("x", "a", "w1")}
        b = Cast <to = 2> (a)  s = Slice (b, starts, ends, axes, steps)
        {convolution("s", "y", "w2")} }}"""
    sizes = {1: (1, 4, 1), 2: (0, 5, 1), 3: (1, 7, 2), -1: (1, 7, 2)}
    starts, ends, steps = (np.array([sizes[axis][part] for axis in axes]) for part in range(3))
    constants = {"starts": starts, "ends": ends, "steps": steps, "axes": np.array(axes)}
    constants |= {"w1": weights(4, 3, 3, 3), "w2": weights(5, 3, 3, 3)}
    result = converted(model_of(text, constants), accelerated)
    assert ops(result).count("Transpose") == 2
    (part,) = (node for node in result.graph.nodes if node.op == "Slice")
    assert part.inputs[3].values.tolist() == [{1: 3, 2: 1, 3: 2, -1: 2}[axis] for axis in axes]
