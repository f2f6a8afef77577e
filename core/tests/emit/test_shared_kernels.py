"""Equal kernels and equal constants are emitted once, and lie where a platform's macros say."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.lower.lower import KernelPool
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, numpy_helper

LAYERS = 3


def _model(path: Path) -> Path:
    """Dense layers of one size behind each other, the first and the last with the same weights, then a smaller one."""
    random = np.random.default_rng(7)
    weights = [random.standard_normal((8, 8)).astype(np.float32) for _ in range(LAYERS - 1)]
    weights += [weights[0], random.standard_normal((8, 4)).astype(np.float32)]
    nodes = [
        helper.make_node("MatMul", [f"t{n}", f"w{n}"], [f"t{n + 1}"], name=f"dense{n}") for n in range(len(weights))
    ]
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info(f"t{len(weights)}", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(values, f"w{n}") for n, values in enumerate(weights)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    compile_model(CompileRequest(_model(folder / "net.onnx"), "host", folder / "net", cache=False), Plugins.load())
    return folder / "net"


def test_equal_kernels_are_one_function(program: Path) -> None:
    text = (program / "net_host.c").read_text(encoding="utf-8")
    calls = re.findall(r"^    (net_host_\w+_kernel)\(input, (\w+),", text, flags=re.MULTILINE)
    assert [kernel for kernel, _ in calls] == [*["net_host_00_kernel"] * LAYERS, f"net_host_0{LAYERS}_kernel"]
    assert len(re.findall(r"^static void \w+_kernel\(", text, flags=re.MULTILINE)) == 2
    weights = [constant for _, constant in calls]
    assert weights[0] == weights[2] and len(set(weights)) == LAYERS


def test_a_program_that_shares_computes_the_same(tmp_path: Path) -> None:
    request = VerifyRequest(model=_model(tmp_path / "net.onnx"), target="host", sanitize=True)
    assert verify_model(request, Plugins.load()).ok


def _quantised(path: Path) -> Path:
    """8-bit dense layers of one size with scales of their own."""
    random = np.random.default_rng(8)
    constants = {"z": np.int8(0), "s0": np.float32(0.02)}
    nodes = []
    for n in range(LAYERS):
        constants |= {f"w{n}": random.integers(-128, 128, (8, 8)).astype(np.int8), f"s{n + 1}": np.float32(0.1 * 5**n)}
        constants[f"ws{n}"] = np.float32(random.uniform(0.01, 0.02))
        nodes += [
            helper.make_node("DequantizeLinear", [f"t{n}", f"s{n}", "z"], [f"x{n}"]),
            helper.make_node("DequantizeLinear", [f"w{n}", f"ws{n}", "z"], [f"v{n}"]),
            helper.make_node("MatMul", [f"x{n}", f"v{n}"], [f"y{n}"], name=f"dense{n}"),
            helper.make_node("QuantizeLinear", [f"y{n}", f"s{n + 1}", "z"], [f"t{n + 1}"]),
        ]
    ends = [helper.make_tensor_value_info(name, TensorProto.INT8, [1, 8]) for name in ("t0", f"t{LAYERS}")]
    weights = [numpy_helper.from_array(np.asarray(values), name) for name, values in constants.items()]
    graph = helper.make_graph(nodes, "quantised", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_layers_that_differ_in_scales_share_a_kernel(tmp_path: Path) -> None:
    """Multiplier, addend and shift are arguments."""
    model = _quantised(tmp_path / "net.onnx")
    assert verify_model(VerifyRequest(model=model, target="host", sanitize=True), Plugins.load()).bit_exact
    compile_model(CompileRequest(model, "host", tmp_path / "net", cache=False), Plugins.load())
    text = (tmp_path / "net" / "net_host.c").read_text(encoding="utf-8")
    calls = re.findall(r"^    (net_host_\w+_kernel)\(([^;]*)\);", text, flags=re.MULTILINE)
    assert [kernel for kernel, _ in calls] == ["net_host_00_kernel"] * LAYERS
    assert len({arguments.split("output, ")[1] for _, arguments in calls}) == LAYERS


def test_units_share_nothing() -> None:
    pool = KernelPool()
    code = "static void {0}(const int8_t *in0)\n{{\n    {0}_table[0] = in0[0];\n}}\n"
    assert pool.add("a", "n_00", code.format("n_00"), "S") == ("n_00", "S\n" + code.format("n_00"))
    assert pool.add("a", "n_01", code.format("n_01"), "S") == ("n_00", "")
    assert pool.add("b", "n_02", code.format("n_02"), "T") == ("n_02", "T\n" + code.format("n_02"))
    other = code.format("n_03").replace("in0[0]", "in0[1]")
    assert pool.add("a", "n_03", other, "S")[0] == "n_03"


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("objdump") is None, reason="needs gcc and objdump")
def test_macros_place_constants_and_code(program: Path, tmp_path: Path) -> None:
    """Nothing of the host's code and no constant stays elsewhere."""
    places = {"NET_RAM_CONST_SECTION": ".slow", "NET_CODE_SECTION": ".fast"}
    defines = [f'-D{macro}=__attribute__((section("{section}")))' for macro, section in places.items()]
    sections: dict[str, list[str]] = {}
    for name in ("net_host.c", "net_weights.c"):
        command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", *defines, "-c", str(program / name)]
        subprocess.run([*command, "-o", str(tmp_path / "a.o")], check=True)
        table = subprocess.run(["objdump", "-t", str(tmp_path / "a.o")], capture_output=True, text=True, check=True)
        found = re.findall(r"^[0-9a-f]+ [gl] +[FO] (\S+)\s+[0-9a-f]+ (\S+)$", table.stdout, flags=re.MULTILINE)
        sections[name] = [section for section, symbol in found if symbol.startswith("net_")]
    assert set(sections["net_host.c"]) == {".fast"} and len(sections["net_host.c"]) == LAYERS + 1 + 2
    assert set(sections["net_weights.c"]) == {".slow"} and len(sections["net_weights.c"]) == LAYERS
