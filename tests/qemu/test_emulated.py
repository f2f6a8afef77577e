"""Programs on emulated boards: the bits of the twin, exact counts, and errors with numbers in bounded time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import onnx
import pytest
from match_core.contract.errors import MatchError
from match_core.contract.runner import RunResult
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu import emulator
from match_qemu.machines import Area, machine_named
from match_verify.places import place_at
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.qemu.conftest import Edit, require
from tests.qemu.run_requests import integer_inputs, run_request
from tests.test_schemas import checked

Arrays = Mapping[str, NDArray[np.generic]]


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    require("arm", "riscv")


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


@pytest.fixture(scope="module")
def float_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A convolution, a mean, a dense layer and a softmax in float32."""
    folder = tmp_path_factory.mktemp("floats")
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
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "net.onnx")
    compile_model(CompileRequest(folder / "net.onnx", "host", folder / "net", cache=False), Plugins.load())
    return folder / "net"


def _floats() -> dict[str, NDArray[np.generic]]:
    return {"input": np.random.default_rng(13).standard_normal((2, 1, 3, 12, 12)).astype(np.float32)}


def _on(machine: str, program: Path, inputs: Arrays, plugins: Plugins) -> RunResult:
    return run_program(program, inputs, plugins, place=place_at(f"qemu:{machine}", {}, plugins))


def _bytes(result: RunResult) -> dict[str, bytes]:
    assert all(len(np.unique(values)) > 2 for values in result.outputs.values()), "such a network proves nothing"
    return {name: values.tobytes() for name, values in result.outputs.items()}


BOARDS = (
    "mps2-an386",
    "mps3-an547",
    "virt32",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("mps2-an385", "mps2-an500", "mps2-an505", "virt64")),
)


@pytest.mark.parametrize("machine", BOARDS)
def test_integers_are_those_of_the_twin(machine: str, integer_program: Path, plugins: Plugins) -> None:
    """And every run counts the same: nodes add up to the whole, but for the calls between them."""
    inputs = integer_inputs()
    twin = run_program(integer_program, inputs, plugins)
    first = _on(machine, integer_program, inputs, plugins)
    assert _bytes(first) == _bytes(twin)
    assert first.place.startswith(f"{machine} (") and first.counter == "instructions"
    assert [node.title for node in first.nodes] == [node.title for node in twin.nodes]
    assert all(node.cycles > 50 for node in first.nodes)
    nodes = sum(node.cycles for node in first.nodes)
    assert 0 <= first.cycles_total - nodes < 1000
    assert first.sizes["text"] > 500 and first.sizes["constants"] > 500 and 100 < first.sizes["stack"] < 4000


@pytest.mark.parametrize(
    "machine", ("mps3-an547", *(pytest.param(name, marks=pytest.mark.slow) for name in ("mps2-an386", "virt32")))
)
def test_floats_are_those_of_the_twin(machine: str, float_program: Path, plugins: Plugins) -> None:
    twin = run_program(float_program, _floats(), plugins)
    first, again = (_on(machine, float_program, _floats(), plugins) for _ in range(2))
    assert _bytes(first) == _bytes(twin)
    assert first.nodes == again.nodes and first.cycles_total == again.cycles_total


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("*(volatile int *)0xA0000000u = 1;", "cause or data address 0xa0000000"),
        pytest.param('__asm__ volatile("udf #1");', "exception ", marks=pytest.mark.slow),
        pytest.param("return 7;", "status 7", marks=pytest.mark.slow),
    ],
)
def test_a_program_that_fails(statement: str, why: str, broken_program: Edit, plugins: Plugins) -> None:
    with pytest.raises(MatchError, match="MATCH-T013") as caught:
        _on("mps2-an386", broken_program(statement), integer_inputs(), plugins)
    assert why in caught.value.why and "mps2-an386" in caught.value.where


def test_a_program_that_hangs(broken_program: Edit, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "LIMIT_SECONDS", 2)
    with pytest.raises(MatchError, match="MATCH-T013") as caught:
        _on("mps2-an386", broken_program("for (;;) {}"), integer_inputs(), plugins)
    assert caught.value.why == "it did not end within 2 s"


@pytest.mark.slow
def test_a_program_that_the_compiler_rejects(broken_program: Edit, plugins: Plugins) -> None:
    with pytest.raises(MatchError, match="MATCH-T011") as caught:
        _on("mps2-an386", broken_program("this is no C;"), integer_inputs(), plugins)
    assert "net.c" in caught.value.where and "error" in caught.value.why


def test_a_machine_with_too_little_memory(
    integer_program: Path, plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name and in bytes."""
    machine = machine_named("mps2-an386")
    assert machine is not None
    small = tuple(replace(area, size_bytes=1000) if area.name == "psram" else area for area in machine.areas)
    assert small[2] == Area("psram", 0x21000000, 1000)
    monkeypatch.setattr(emulator, "choose", lambda request: replace(machine, areas=small))
    request = run_request(integer_program, integer_inputs(), tmp_path)
    with pytest.raises(MatchError, match="MATCH-T012") as caught:
        emulator.run_emulated(request)
    assert caught.value.why.startswith("psram is ") and caught.value.why.endswith(" bytes too small")


def test_verify_and_run(
    integer_program: Path, match_command: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    """The documents have the form of their schemas, and say what was counted where."""
    model = integer_program.parent / "net.onnx"
    done = match_command("verify", model, "-t", "host", "--on", "qemu:mps3-an547", "--json", "--quiet")
    result = checked(done.stdout, tmp_path)["result"]
    assert result["bit_exact"] and result["cycles"] is None and result["instructions"]["total"] > 1000
    assert result["place"] == "mps3-an547 (cortex-m55)" and result["headline"]["cycles_from"] == "model"
    assert all(node["cycles"] is None and node["instructions"] > 0 for node in result["nodes"])
    np.savez(tmp_path / "x.npz", input=integer_inputs()["input"])
    options = ("--on", "qemu", "--inputs", tmp_path / "x.npz", "--outputs", tmp_path / "y.npz")
    done = match_command("run", integer_program, *options)
    text = done.stdout
    assert "instructions of one inference on mps2-an386 (cortex-m4)" in text and "built: text " in text
    done = match_command("run", integer_program, *options, "--json", "--quiet")
    assert checked(done.stdout, tmp_path)["result"]["sizes"]["text"] > 0
    done = match_command("run", integer_program, *options[2:], "--on", "qemu:z80")
    assert done.returncode == 2 and "MATCH-U102" in done.stderr
