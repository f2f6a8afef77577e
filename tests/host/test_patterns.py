"""Patterns, refusals, workloads, cost model, and the hooks of the host unit."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from host_harness import Array, expected, import_graph, make_model
from match_core.contract.candidate import Candidates
from match_core.contract.hardware import Memory, Soc
from match_core.match.candidates import find_candidates
from match_host import plugin
from match_host.cost import OPERATION_CYCLES, HostCostModel
from match_host.kernels import host_kernels
from match_host.kernels.work import Work
from match_host.operator import snake
from match_host.operators import OPERATORS
from match_host.patterns import host_patterns
from match_host.unit import HOST_UNIT
from match_host.views import find_views

node = onnx.helper.make_node
F = np.ones((1, 4, 6, 6), np.float32)
SOC = Soc("chip", "a chip", "host", ("host",), (Memory("l2", 2, 1 << 20),), (), "l2")


def candidates(model: onnx.ModelProto) -> Candidates:
    return find_candidates(import_graph(model), [(HOST_UNIT, host_patterns())])


def of(nodes: list[onnx.NodeProto], x: Array = F, **constants: Array) -> Candidates:
    return candidates(make_model(nodes, {"x": x}, constants))


def test_every_pattern_with_code_has_a_kernel() -> None:
    patterns = host_patterns()
    assert {p.name for p in patterns if not p.view} == set(host_kernels())
    assert len({p.name for p in patterns}) == len(patterns)
    assert all(p.name.startswith("host_") and p.name.isidentifier() for p in patterns)


PATTERN_NAMES = {
    "ConvInteger": "conv_integer",
    "match.nhwc::ConvInteger": "nhwc_conv_integer",
    "match.arith::LutU8": "lut_u8",
    "match.arith::OffsetI8ToU8": "offset_i8_to_u8",
    "PRelu": "prelu",
    "GlobalMaxPool": "global_max_pool",
}


@pytest.mark.parametrize(("name", "want"), PATTERN_NAMES.items())
def test_pattern_names(name: str, want: str) -> None:
    assert snake(name) == want


def test_every_operator_states_its_rules() -> None:
    for operator in OPERATORS:
        assert operator.rules and all(rule.description for rule in operator.rules)


REFUSED = {
    "type": ([node("Cast", ["x"], ["h"], to=2), node("Neg", ["h"], ["y"])], "input 0 is uint8"),
    "smoothed": ([node("Resize", ["x", "", "f"], ["y"], antialias=1)], "antialias is 1 and mode is nearest"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_why(name: str) -> None:
    nodes, value = REFUSED[name]
    constants = {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "f": np.array([1, 1, 2, 2], np.float32)}
    used = {key: array for key, array in constants.items() if any(key in item.input for item in nodes)}
    results = {  # what nothing else runs either
        "smoothed": {"y": np.ones((1, 4, 12, 12), np.float32)},
        "type": {"h": np.ones(F.shape, np.uint8), "y": np.ones(F.shape, np.uint8)},
    }
    run = (lambda model, inputs: results[name]) if name in results else expected
    found = candidates(make_model(nodes, {"x": F}, used, run=run))
    refused = {refusal.value for refusal in found.refused}
    assert any(value in text for text in refused), refused


def test_too_many_products_are_refused() -> None:
    x, w = np.ones((1, 33026), np.uint8), np.ones((33026, 2), np.int8)
    found = of([node("MatMulInteger", ["x", "w"], ["y"])], x, w=w)
    assert not found.legal
    assert found.refused[0].value == "33026 products are summed"


def test_a_pad_over_channels_is_not_fused() -> None:
    requant = {name: np.array(value) for name, value in (("M", 3), ("B", 1), ("D", 2), ("lo", 0), ("hi", 255))}
    nodes = [
        node("Pad", ["x", "p", "v"], ["a"]),
        node("ConvInteger", ["a", "w"], ["c"]),
        node("RequantU8", ["c", *requant], ["y"], domain="match.arith"),
    ]
    x, w = np.ones((1, 3, 6, 6), np.uint8), np.ones((2, 4, 3, 3), np.int8)
    pads = np.array([0, 0, 0, 0, 0, 1, 0, 0])
    found = of(nodes, x, w=w, p=pads, v=np.uint8(3), **requant)
    names = {candidate.pattern.name for candidate in found.legal}
    assert "host_conv_integer_requant" in names
    assert "host_pad_conv_integer_requant" not in names
    assert any(refusal.value == "axis 1 is padded by 0 and 1" for refusal in found.refused)


def test_views_have_no_work_and_no_code() -> None:
    moved = node("Transpose", ["n"], ["t"], perm=[1, 0, 2, 3])
    found = of([node("Neg", ["x"], ["n"]), moved, node("Flatten", ["t"], ["y"])])
    views = [candidate for candidate in found.legal if candidate.pattern.view]
    assert [candidate.pattern.name for candidate in views] == ["host_view", "host_view"]
    for view in views:
        model, tile = HostCostModel(), {"N": np.array([view.workload.dims[0].size])}
        assert model.kernel_cycles(view.workload, tile).tolist() == [0]
        assert model.launch_cycles(view.workload, tile).tolist() == [0]


def view_names(nodes: list[onnx.NodeProto], *outputs: str, **constants: Array) -> list[str]:
    graph = import_graph(make_model(nodes, {"x": F}, constants, outputs))
    return [match.output.name for match in find_views(graph)]


def test_views_do_not_join_two_buffers_of_the_caller() -> None:
    """Graph inputs and outputs are the caller's: a chain of views holds one of them at most."""
    flat, neg = node("Flatten", ["x"], ["a"]), node("Neg", ["x"], ["n"])
    back = node("Unsqueeze", ["a", "i"], ["b"])
    axis = np.array([0])
    assert view_names([flat], "a") == []
    assert view_names([flat, back], "b", i=axis) == ["a"]
    assert view_names([neg, node("Flatten", ["n"], ["y"])], "y") == ["y"]
    assert view_names([neg, node("Flatten", ["n"], ["y"])], "y", "n") == []
    two = [neg, node("Flatten", ["n"], ["y"]), node("Flatten", ["n"], ["z"], axis=2)]
    assert view_names(two, "y", "z") == ["y"]


