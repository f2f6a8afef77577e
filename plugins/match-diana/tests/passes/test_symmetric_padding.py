"""Kernels with zero taps: the same results, bit for bit."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from diana_forms import layers
from diana_pass_models import SYMMETRIC_PADDING, Ints, context, random_int8, results
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from match_core import Model
from match_core.contract.model import OPSET
from match_core.ir.editor import Editor
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import constant
from match_diana.digital.limits import KERNEL_SIDES
from match_quant.powers.kernels import Side, widened

from tests.examples import examples


def convolution(
    size: tuple[int, int],
    kernel: tuple[int, int],
    stride: int,
    pads: tuple[int, int, int, int],
    group: int = 1,
    multiplier: int = 1,
    dilation: int = 1,
) -> Model:
    """ConvInteger of 4 channels and RequantI8."""
    x = gs.Variable("x", np.dtype(np.int8), [1, 4, *size])
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    editor = Editor(Model("m", gs.Graph(nodes=[], inputs=[x], outputs=[], opset=OPSET, import_domains=opsets)))
    weight: Ints = np.random.default_rng(3).integers(-127, 128, (4, 4 // group, *kernel))
    attrs = {
        "kernel_shape": list(kernel),
        "strides": [stride] * 2,
        "dilations": [dilation] * 2,
        "pads": list(pads),
        "group": group,
    }
    shape = [
        (n + pads[axis] + pads[axis + 2] - dilation * (k - 1) - 1) // stride + 1
        for axis, (n, k) in enumerate(zip(size, kernel, strict=True))
    ]
    assert min(shape) > 0
    acc = editor.node(
        "ConvInteger",
        [editor.graph.inputs[0], editor.constant("w", weight.astype(np.int8))],
        np.int32,
        (1, 4, *shape),
        name="conv",
        origin=("conv",),
        attrs=attrs,
    )
    given = [editor.constant(f"c{i}", np.array(v, np.int64)) for i, v in enumerate((multiplier, 9, 1 << 9, -128, 127))]
    y = editor.node("match.arith::RequantI8", [acc, *given], np.int8, (1, 4, *shape), name="r", origin=("conv",))
    editor.graph.outputs = [y]
    return editor.finish()


@settings(max_examples=examples(60), deadline=None)
@given(
    size=st.tuples(st.integers(5, 12), st.integers(5, 12)),
    kernel=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    stride=st.sampled_from([1, 2]),
    pads=st.tuples(*[st.integers(0, 3)] * 4),
    depthwise=st.booleans(),
)
def test_results_keep_every_bit(
    size: tuple[int, int],
    kernel: tuple[int, int],
    stride: int,
    pads: tuple[int, int, int, int],
    depthwise: bool,
) -> None:
    assume(all(n + pads[a] + pads[a + 2] >= kernel[a] for a, n in enumerate(size)))
    model = convolution(size, kernel, stride, pads, group=4 if depthwise else 1)
    after = SYMMETRIC_PADDING.run(model, context())
    x = random_int8(1, 1, 4, *size)
    np.testing.assert_array_equal(results(after, x=x), results(model, x=x))
    sides = [widened(Side(size[a], kernel[a], stride, *pads[a::2]), KERNEL_SIDES, leading=a == 1) for a in (0, 1)]
    if all(side is not None for side in sides):
        assert layers(after)[0].lacks == ""
    else:
        assert after is model


def test_the_padding_of_tensorflow() -> None:
    """Side 3, stride 2, paddings 0 and 1: side 5, padding 2, along rows only; columns have both paddings."""
    after = SYMMETRIC_PADDING.run(convolution((8, 8), (3, 3), 2, (0, 0, 1, 1)), context())
    (conv,) = [node for node in after.graph.nodes if node.op == "ConvInteger"]
    geometry = conv_geometry(conv)
    assert geometry.kernel == (3, 5) and geometry.pads == (0, 2, 1, 2)
    weight = np.asarray(constant(conv.inputs[1]))
    before = np.asarray(constant(convolution((8, 8), (3, 3), 2, (0, 0, 1, 1)).graph.nodes[0].inputs[1]))
    assert not weight[..., :2].any()
    np.testing.assert_array_equal(weight[..., 2:], before)


@pytest.mark.parametrize(
    "model",
    [
        convolution((8, 8), (3, 3), 1, (1, 1, 1, 1)),
        convolution((8, 8), (5, 3), 2, (0, 1, 3, 1)),
        convolution((8, 8), (3, 3), 2, (0, 0, 1, 1), group=2),
        convolution((8, 8), (3, 3), 2, (0, 0, 1, 1), multiplier=3),
        convolution((9, 9), (3, 3), 2, (0, 0, 1, 1), dilation=2),
        convolution((12, 12), (3, 3), 3, (0, 0, 1, 1)),
        convolution((12, 12), (3, 10), 1, (1, 4, 1, 5)),
    ],
)
def test_what_the_array_has_or_can_not_have_stays(model: Model) -> None:
    assert SYMMETRIC_PADDING.run(model, context()) is model


@given(
    size=st.integers(1, 40),
    kernel=st.integers(1, 7),
    stride=st.sampled_from([1, 2]),
    begin=st.integers(0, 6),
    end=st.integers(0, 6),
    leading=st.booleans(),
)
def test_windows_start_where_they_did(size: int, kernel: int, stride: int, begin: int, end: int, leading: bool) -> None:
    side = Side(size, kernel, stride, begin, end)
    assume(side.outputs > 0 and size + begin + end >= kernel)
    found = widened(side, KERNEL_SIDES, leading)
    exists = [
        (before, wide.kernel)
        for wide in (
            Side(size, k, stride, begin + before, e) for k in (1, 3, 5, 7) for before in range(8) for e in range(7)
        )
        for before in (wide.begin - begin,)
        if before + kernel <= wide.kernel and wide.outputs == side.outputs
        if max(wide.begin, wide.end) < wide.kernel and (wide.end <= wide.begin or not leading)
    ]
    assert (found is None) == (not exists)
    if found is None:
        return
    wide = found.side
    assert wide.kernel == min(sides for _, sides in exists) == kernel + found.before + found.after
    assert wide.begin - found.before == begin and wide.outputs == side.outputs
    assert max(wide.begin, wide.end) < wide.kernel and (wide.end <= wide.begin or not leading)
