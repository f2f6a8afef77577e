"""The passes before the kernels of bytes: same results, other operators."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core.contract.model import OPSET, Model
from match_core.contract.passes import PassContext
from match_core.ir.editor import Editor
from match_gap9 import split_slices, transposed_bytes
from match_gap9.hardware import hardware
from match_verify.reference import ReferenceRunner


def _editor(dtype: type[np.generic]) -> tuple[Editor, PassContext]:
    x = gs.Variable("x", np.dtype(dtype), [1, 6, 3, 4])
    domains = [onnx.helper.make_opsetid("", OPSET)]
    graph = gs.Graph(nodes=[], inputs=[x], outputs=[], opset=OPSET, import_domains=domains)
    chip = hardware()
    return Editor(Model("m", graph)), PassContext(chip.socs[0], chip.units)


def _same(before: Model, after: Model, x: np.ndarray) -> None:
    expected, got = (ReferenceRunner(model).run({"x": x}) for model in (before, after))
    assert list(got) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(got[name], values)


def test_a_split_of_bytes_becomes_slices() -> None:
    editor, context = _editor(np.uint8)
    sizes = editor.constant("sizes", np.array([1, 3, 2], np.int64))
    parts = [editor.variable(f"part{n}", np.dtype(np.uint8), [1, n, 3, 4]) for n in (1, 3, 2)]
    inputs = [editor.graph.inputs[0], sizes]
    editor.add("Split", inputs, parts, name="split", origin=("split",), attrs={"axis": -3})
    editor.graph.outputs = parts
    before = editor.finish()
    after = split_slices.run(before, context)
    assert [node.op for node in after.graph.nodes] == ["Slice"] * 3
    assert [node.op for node in before.graph.nodes] == ["Split"]
    _same(before, after, np.arange(72, dtype=np.uint8).reshape(1, 6, 3, 4))


def test_a_split_of_floats_stays() -> None:
    editor, context = _editor(np.float32)
    parts = [editor.variable(f"half{n}", np.dtype(np.float32), [1, 3, 3, 4]) for n in range(2)]
    editor.add(
        "Split", [editor.graph.inputs[0]], parts, name="split", origin=("split",), attrs={"axis": 1, "num_outputs": 2}
    )
    editor.graph.outputs = parts
    assert [node.op for node in split_slices.run(editor.finish(), context).graph.nodes] == ["Split"]


def _turned(scale: np.ndarray) -> tuple[Model, PassContext]:
    editor, context = _editor(np.int8)
    numbers = [editor.constant("scale", scale), editor.constant("zero", np.full(scale.shape, 3, np.int8))]
    real = editor.node(
        "DequantizeLinear", [editor.graph.inputs[0], *numbers], np.float32, [1, 6, 3, 4], name="real", origin=("real",),
        attrs={"axis": 1},
    )  # fmt: skip
    perm = {"perm": [0, 2, 3, 1]}
    turned = editor.node("Transpose", [real], np.float32, [1, 3, 4, 6], name="turn", origin=("turn",), attrs=perm)
    editor.graph.outputs = [turned]
    return editor.finish(), context


def test_bytes_are_transposed_before_they_become_floats() -> None:
    before, context = _turned(np.array(0.25, np.float32))
    after = transposed_bytes.run(before, context)
    assert [node.op for node in after.graph.nodes] == ["Transpose", "DequantizeLinear"]
    _same(before, after, np.arange(-36, 36, dtype=np.int8).reshape(1, 6, 3, 4))


def test_floats_with_a_scale_per_channel_are_transposed_as_before() -> None:
    before, context = _turned(np.full(6, 0.25, np.float32))
    assert [node.op for node in transposed_bytes.run(before, context).graph.nodes] == ["DequantizeLinear", "Transpose"]