def test_a_transpose_that_moves_data_is_no_view() -> None:
    assert view_names([node("Neg", ["x"], ["n"]), node("Transpose", ["n"], ["y"], perm=[0, 2, 1, 3])], "y") == []


def test_workload_names_what_is_stored() -> None:
    """Operands follow the kernel's arguments; packed constants appear as they are stored."""
    w, m = np.ones((5, 4, 3, 3), np.int8), np.arange(1, 6).reshape(1, 5, 1, 1)
    constants = {"w": w, "M": m, "B": np.array(1), "D": np.array(2), "lo": np.array(0), "hi": np.array(255)}
    nodes = [
        node("ConvInteger", ["x", "w"], ["c"]),
        node("RequantU8", ["c", "M", "B", "D", "lo", "hi"], ["y"], domain="match.arith"),
    ]
    found = of(nodes, np.ones((1, 4, 6, 6), np.uint8), **constants)
    (fused,) = [c for c in found.legal if c.pattern.name == "host_conv_integer_requant"]
    operands = [(o.name, o.role, tuple(a.size for a in o.axes), o.element_bits) for o in fused.workload.operands]
    assert operands == [
        ("in0", "input", (1, 4, 6, 6), 8),
        ("in1", "constant", (5, 48), 8),
        ("in2", "constant", (1, 5, 1, 1), 32),
        ("out0", "output", (1, 5, 4, 4), 8),
    ]
    assert fused.workload.macs == 5 * 4 * 4 * 4 * 9
    assert fused.workload.kind == "host_conv_integer_requant"
    assert dict(fused.workload.geometry)["tile_macs"] == fused.workload.macs


def cycles(found: Candidates, pattern: str, model: HostCostModel | None = None) -> int:
    (candidate,) = [c for c in found.legal if c.pattern.name == pattern]
    tile = {"N": np.array([candidate.workload.dims[0].size])}
    return int((model or HostCostModel()).kernel_cycles(candidate.workload, tile)[0])


def test_a_region_costs_less_than_its_nodes() -> None:
    nodes = [node("Neg", ["x"], ["a"]), node("Abs", ["a"], ["b"]), node("Exp", ["b"], ["y"])]
    found = of(nodes)
    alone = sum(cycles(found, f"host_{name}") for name in ("neg", "abs", "exp"))
    assert 0 < cycles(found, "host_region") < alone


def test_cost_scales_and_grows_with_work() -> None:
    def gemm(columns: int) -> Candidates:
        w = np.ones((32, columns), np.float32)
        return of([node("Gemm", ["x", "w"], ["y"])], np.ones((1, 32), np.float32), w=w)

    small, large = cycles(gemm(8), "host_gemm"), cycles(gemm(16), "host_gemm")
    assert 0 < small < large
    assert cycles(gemm(8), "host_gemm", HostCostModel(cycle_scale=2.0)) == 2 * small
    floating = {c.name: c.value for c in OPERATION_CYCLES}["floating_tile_macs"]
    assert small >= 32 * 8 * floating


def test_cost_constants_cover_the_work_classes() -> None:
    full = replace(Work(*range(1, 18)), words=0, quotients=0)
    assert {name for name, _ in full.counts()} == {constant.name for constant in OPERATION_CYCLES}
    assert all(constant.estimate and constant.source for constant in OPERATION_CYCLES)


def test_cost_is_vectorised() -> None:
    found = of([node("Neg", ["x"], ["y"])])
    (candidate,) = [c for c in found.legal if c.pattern.name == "host_neg"]
    size = candidate.workload.dims[0].size
    got = HostCostModel().kernel_cycles(candidate.workload, {"N": np.array([size // 2, size])})
    assert got.shape == (2,) and got.dtype == np.int64
    assert 0 < got[0] < got[1]


def test_hooks() -> None:
    (unit,) = plugin.match_hardware().units
    assert unit.name == "host" and unit.memory is None
    patterns = plugin.match_patterns(SOC, unit)
    assert patterns
    assert isinstance(plugin.match_cost(SOC, unit, patterns[0]), HostCostModel)
    api = plugin.match_emit_api(SOC, unit)
    assert api is not None and api.memory is None and set(api.kernels) == set(host_kernels())
    assert plugin.match_contract == 1


def test_other_units_are_left_to_others() -> None:
    from match_core.contract.hardware import Unit

    other = Unit("cluster", "cores")
    assert plugin.match_patterns(SOC, other) is None
    assert plugin.match_cost(SOC, other, host_patterns()[0]) is None
    assert plugin.match_emit_api(SOC, other) is None


def test_importing_the_hooks_imports_nothing_heavy() -> None:
    code = "import sys, match_host.plugin as p; p.match_hardware(); print([m for m in sys.modules if m in %r])"
    heavy = ("numpy", "onnx", "onnx_graphsurgeon", "mako")
    ran = subprocess.run([sys.executable, "-c", code % (heavy,)], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
