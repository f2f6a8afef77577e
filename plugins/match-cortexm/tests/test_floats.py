"""Floating-point kernels keep the bits of the host's, of the twin and of IEEE 754, whatever the numbers are: Helium's
vectors flush subnormal numbers, and answer NaN with another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.runner import RunResult
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_cortexm.kernels.floats import FPU, HELIUM
from match_cortexm.kernels.lanes import LaneWriter
from match_host.kernels.products.blocked import Tile
from numpy.typing import NDArray
from onnx import TensorProto, helper

from benchmarks.cortexm_made import KINDS
from benchmarks.cortexm_net import Net

from .test_kernels import emulator, needs_emulator

#: All of a test's inputs and outputs take more than an RP2040 has.
TARGETS = ("stm32l4r5", "corstone300", "cortex_m3_mps2")
Arrays = dict[str, NDArray[np.generic]]
Numbers = Callable[[NDArray[np.generic], np.random.Generator], NDArray[np.generic]]
#: Layers with kernels in vectors, and some without.
LAYERS = (
    "conv_3",
    "conv_add",
    "conv_image",
    "conv_compact",
    "pointwise",
    "depthwise",
    "depthwise_3",
    "dense",
    "classifier",
    "softmax",
    "add",
    "added",
    "relu",
    "mul",
    "scaled",
    "inner_max_pool",
    "inner_max_pool_2",
    "inner_average_pool",
    "whole_average_pool",
)


def _saved(folder: Path, inputs: dict[str, tuple[int, tuple[int, ...]]], op: str, element: int, **settings) -> Path:
    """One node."""
    values = [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()]
    result = helper.make_tensor_value_info("y", element, None)
    graph = helper.make_graph([helper.make_node(op, list(inputs), ["y"], **settings)], "one", values, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(onnx.shape_inference.infer_shapes(model), folder / "model.onnx")
    return folder / "model.onnx"


def _run(path: Path, target: str, arrays: Arrays, folder: Path, machine: str | None = None) -> RunResult:
    """The program for a target; ``machine``: on the emulator, else on the twin."""
    plugins, directory = Plugins.load(), folder / target
    compile_model(CompileRequest(model=path, target=target, output=directory, cache=False), plugins)
    place = None if machine is None else replace(emulator(), detail=machine)
    return run_program(directory, arrays, plugins, place=place)


def _bits(result: RunResult) -> dict[str, NDArray[np.generic]]:
    """Outputs as integers, all NaN as one."""
    found = {}
    for name, values in result.outputs.items():
        plain = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
        found[name] = plain.view(f"u{values.dtype.itemsize}")
    return found


def _ordinary(array: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.generic]:
    return array


def _subnormal(array: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.generic]:
    return (array * np.finfo(array.dtype).tiny * 0.01).astype(array.dtype)


def _tiny(array: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.generic]:
    """Normal numbers with subnormal products or sums."""
    return (array * np.finfo(array.dtype).tiny * 4).astype(array.dtype)


def _special(array: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.generic]:
    """Some NaN, infinities, zeros of both signs and the largest numbers."""
    most = np.finfo(array.dtype).max
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, most, -most], array.dtype)
    return np.where(rng.uniform(size=array.shape) < 0.02, rng.choice(values, array.shape), array)


def _no_numbers(array: NDArray[np.generic], rng: np.random.Generator) -> NDArray[np.generic]:
    """Most are NaN, so that whole windows are."""
    return np.where(rng.uniform(size=array.shape) < 0.9, np.array(np.nan, array.dtype), array)


def _samples(net: Net, kinds: tuple[Numbers, ...]) -> Arrays:
    """One sample of each kind of numbers: one program runs them all."""
    arrays = net.arrays()
    return {name: np.concatenate([kind(array, net.rng) for kind in kinds]) for name, array in arrays.items()}


@needs_emulator
@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float16"])
@pytest.mark.parametrize("target", TARGETS)
def test_bits_are_those_of_the_host(target: str, wide: bool, tmp_path: Path):
    """Layers of random sizes, strides and padding."""
    net = Net(np.random.default_rng(3), False, wide)
    for kind in LAYERS:
        KINDS[kind](net)
    _same_on_all(net, target, (_ordinary, _subnormal, _tiny, _special, _no_numbers), tmp_path)


def _same_on_all(net: Net, target: str, kinds: tuple[Numbers, ...], folder: Path) -> None:
    """The twin and the emulator give the host's bits."""
    onnx.save(net.model(), folder / "model.onnx")
    arrays = _samples(net, kinds)
    expected = _bits(_run(folder / "model.onnx", "host", arrays, folder))
    for machine in (None, ""):
        found = _bits(_run(folder / "model.onnx", target, arrays, folder, machine))
        assert found.keys() == expected.keys() and found
        for name, values in expected.items():
            assert len(values) == len(kinds)
            for kind, one, other in zip(kinds, found[name], values, strict=True):
                np.testing.assert_array_equal(one, other, f"{name}, {kind.__name__}")


