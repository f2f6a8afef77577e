"""Sums of two tensors: factors that differ, one factor, and powers of two, on the emulator; and what lookups count."""

from __future__ import annotations

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_cortexm.cores import CORE_NAMED
from match_cortexm.kernels.add import add_of, build_add
from match_cortexm.kernels.lookup import build_lookup
from onnx import TensorProto, helper, numpy_helper, save

from .test_kernels import emulator, needs_emulator


def _sum(a_factor: int, b_factor: int, addend: int, count: int = 40, shift: int = 22) -> gs.Node:
    tensors = [gs.Variable(name, np.int8, (1, count)) for name in "abc"]
    numbers = (a_factor, b_factor, addend, 1 << shift, -128, 127)
    values = [gs.Constant(f"n{place}", np.array(value)) for place, value in enumerate(numbers)]
    return gs.Node("AddRequantI8", "add", {}, [*tensors[:2], *values], tensors[2:], domain="match.arith")


@pytest.mark.parametrize(
    ("factors", "form", "loaded"),
    [
        ((4161041, 5978657), "add", 2),
        ((4161041, 4161041), "add", 1),
        ((1 << 22, 1 << 21), "add_shifts", 0),
        ((1 << 22, 4161041), "add", 2),
    ],
)
def test_factors_are_read_from_memory_but_for_powers_of_two(factors, form, loaded):
    built = build_add((_sum(*factors, 77),), "kernel", CORE_NAMED["cortex_m4"])
    assert built.form == form and built.code.definition.count("_factor = input_2[") == loaded


@pytest.mark.parametrize("core", ["cortex_m0plus", "cortex_m3", "cortex_m4"])
def test_sums_of_tensors_in_the_same_steps_multiply_and_shift_nothing(core):
    built = build_add((_sum(1 << 22, 1 << 22, 0, 77),), "kernel", CORE_NAMED[core])
    assert built.form == "add_shifts"
    assert ">> " not in built.code.definition and "input_2" not in built.code.definition


def test_factors_are_the_smallest_with_the_same_result():
    built = build_add((_sum(1 << 22, 1 << 21, 1 << 21, 77),), "kernel", CORE_NAMED["cortex_m4"])
    text = built.code.definition
    assert "a_factor = 2;" in text and "b_factor = 1;" in text and ">> 1" in text
    assert {"pairs": 77, "shifted": 77}.items() <= dict(built.counts).items()
    plain = dict(build_add((_sum(1 << 22, 1 << 22, 0, 77),), "kernel", CORE_NAMED["cortex_m4"]).counts)
    assert (plain["shifted"], plain["added"]) == (0, 0)


@pytest.mark.parametrize("factors", [(1 << 30, 1), (1, 1 << 30), (1, 1), (-(1 << 30), 1)])
def test_a_tensor_of_much_smaller_steps_decides_nothing(factors):
    """Its factor is 0; all pairs of bytes have the results of the graph's numbers."""
    short, _ = add_of(_sum(*factors, 1 << 29, shift=30))
    a_factor, b_factor, addend, shift = short
    assert 0 in (a_factor, b_factor)
    a, b = np.arange(-128, 128)[:, None], np.arange(-128, 128)[None, :]
    wanted = np.clip((a * factors[0] + b * factors[1] + (1 << 29)) >> 30, -128, 127)
    np.testing.assert_array_equal(np.clip((a * a_factor + b * b_factor + addend) >> shift, -128, 127), wanted)


@pytest.mark.parametrize(("count", "rest"), [(40, 0), (43, 3)])
def test_pairs_that_fill_no_vector_are_counted(count, rest):
    built = build_add((_sum(4161041, 5978657, 9, count),), "kernel", CORE_NAMED["cortex_m55"])
    assert built.form == "add_mve" and {"pairs": 10, "rest": rest}.items() <= dict(built.counts).items()


def _network(path, scales: tuple[float, float, float], op: str) -> None:
    """The sum or the difference of two inputs in these steps, in the last ones."""
    nodes, constants, reals = [], [], []
    for place, scale in enumerate(scales):
        constants.append(numpy_helper.from_array(np.array(scale, np.float32), f"s{place}"))
        constants.append(numpy_helper.from_array(np.array((3, -7, 5)[place], np.int8), f"z{place}"))
    for place in range(2):
        reals.append(f"r{place}")
        nodes.append(helper.make_node("DequantizeLinear", [f"x{place}", f"s{place}", f"z{place}"], [f"r{place}"]))
    nodes.append(helper.make_node(op, reals, ["t"]))
    nodes.append(helper.make_node("QuantizeLinear", ["t", "s2", "z2"], ["y"]))
    given = [helper.make_tensor_value_info(f"x{place}", TensorProto.INT8, (1, 300)) for place in range(2)]
    made = [helper.make_tensor_value_info("y", TensorProto.INT8, (1, 300))]
    graph = helper.make_graph(nodes, "sum", given, made, constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


@needs_emulator
@pytest.mark.parametrize("op", ["Add", "Sub"])
@pytest.mark.parametrize("scales", [(0.021, 0.034, 0.05), (0.02, 0.02, 0.031), (0.02, 0.02, 0.02), (0.02, 0.04, 0.04)])
def test_sums_are_exact_on_the_emulator(scales, op, tmp_path):
    from match_core.pipeline import CompileRequest, compile_model
    from match_core.plugin.facade import Plugins
    from match_core.run.compiled_program import run_program

    _network(tmp_path / "sum.onnx", scales, op)
    plugins = Plugins.load()
    request = CompileRequest(
        model=tmp_path / "sum.onnx", target="stm32l4r5", output=tmp_path / "out", name="net", cache=False
    )
    compile_model(request, plugins)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, (1, 1, 300), np.int8) for _ in range(2))
    found = run_program(tmp_path / "out", {"x0": a, "x1": b}, plugins, place=emulator()).outputs["y"]
    steps = [np.float64(np.float32(scale)) for scale in scales]
    sign = 1 if op == "Add" else -1
    value = ((a.astype(np.float64) - 3) * steps[0] + sign * (b.astype(np.float64) + 7) * steps[1]) / steps[2]
    wanted = np.clip(np.rint(value) + 5, -128, 127)
    off = found.astype(np.float64) - wanted
    near = np.abs(value - np.floor(value) - 0.5) < 1e-3
    assert not off[~near].any() and np.abs(off).max() <= 1


@pytest.mark.parametrize(("core", "far"), [("cortex_m0plus", 6), ("cortex_m3", 0), ("cortex_m4", 0)])
def test_lookups_count_bytes_that_a_load_does_not_reach(core, far):
    tensors = [gs.Variable(name, np.int8, (1, 46)) for name in "xy"]
    table = gs.Constant("t", np.arange(256).astype(np.uint8).view(np.int8))
    node = gs.Node("LutI8", "look", {}, [tensors[0], table], tensors[1:], domain="match.arith")
    assert dict(build_lookup((node,), "kernel", CORE_NAMED[core]).counts)["far"] == far
