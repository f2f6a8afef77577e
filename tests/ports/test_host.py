"""Programs for the host alone on one bare RISC-V hart of QEMU: the bits of x86."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ports.qemu_virt.build import Options, Width, build
from ports.qemu_virt.machine import Result, run
from ports.qemu_virt.parts import parts_of
from tests.end_to_end.models import QdqBuilder


def _integer(path: Path) -> Path:
    """Convolutions of all kinds and a pooling, between 8-bit tensors."""
    builder = QdqBuilder(11, 3, 12, 12).conv(8, 3).conv(8, 3, group=8).conv(12, 1).max_pool(2, 2).conv(4, 3, stride=2)
    return builder.save(path)


def _float(path: Path) -> Path:
    """A convolution, a mean, a dense layer and a softmax in float32."""
    random = np.random.default_rng(12)
    constants = {"w": (6, 3, 3, 3), "b": (6,), "d": (6, 5)}
    nodes = [
        helper.make_node("Conv", ["input", "w", "b"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["m"]),
        helper.make_node("Flatten", ["m"], ["f"]),
        helper.make_node("MatMul", ["f", "d"], ["s"]),
        helper.make_node("Softmax", ["s"], ["output"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "floats",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 12, 12])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 5])],
        [
            numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)
            for name, shape in constants.items()
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def _inputs(form: str) -> dict[str, NDArray[np.generic]]:
    random = np.random.default_rng(13)
    if form == "int8":
        return {"input": random.integers(-128, 128, (2, 1, 3, 12, 12)).astype(np.int8)}
    return {"input": random.standard_normal((2, 1, 3, 12, 12)).astype(np.float32)}


@pytest.mark.parametrize("width", [64, 32])
@pytest.mark.parametrize("form", ["int8", "f32"])
def test_outputs_are_those_of_x86(form: str, width: Width, tmp_path: Path) -> None:
    """With gcc's strongest optimisation; products and sums are not contracted on either side."""
    model = (_integer if form == "int8" else _float)(tmp_path / "net.onnx")
    compile_model(CompileRequest(model, "host", tmp_path / "net", cache=False), Plugins.load())
    inputs = _inputs(form)
    image = build(tmp_path / "net", inputs, tmp_path / "work", Options(width=width, flags=("-O3",)))
    first, again = run(image, counted=True), run(image, counted=True)
    expected = run_program(tmp_path / "net", inputs, Plugins.load()).outputs
    _check(first, expected)
    assert first.run_instructions == again.run_instructions and min(first.run_instructions) > 1000
    assert image.harts == 1 and "program" in image.text_bytes


def _check(result: Result, expected: Mapping[str, NDArray[np.generic]]) -> None:
    assert result.status == "NET_OK" and result.exit_status == 0, result.console[-500:]
    assert set(result.outputs) == set(expected)
    for name, values in expected.items():
        assert len(np.unique(values)) > 2, "a network that gives nothing proves nothing"
        assert result.outputs[name].tobytes() == values.tobytes(), name


def test_programs_with_other_units_are_refused(tmp_path: Path) -> None:
    nodes = [{"unit": "host", "emitted": True}, {"unit": "npu", "emitted": True}, {"unit": "dsp", "emitted": False}]
    with pytest.raises(ValueError, match=r"chip: the port has nothing for npu$"):
        parts_of({"target": "chip", "nodes": nodes}, tmp_path)
