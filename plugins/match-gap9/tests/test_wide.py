"""64-bit requantisation through the whole compiler: bit-exact on every unit, cycles as predicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from match_core import CostModel, Pattern, Soc, Unit, Workload
from match_core.plugin.facade import Plugins
from match_gap9.constants import values
from match_gap9.ne16 import formulas as ne16_formulas
from match_gap9.wide import formulas as wide_formulas
from match_gap9.wide.patterns import WIDE_CLUSTER_PATTERNS, WIDE_NE16_PATTERNS
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

PUBLISHED = values("as-published")
NE16_NAMES = {pattern.name for pattern in WIDE_NE16_PATTERNS}
CLUSTER_NAMES = {pattern.name for pattern in WIDE_CLUSTER_PATTERNS}
WIDE_NAMES = NE16_NAMES | CLUSTER_NAMES


class DearHost:
    """A cost model that drives work away from the host, however small it is: also products that the host would compute
    together with a sum that is its own anyway."""

    def __init__(self, model: CostModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return self._model.kernel_cycles(workload, tile) + 10**5 * workload.macs

    def layer_cycles(self, workload: Workload) -> int:
        return self._model.layer_cycles(workload) + 10**7


class WideUnits:
    """The plugins, with units that claim 64-bit products: integerisation then chooses 31-bit multipliers."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugins, name)

    def cost(self, soc: Soc, unit: Unit, pattern: Pattern) -> CostModel:
        model = self._plugins.cost(soc, unit, pattern)
        return DearHost(model) if unit.name == soc.host else model

    def units_of(self, soc: Soc) -> tuple[Unit, ...]:
        return tuple(
            replace(unit, requant=replace(unit.requant, product_bits=64, shift_max=62)) if unit.requant else unit
            for unit in self._plugins.units_of(soc)
        )


@pytest.fixture(scope="module")
def wide() -> WideUnits:
    return WideUnits(Plugins.load())


