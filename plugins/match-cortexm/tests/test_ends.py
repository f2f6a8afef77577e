"""Quantisation without an FPU: the thresholds of all results, and the kernels' bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from match_core.contract.runner import Place
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_cortexm.kernels.ends import least_numbers
from match_cortexm.kernels.scalar import number_lines

from benchmarks.breadth_models import MADE

from .test_kernels import emulator, needs_emulator

SCALES = [(0.0039, -128, "int8"), (0.1234, 7, "int8"), (1.0, 0, "uint8"), (1e-38, 3, "int8"), (3e38, 200, "uint8")]
WITHOUT_FPU = ("rp2040", "cortex_m3_mps2")


def _numbers(scale: float) -> np.ndarray:
    """Random numbers of all sizes, those around borders between results, zeros, infinities, and no numbers."""
    random = np.random.default_rng(7)
    halves = (np.arange(-300, 300) + np.float32(0.5)).astype(np.float32) * np.float32(scale)
    any_bits = random.integers(0, 1 << 32, 2000, dtype=np.uint32).view(np.float32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45], np.float32)
    near = [np.nextafter(halves, np.float32(end)) for end in (-np.inf, np.inf)]
    return np.concatenate([halves, *near, any_bits, special, np.zeros(-(3 * len(halves) + 8) % 8, np.float32)])


def _quantised(numbers: np.ndarray, scale: float, zero: int, dtype: str) -> np.ndarray:
    """Saturated before it is rounded; what is no number gives the lowest result."""
    limits = np.iinfo(dtype)
    quotient = numbers / np.float32(scale)
    held = np.where(
        quotient > limits.min - zero, np.minimum(quotient, np.float32(limits.max - zero)), limits.min - zero
    )
    return (np.rint(held).astype(np.int64) + zero).astype(dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("scale", "zero", "dtype"), SCALES)
def test_thresholds_give_the_results_of_the_division(scale: float, zero: int, dtype: str) -> None:
    numbers = _numbers(scale)
    bits = numbers.view(np.int32).astype(np.int64)
    keys = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    least = least_numbers(np.float32(scale), zero, np.iinfo(dtype).min)
    places = np.searchsorted(least[1:], keys, side="right")
    places[keys > 0x7F800000] = 0
    assert np.array_equal(places + np.iinfo(dtype).min, _quantised(numbers, scale, zero, dtype))


def _run(target: str, folder: Path, scale: float, zero: int, dtype: str, place: Place | None) -> None:
    numbers = _numbers(scale)
    text = f"""<ir_version: 10, opset_import: ["" : 21]>
        g (float[1,{len(numbers)}] x, {dtype}[1,8,32] b) => ({dtype}[1,{len(numbers)}] q, float[1,8,32] f)
        {{ q = QuantizeLinear (x, s, z)  f = DequantizeLinear (b, s, z) }}"""
    model = onnx.parser.parse_model(text)
    values = {"s": np.float32(scale), "z": np.array(zero, dtype)}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in values.items()
    )
    onnx.save(model, folder / "ends.onnx")
    plugins = Plugins.load()
    request = CompileRequest(folder / "ends.onnx", target, folder / "out", name="ends", cache=False)
    tasks = compile_model(request, plugins).compilation.program.tasks
    own = ("cortexm_", "") if target in WITHOUT_FPU else ("host_", "_linear")
    # Without a division, M0+ compares for longer.
    first = "host_quantize_linear" if (scale, target) == (1, "rp2040") else f"{own[0]}quantize{own[1]}"
    assert {task.assignment.candidate.pattern.name for task in tasks} == {first, f"{own[0]}dequantize{own[1]}"}
    bytes_ = np.arange(256).astype(np.uint8).view(dtype).reshape(1, 8, 32)
    inputs = {"x": numbers[None, None], "b": bytes_[None]}
    outputs = run_program(folder / "out", inputs, plugins, place=place).outputs
    assert np.array_equal(outputs["q"].reshape(-1), _quantised(numbers, scale, zero, dtype))
    wanted = (bytes_.astype(np.int64) - zero).astype(np.float32) * np.float32(scale)
    assert np.array_equal(outputs["f"].reshape(-1).view(np.int32), wanted.reshape(-1).view(np.int32))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("scale", "zero", "dtype"), SCALES)
def test_on_the_twin(scale: float, zero: int, dtype: str, tmp_path: Path) -> None:
    _run("rp2040", tmp_path, scale, zero, dtype, None)


@needs_emulator
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("place", [1, 2])
@pytest.mark.parametrize("target", [*WITHOUT_FPU, "stm32l4r5", "corstone300"])
def test_on_the_emulator(target: str, place: int, tmp_path: Path) -> None:
    _run(target, tmp_path, *SCALES[place], emulator())


@pytest.mark.parametrize(
    ("wide", "value", "lines"),
    [
        (True, 0x12345, ["movw r2, #9029", "movt r2, #1"]),
        (True, 640, ["movw r2, #640"]),
        (False, 640, ["movs r2, #2", "lsls r2, r2, #8", "adds r2, #128"]),
        (False, 0, ["movs r2, #0"]),
    ],
)
def test_registers_are_set_to_numbers(wide: bool, value: int, lines: list[str]) -> None:
    assert number_lines(wide, "r2", value) == lines


def test_computed_scales_are_left_to_the_host(tmp_path: Path) -> None:
    """DynamicQuantizeLinear is a QuantizeLinear whose scale the network computes."""
    onnx.save(MADE["ConvInteger, dynamic"](), tmp_path / "net.onnx")
    request = CompileRequest(model=tmp_path / "net.onnx", target="rp2040", output=tmp_path / "out", name="net")
    program = compile_model(request, Plugins.load()).compilation.program
    kinds = [task.assignment.candidate.workload.kind for task in program.tasks]
    assert "cortexm_quantize" not in kinds and "host_quantize_linear" in kinds
