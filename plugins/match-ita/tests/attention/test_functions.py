"""The bodies of ITA's operators in ONNX Runtime against the golden model."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core import Model
from match_core.ir.editor import Editor
from match_ita.arithmetic import GeluConstants, RequantStep, gelu
from match_ita.functions import ATTENTION, GELU, function_protos
from match_verify.reference import ReferenceRunner

from tests.ita_arithmetic import attention, itamax


def _divisor(step: RequantStep) -> list[int]:
    """M, B and D of a requantisation."""
    divisor = 1 << step.shift
    return [step.multiplier, (divisor >> 1) + step.add * divisor, divisor]


def _model(
    op: str, tensors: dict[str, np.ndarray], constants: list[int], shape: tuple[int, ...], **attrs: int
) -> ReferenceRunner:
    graph = gs.Graph(inputs=[gs.Variable(n, t.dtype, t.shape) for n, t in tensors.items()], opset=21)
    editor = Editor(Model("m", graph))
    inputs = [
        *editor.graph.inputs,
        *(editor.constant(f"c{i}", np.array(v, np.int64)) for i, v in enumerate(constants)),
    ]
    editor.define(function_protos())
    output = editor.node(op, inputs, np.int8, shape, name="y", origin=("y",), attrs=attrs)
    editor.graph.outputs = [output]
    model = editor.finish()
    proto = model.to_onnx()
    assert [f.name for f in proto.functions] == [op.split("::")[1]]  # the one that is not called is left out
    onnx.checker.check_model(proto)
    return ReferenceRunner(model)


def _run(runner: ReferenceRunner, tensors: dict[str, np.ndarray]) -> np.ndarray:
    return runner.run(tensors)[runner.output_names[0]]


@pytest.mark.parametrize(
    ("rows", "columns", "heads", "shift", "numerator", "group"),
    [
        (1, 1, 1, 0, 65280, 16),
        (5, 241, 3, 0, 65280, 16),
        (64, 128, 1, 5, 127 * 256, 16),
        (3, 130, 2, 5, 65280, 192),
        (3, 960, 1, 0, 65280, 16),
        (512, 512, 6, 0, 65280, 16),
    ],
)
@pytest.mark.parametrize("width", [4, 127])
def test_attention(rows: int, columns: int, heads: int, shift: int, numerator: int, group: int, width: int) -> None:
    random = np.random.default_rng(rows + columns + width)
    padded = -(-columns // 64) * 64
    shapes = {"q": (rows, heads * 64), "k": (columns, heads * 64), "vt": (heads * 64, padded)}
    tensors = {name: random.integers(-width, width + 1, shape).astype(np.int8) for name, shape in shapes.items()}
    qk, av = RequantStep(77, 19 if width > 100 else 9, 3), RequantStep(200, 14, -5)
    constants = [*_divisor(qk), numerator, *_divisor(av)]
    runner = _model(ATTENTION, tensors, constants, shapes["q"], heads=heads, shift=shift, group=group)
    expected = attention(*tensors.values(), qk, av, heads, shift, numerator, group)
    assert np.count_nonzero(expected) > expected.size // 2
    np.testing.assert_array_equal(_run(runner, tensors), expected)


def test_flat_rows_of_256_columns_have_no_weights() -> None:
    flat = np.zeros((1, 256), np.int8)
    assert itamax(flat, 0, 65280).max() == 0
    assert itamax(flat[:, :240], 0, 65280).min() == 1  # 255 / 240
    tensors = {
        "q": np.zeros((2, 64), np.int8),
        "k": np.zeros((256, 64), np.int8),
        "vt": np.full((64, 256), 100, np.int8),
    }
    constants = [*_divisor(RequantStep(1, 0)), 65280, *_divisor(RequantStep(1, 8, 7))]
    runner = _model(ATTENTION, tensors, constants, (2, 64), heads=1, shift=0, group=16)
    assert np.all(_run(runner, tensors) == 7)  # nothing but the offset


@settings(max_examples=30, deadline=None)
@given(
    b=st.integers(-(1 << 15), -1),
    c=st.integers(-(1 << 15), -1),
    step=st.builds(RequantStep, st.integers(0, 255), st.integers(0, 33), st.integers(-128, 127)),
)
def test_gelu(b: int, c: int, step: RequantStep) -> None:
    x = {"x": np.arange(-128, 128).astype(np.int8)}
    runner = _model(GELU, x, [b, c, *_divisor(step)], (256,))
    np.testing.assert_array_equal(_run(runner, x), gelu(x["x"], GeluConstants(b, c, step)))