@needs_emulator
@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float16"])
@pytest.mark.parametrize("outputs", [2, 3, 5, 7, 13])
def test_outputs_that_do_not_fill_vectors(outputs: int, wide: bool, tmp_path: Path):
    net = Net(np.random.default_rng(outputs), False, wide)
    for activated in (False, True):
        bias = net.constant(net.rng.normal(0, 1, outputs))
        y = net.add("Gemm", net.source(3, 19), net.weight(outputs, 19), bias, transB=1)
        net.result(net.add("Relu", y) if activated else y)
    for groups in (1, 2):
        weight, bias = net.weight(groups * outputs, 3, 3, 3), net.constant(net.rng.normal(0, 1, groups * outputs))
        net.result(net.add("Conv", net.source(1, 3 * groups, 5, 6), weight, bias, pads=[1] * 4, group=groups))
    _same_on_all(net, "corstone300", (_ordinary, _special), tmp_path)


@needs_emulator
def test_only_layers_with_subnormal_numbers_run_twice(tmp_path: Path):
    net = Net(np.random.default_rng(1), False)
    KINDS["pointwise"](net)
    onnx.save(net.model(), tmp_path / "model.onnx")
    arrays = net.arrays()
    counts = []
    for numbers in (_ordinary, _special, _subnormal):
        changed = {name: numbers(array, net.rng) for name, array in arrays.items()}
        counts.append(_run(tmp_path / "model.onnx", "corstone300", changed, tmp_path, "").cycles_total)
    assert counts[1] == pytest.approx(counts[0], rel=0.01) and counts[2] > 2 * counts[0]


@needs_emulator
@pytest.mark.parametrize(
    ("target", "machine"), [*((target, "") for target in (*TARGETS, "rp2040")), ("host", "mps3-an547")]
)
def test_sums_of_subnormal_numbers(target: str, machine: str, tmp_path: Path):
    """Compilers would turn the loop into vectors."""
    path = _saved(tmp_path, dict.fromkeys("ab", (TensorProto.FLOAT, (1, 64))), "Add", TensorProto.FLOAT)
    values = np.arange(1, 65, dtype=np.float32).reshape(1, 1, 64) * np.float32(1e-42)
    result = _run(path, target, {"a": values, "b": values}, tmp_path, machine)
    assert result.outputs["y"].tobytes() == (values + values).tobytes() and values.any()


@needs_emulator
@pytest.mark.parametrize(
    ("target", "machine"), [*((target, "") for target in TARGETS), ("stm32h743", ""), ("rp2350", "")]
)
def test_float16_conversions(target: str, machine: str, tmp_path: Path):
    """All float16 numbers, and float32 numbers of all kinds: near ties, subnormal, too large."""
    rng = np.random.default_rng(5)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(1, 1, -1)
    path = _saved(tmp_path, {"x": (TensorProto.FLOAT16, halves.shape[1:])}, "Cast", TensorProto.FLOAT, to=1)
    found = _bits(_run(path, target, {"x": halves}, tmp_path, ""))["y"]
    np.testing.assert_array_equal(found.reshape(-1), _canonical(halves.astype(np.float32)).view(np.uint32).reshape(-1))
    finite = halves[np.isfinite(halves)].astype(np.float32)
    least = np.float32(2.0) ** np.maximum(np.frexp(finite)[1] - 11, -24)  # of two neighbours
    ties = (finite + least.astype(np.float32) / 2).view(np.int32)
    near = np.concatenate([ties + change for change in (-1, 0, 1)]).view(np.float32)
    values = np.concatenate([rng.choice(near, 40_000), rng.integers(0, 1 << 32, 8_000, np.uint32).view(np.float32)])
    path = _saved(tmp_path, {"x": (TensorProto.FLOAT, (values.size,))}, "Cast", TensorProto.FLOAT16, to=10)
    found = _run(path, target, {"x": values.reshape(1, -1)}, tmp_path / "back", "").outputs["y"].view(np.uint16)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.where(np.isnan(values), np.uint16(0x7E00), values.astype(np.float16).view(np.uint16))
    np.testing.assert_array_equal(found.reshape(-1), expected)


def _canonical(values: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values)


def test_stored_float16_weights_have_no_subnormal_numbers():
    """All numbers below 128, as ``match_cortexm_half.h`` reads them."""
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    values = values[np.abs(values) < 128]
    assert LaneWriter.takes(values) and not LaneWriter.takes(np.array([128], np.float16))
    stored = LaneWriter.stored(values, Tile(2, 8, rows=True)).astype(np.uint32)
    bits = (stored & 0x8000) << 16 | (stored & 0x7FFF) << 13
    assert not ((bits & 0x7F800000 == 0) & (bits & 0x7FFFFF != 0)).any()
    np.testing.assert_array_equal(bits.view(np.float32) * np.float32(2.0**102), values.astype(np.float32))
    assert LaneWriter.stored(values, Tile(1, 1, rows=False)) is values
    assert LaneWriter.stored(np.ones((2, 3), np.float32), Tile(1, 3, rows=True)).tolist() == [[1, 1, 1, 0]] * 2


def test_which_weights_vectors_multiply():
    ordinary, subnormal = np.array([0.0, -1.5, np.inf, np.nan], np.float32), np.array([1.0, 1e-40], np.float32)
    assert LaneWriter.takes(ordinary) and not LaneWriter.takes(subnormal)
    assert not LaneWriter.takes(np.array([np.inf], np.float16)) and LaneWriter.takes(np.array([6e-8], np.float16))
    assert HELIUM.floats is not None and HELIUM.floats.floats == FPU.floats