class Net:
    """A chain of int8 QDQ layers with random per-channel weights; scales let results use their range."""

    def __init__(self, seed: int, channels: int, height: int, width: int, zero: int = -128) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape = self.input_shape = [1, channels, height, width]
        self.current, self.scale, self.zero, self.count = "input", 0.05, zero, 0

    def _add(self, op: str, inputs: list[Any], **attributes: Any) -> str:
        names = []
        for value in inputs:
            self.count += 1
            if not isinstance(value, str):
                self.constants.append(numpy_helper.from_array(value, f"c{self.count}"))
            names.append(value if isinstance(value, str) else f"c{self.count}")
        self.nodes.append(helper.make_node(op, names, [f"t{self.count}"], name=f"n{self.count}", **attributes))
        return f"t{self.count}"

    def _input(self) -> str:
        return self._add("DequantizeLinear", [self.current, np.float32(self.scale), np.int8(self.zero)])

    def _output(self, tensor: str, scale: float) -> None:
        self.scale, self.zero = float(np.float32(scale)), int(self.random.integers(-128, 100))
        self.current = self._add("QuantizeLinear", [tensor, np.float32(self.scale), np.int8(self.zero)])

    def _weights(self, shape: tuple[int, ...], axis: int, bits: int) -> tuple[str, str, float]:
        """Dequantised weights and bias, and a scale for the sums of their products."""
        channels = shape[axis]
        limit = 1 << (bits - 1)
        weight = self.random.integers(-limit, limit, shape).astype(np.int8)
        scale = (self.random.uniform(0.5, 1.5, channels) * 0.01).astype(np.float32)
        bias = self.random.integers(-3000, 3000, channels).astype(np.int32)
        zeros = np.zeros(channels, np.int8), np.zeros(channels, np.int32)
        w = self._add("DequantizeLinear", [weight, scale, zeros[0]], axis=axis)
        b = self._add("DequantizeLinear", [bias, scale * np.float32(self.scale), zeros[1]], axis=0)
        taps = weight.size // channels
        return w, b, 0.01 * self.scale * 73 * limit * 0.58 * np.sqrt(taps) / 60

    def conv(
        self,
        channels: int,
        kernel: tuple[int, int],
        stride: int = 1,
        pads: tuple[int, int, int, int] = (0, 0, 0, 0),
        group: int = 1,
        bits: int = 8,
    ) -> Net:
        x = self._input()
        w, b, scale = self._weights((channels, self.shape[1] // group, *kernel), 0, bits)
        sizes = {"kernel_shape": kernel, "strides": [stride] * 2, "pads": pads, "group": group}
        y = self._add("Conv", [x, w, b], **sizes)
        spans = (pads[0] + pads[2] - kernel[0], pads[1] + pads[3] - kernel[1])
        height, width = ((size + span) // stride + 1 for size, span in zip(self.shape[2:], spans, strict=True))
        self.shape = [1, channels, height, width]
        self._output(y, scale)
        return self

    def depthwise(
        self,
        kernel: tuple[int, int] = (3, 3),
        stride: int = 1,
        pads: tuple[int, int, int, int] = (1, 1, 1, 1),
        bits: int = 8,
    ) -> Net:
        return self.conv(self.shape[1], kernel, stride, pads, self.shape[1], bits)

    def average(self, kernel: int) -> Net:
        x = self._input()
        y = self._add("AveragePool", [x], kernel_shape=[kernel] * 2, strides=[kernel] * 2)
        self.shape = [*self.shape[:2], *(size // kernel for size in self.shape[2:])]
        self._output(y, self.scale * 0.7)
        return self

    def dense(self, features: int) -> Net:
        self.current = self._add("Flatten", [self.current], axis=1)
        x = self._input()
        w, b, scale = self._weights((int(np.prod(self.shape)), features), 1, 8)
        y = self._add("Gemm", [x, w, b])
        self.shape = [1, features]
        self._output(y, scale)
        return self

    def save(self, path: Path) -> Path:
        result = helper.make_tensor_value_info(self.current, TensorProto.INT8, self.shape)
        source = helper.make_tensor_value_info("input", TensorProto.INT8, self.input_shape)
        graph = helper.make_graph(self.nodes, "net", [source], [result], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path


ALL = (1, 1, 1, 1)
NETS: dict[str, tuple[Callable[[], Net], set[str], set[str]]] = {
    # name: (model, patterns that NE16 must run without the cluster, patterns of the cluster without NE16)
    "bands": (
        lambda: Net(1, 5, 20, 18).conv(32, (3, 3), pads=ALL).conv(33, (1, 1)).depthwise().dense(7),
        {"conv3x3_wide", "conv1x1_wide", "depthwise3x3_wide", "ne16_linear_wide"},
        {"conv2d_wide", "depthwise_wide", "linear_wide"},
    ),
    "padding_value": (
        lambda: (
            Net(2, 17, 11, 8, zero=17)
            .conv(13, (3, 3), pads=(1, 0, 1, 1))
            .depthwise(pads=(0, 1, 1, 0))
            .conv(6, (3, 3), pads=ALL)
        ),
        {"conv3x3_wide", "depthwise3x3_wide"},
        {"conv2d_wide", "depthwise_wide"},
    ),
    "stride_two": (
        lambda: (
            Net(3, 7, 13, 18, zero=-3)
            .conv(9, (3, 3), 2, ALL)
            .depthwise(stride=2, pads=(0, 0, 1, 1))
            .conv(11, (3, 3), 2, (0, 1, 1, 1))
            .conv(5, (1, 1), 2)
        ),
        {"conv3x3_wide", "depthwise3x3_wide", "conv1x1_wide"},
        {"conv2d_wide", "depthwise_wide"},
    ),
    "one_column": (
        # One output column or row with padding after it.
        lambda: Net(4, 4, 9, 2, zero=50).conv(8, (3, 3), 2, (1, 0, 1, 1)).depthwise(stride=2),
        {"conv3x3_wide", "depthwise3x3_wide"},
        {"conv2d_wide", "depthwise_wide"},
    ),
    "kernels": (
        # Windows with several rows and columns in the padding; pooling; row lengths that are no whole words.
        lambda: (
            Net(5, 3, 17, 12, zero=9)
            .conv(10, (5, 3), 1, (4, 2, 3, 1))
            .depthwise((2, 5), 1, (1, 3, 2, 4))
            .average(3)
            .conv(6, (4, 4), 2, (2, 0, 1, 3))
            .dense(10)
        ),
        set(),
        {"conv2d_wide", "depthwise_wide", "linear_wide"},
    ),
    "narrow_weights": (
        lambda: Net(6, 33, 9, 7).conv(40, (3, 3), pads=ALL, bits=2).conv(31, (1, 1), bits=3).depthwise(bits=5),
        {"conv3x3_wide", "conv1x1_wide", "depthwise3x3_wide"},
        {"conv2d_wide", "depthwise_wide"},
    ),
    "tiled": (
        lambda: Net(7, 32, 40, 40, zero=5).conv(64, (3, 3), pads=ALL).depthwise().conv(48, (1, 1)),
        {"conv3x3_wide", "conv1x1_wide", "depthwise3x3_wide"},
        {"conv2d_wide", "depthwise_wide"},
    ),
}
#: Units left out, and the twin's order of work.
RUNS = (((), "lazy"), (("ne16",), "eager"), (("ne16",), "lazy"), (("cluster",), "eager"), (("cluster",), "lazy"))


def _used(result: VerifyResult) -> set[str]:
    return {assignment.candidate.pattern.name for assignment in result.compilation.mapping.assignments}


@pytest.mark.parametrize("name", NETS)
def test_exact_on_every_unit_in_every_order(name: str, tmp_path: Path, wide: WideUnits) -> None:
    build, on_ne16, on_cluster = NETS[name]
    model = build().save(tmp_path / f"{name}.onnx")
    outputs = []
    for without, mode in RUNS:
        result = verify_model(
            VerifyRequest(model, "gap9", execution="sequential", without_units=without, sanitize=True, mode=mode), wide
        )
        assert result.bit_exact, (without, mode, result.outputs)
        expected = {(): set(), ("ne16",): on_cluster, ("cluster",): on_ne16}[without]
        assert expected <= _used(result), (without, _used(result))
        outputs.append(next(iter(result.run.outputs.values())))
        assert len(np.unique(outputs[-1])) > 8, "the test's values must vary"
    assert all(np.array_equal(outputs[0], other) for other in outputs[1:])


def test_tiles_are_cut_and_cores_work_beside_ne16(tmp_path: Path, wide: WideUnits) -> None:
    model = NETS["tiled"][0]().save(tmp_path / "tiled.onnx")
    result = verify_model(VerifyRequest(model, "gap9", execution="sequential", without_units=("cluster",)), wide)
    cut = {
        assignment.candidate.pattern.name
        for assignment in result.compilation.mapping.assignments
        if assignment.candidate.pattern.name in NE16_NAMES and assignment.schedule.loops
    }
    assert {"conv3x3_wide", "depthwise3x3_wide"} <= cut
    busy = [e for e in result.run.events if e["kind"] in ("ne16 job", "by_channels")]
    jobs = [e for e in busy if e["kind"] == "ne16 job"]
    overlaps = [
        min(job["end"], core["end"]) - max(job["start"], core["start"])
        for core in busy
        if core["kind"] != "ne16 job"
        for job in jobs
    ]
    assert sum(max(0, overlap) for overlap in overlaps) > 10_000


# ---- cycles ----------------------------------------------------------------------------------------------------


def _kernel_cycles(result: VerifyResult, node: int) -> int:
    """Cycles on the twin from the start of the team to the last barrier of a layer of one tile."""
    events = [event for event in result.run.events if event["node"] == node and event["name"] == "cluster"]
    start = max(event["start"] for event in events if event["kind"] == "team start")
    return int(max(event["end"] for event in events if event["kind"] == "barrier") - start)


@pytest.mark.parametrize(
    ("net", "operation", "sizes"),
    [
        (lambda: Net(1, 16, 18, 16).conv(32, (3, 3), pads=ALL), "conv3x3", (18, 16, 32, 16)),
        (lambda: Net(2, 16, 7, 5).conv(8, (3, 3), pads=ALL), "conv3x3", (7, 5, 8, 16)),
        (lambda: Net(3, 40, 16, 16).conv(56, (1, 1)), "conv1x1", (16, 16, 56, 40)),
        (lambda: Net(4, 48, 14, 16).depthwise(), "depthwise3x3", (14, 16, 48, 1)),
        (lambda: Net(5, 16, 16, 16).conv(32, (3, 3), 2, (0, 0, 1, 1)), "conv3x3", (8, 8, 32, 16)),
    ],
)
def test_overlap_of_ne16_and_cores_is_predicted(
    net: Callable[[], Net],
    operation: ne16_formulas.Operation,
    sizes: tuple[int, int, int, int],
    tmp_path: Path,
    wide: WideUnits,
) -> None:
    model = net().save(tmp_path / "net.onnx")
    result = verify_model(VerifyRequest(model, "gap9", execution="sequential", without_units=("cluster",)), wide)
    tasks = result.compilation.program.tasks
    (task,) = (task for task in tasks if task.assignment.candidate.pattern.name in NE16_NAMES)
    assert not task.assignment.schedule.loops
    parameters = task.assignment.candidate.workload.parameters
    y, x, k, c = sizes
    expected = wide_formulas.ne16_wide(
        values(),
        operation,
        out_y=y,
        out_x=x,
        k_out=k,
        k_in=c,
        stride=parameters.get("stride_y", 1) if operation != "conv1x1" else 1,
        weight_bits=parameters["weight_bits"],
        shift=parameters["shift"],
    )
    expected = expected + values()["ne16_cold_cycles"]  # the only tile is the first of the layer
    # The model takes a core's channels as many as they can be, the twin counts them; nor are the ends of jobs equal.
    assert 0.97 * _kernel_cycles(result, task.index) <= expected <= 1.03 * _kernel_cycles(result, task.index)


@pytest.mark.parametrize("without", ["ne16", "cluster"])
def test_layers_take_the_predicted_cycles(without: str, tmp_path: Path, wide: WideUnits) -> None:
    model = Net(8, 16, 24, 24).conv(32, (3, 3), pads=ALL).depthwise().conv(64, (1, 1)).save(tmp_path / "net.onnx")
    result = verify_model(VerifyRequest(model, "gap9", execution="sequential", without_units=(without,)), wide)
    names = {task.index: task.assignment.candidate.pattern.name for task in result.compilation.program.tasks}
    checked = [node for node in result.run.nodes if names[node.index] in WIDE_NAMES]
    assert len(checked) == 3
    for node in checked:
        assert abs(node.predicted_cycles / node.cycles - 1) < 0.05, (names[node.index], node)


def test_exactness_on_ne16_costs_at_most_two_and_a_half_cycles_per_output() -> None:
    for operation, out, channels in (("conv3x3", 16, 32), ("conv1x1", 16, 64), ("depthwise3x3", 24, 64)):
        sizes = {"out_y": out, "out_x": out, "k_out": channels, "k_in": channels}
        narrow = ne16_formulas.ne16_job(PUBLISHED, operation, quant=ne16_formulas.Ne16Quant(bias=True), **sizes)
        exact = wide_formulas.ne16_wide(PUBLISHED, operation, stride=1, weight_bits=8, shift=40, **sizes)
        assert exact - narrow - PUBLISHED["ne16_program_cycles"] <= 2.5 * out * out * channels
