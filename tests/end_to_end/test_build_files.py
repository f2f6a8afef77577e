"""Emitted build files: their text, and whole applications built by stand-ins for GAP9's SDKs and run on the twin."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from match_core import BuildRequest
from match_core.contract.unit_api import BuildNode
from match_core.contract.views import ArenaView, StoreView, TensorView
from match_core.deploy.compile_options import Execution
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_gap9.sdk.build_files import MAIN, PROFILE, render
from match_gap9.timing import HEADER_NAME, render_timing_header
from numpy.typing import NDArray

from tests.end_to_end.models import QdqBuilder
from tests.end_to_end.stand_in_sdk import StandIn, make_stand_in

TWIN_HEADERS = Path(__file__).resolve().parents[2] / "plugins/match-gap9/src/match_gap9/twin/include"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
RISCV = "riscv64-unknown-elf-gcc"


# ---- text --------------------------------------------------------------------------------------------------------

L1 = ArenaView("l1", "l1", "L1", 1000, 16, "working memory of the units")
L2 = ArenaView("l2", "l2", "L2", 2000, 16, "activations between layers")
L3 = StoreView("l3", "l3", "L3", "net_l3.bin", 5000, 4)
INPUTS = (
    TensorView("x", "x", "uint8_t", "uint8", (1, 3), "x: uint8 1x3"),
    TensorView("f", "f", "float", "float32", (2, 2), "f: float32 2x2"),
)
OUTPUTS = (TensorView("y", "y", "int8_t", "int8", (1, 10), "y: int8 1x10"),)
#: ``l3_issue_cycles``: the host's part of a copy's cycles, before the node begins.
L3_ISSUE_CYCLES = 100
CLUSTER = "/* pulp_nn_add(a) is not called */ pulp_nn_conv_Ho_parallel(a); pulp_nn_linear(b);"
NE16 = "ne16_nnx_dispatch(a);"


def _request(sources: Mapping[str, str], stores: tuple[StoreView, ...] = ()) -> BuildRequest:
    nodes = (BuildNode(0, "cluster", "conv2d", "first"), BuildNode(3, "host", "mul", 'a "b" */ %d \\n é' + "x" * 99))
    return BuildRequest("net", "NET", sources, (L1, L2), stores, INPUTS, OUTPUTS, nodes)


def test_rendered_files(golden: Callable[[str, str], None]) -> None:
    sources = {"match_gap9_cluster.c": CLUSTER, "match_gap9_ne16.c": NE16, "match_gap9_store.c": "", "net.c": ""}
    for file in render(_request(sources)):
        golden(file.name, file.text)


def test_rendered_files_with_streamed_constants(golden: Callable[[str, str], None]) -> None:
    for file in render(_request({"match_gap9_store.c": "", "net.c": ""}, (L3,))):
        golden(file.name, file.text)


def test_only_needed_libraries_are_named() -> None:
    def text(name: str, sources: Mapping[str, str]) -> str:
        return next(file.text for file in render(_request(sources)) if file.name == name)

    for name in ("CMakeLists.txt", "pulp_sdk.mk"):
        host = text(name, {"net.c": ""})
        assert "PULP_NN" not in host and "pulp_nn" not in host and "store" not in host
        cluster = text(name, {"net.c": CLUSTER})
        assert "PULP_NNX_DIR" not in cluster
        found = set(re.findall(r"pulp_nn_(\w+)\.c", cluster))
        assert found == {"conv_Ho_parallel", "linear", "matmul", "utils"}
        assert "PULP_NN_DIR" not in text(name, {"net.c": NE16})


# ---- whole applications ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A compiled program, and what the application must print: checksum of the output, cycles by node."""

    folder: Path
    checksum: str
    cycles: Mapping[int, int]


def _bytes(count: int) -> NDArray[np.uint8]:
    """The inputs that match_gap9_main.c makes."""
    state, values = 1, []
    for _ in range(count):
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        values.append(state >> 24)
    return np.array(values, np.uint8)


def _checksum(data: bytes) -> str:
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{value:08x}"


def _compiled(folder: Path, plugins: Plugins, execution: Execution = "sequential", **options: object) -> Program:
    builder = QdqBuilder(7, 16, 25, 25).conv(48, 3).conv(48, 3, group=48).conv(32, 3, stride=2).conv(24, 5)
    model = builder.conv(64, 1).save(folder / "net.onnx")
    output = folder / "program"
    request = CompileRequest(model, "gap9", output=output, execution=execution, **options)  # type: ignore[arg-type]
    compile_model(request, plugins)
    inputs = {"input": _bytes(16 * 25 * 25).view(np.int8).reshape(1, 16, 25, 25)}
    result = run_program(output, inputs, plugins)
    (values,) = result.outputs.values()
    assert len(np.unique(values)) > 8, "the test's values must vary"
    cycles = {node.index: node.cycles for node in result.nodes if node.unit != "host"}
    return Program(output, _checksum(np.ascontiguousarray(values).tobytes()), cycles)


@pytest.fixture(scope="module")
def resident(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> Program:
    return _compiled(tmp_path_factory.mktemp("resident"), plugins)


@pytest.fixture(scope="module")
def streamed(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> Program:
    """The same with less L2 than its constants need."""
    return _compiled(tmp_path_factory.mktemp("streamed"), plugins, memory=(("l2", 100_000),))


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory, plugins: Plugins) -> Program:
    """The same with cluster and NE16 side by side."""
    return _compiled(tmp_path_factory.mktemp("beside"), plugins, execution="concurrent", precision="fast")


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    return make_stand_in(tmp_path_factory.mktemp("sdk"), _archive)


def _archive(sources: list[Path], include: Path, archive: Path) -> None:
    """A static library of the twin, without its own counting of nodes."""
    objects = []
    for source in sources:
        target = source.with_suffix(".o")
        hooks = [f"-Dmatch_profile_{name}=stand_in_{name}" for name in ("begin", "end")]
        command = ["cc", "-std=c11", "-O1", *hooks, f"-I{include}", "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True)
        objects.append(str(target))
    subprocess.run(["ar", "rcs", str(archive), *objects], check=True)


def _run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PULP", "GAP", "RULES"))}
    return subprocess.run(
        command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True, check=False, timeout=600
    )


def _cmake_build(program: Program, build: Path, sdk: StandIn) -> str:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not on this machine")
    libraries = [f"-DPULP_NN_DIR={sdk.pulp_nn}", f"-DPULP_NNX_DIR={sdk.pulp_nnx}"]
    configure = ["cmake", "-S", str(program.folder), "-B", str(build), *libraries]
    for command in (configure, ["cmake", "--build", str(build)]):
        done = _run(command, program.folder, GAP_SDK_HOME=str(sdk.gap_sdk))
        assert done.returncode == 0, done.stdout + done.stderr
    done = _run([str(build / "net")], program.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _cycles(output: str, program: Program) -> dict[int, int]:
    """By node, from the table that the application prints."""
    main = (program.folder / "example" / MAIN).read_text(encoding="utf-8")
    nodes = {title: int(node) for node, title in re.findall(r'\{(\d+)u, "(.*)"\}', main)}
    rows = re.findall(r"^ *(\d+)  (.+)$", output, flags=re.MULTILINE)
    return {nodes[title]: int(cycles) for cycles, title in rows if title in nodes}


@pytest.mark.parametrize("name", ["resident", "streamed"])
def test_the_vendors_sdk_builds_the_application(
    name: str, sdk: StandIn, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    program: Program = request.getfixturevalue(name)
    assert any(program.folder.glob("net_l3.bin")) == (name == "streamed")
    output = _cmake_build(program, tmp_path / "build", sdk)
    assert f": checksum {program.checksum}\n" in output and "status 0\n" in output
    measured, hidden = _cycles(output, program), _hidden(program)
    expected = {node: cycles + hidden.get(node, 0) for node, cycles in program.cycles.items()}
    assert {node: measured[node] for node in program.cycles} == expected
    assert bool(hidden) == (name == "streamed")


def _hidden(program: Program) -> dict[int, int]:
    """By node: cycles of the copy that starts just before it. The twin's profile counts a node from the end of what is
    in flight, the chip's counter from its begin."""
    swaps = json.loads((program.folder / "match.lock.json").read_text(encoding="utf-8"))["swaps"]
    return {swap["needs"]["host"]: swap["cycles"] - L3_ISSUE_CYCLES for swap in swaps}


@pytest.mark.parametrize("name", ["resident"])
def test_the_open_sdk_builds_the_application(name: str, sdk: StandIn, request: pytest.FixtureRequest) -> None:
    """With kernels that return when they are done: the same outputs."""
    program: Program = request.getfixturevalue(name)
    make = ["make", "-f", "pulp_sdk.mk", f"PULP_NN_DIR={sdk.pulp_nn}", f"PULP_NNX_DIR={sdk.pulp_nnx}"]
    home = {"RULES_DIR": str(sdk.pulp_sdk), "PULP_SDK_HOME": str(sdk.pulp_sdk.parent)}
    done = _run([*make, "all", "run"], program.folder, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f": checksum {program.checksum}\n" in done.stdout
    bare = _run([*make, "MATCH_PROFILE=0", "all", "run"], program.folder, **home)
    assert f": checksum {program.checksum}\n" in bare.stdout
    assert set(_cycles(bare.stdout, program).values()) == {0}


def test_what_is_missing_is_said(resident: Program, sdk: StandIn, tmp_path: Path) -> None:
    make = ["make", "-f", "pulp_sdk.mk", "-n", "all"]
    assert "neither RULES_DIR" in _run(make, resident.folder).stderr
    home = {"RULES_DIR": str(sdk.pulp_sdk)}
    assert "PULP_NN_DIR is ''" in _run(make, resident.folder, **home).stderr
    one = _run([*make, f"PULP_NN_DIR={sdk.pulp_nn}", "PULP_NNX_DIR=/nowhere"], resident.folder, **home)
    assert "PULP_NNX_DIR is '/nowhere'" in one.stderr and "commit c4f6ba3" in one.stderr
    if shutil.which("cmake") is not None:
        configure = ["cmake", "-S", str(resident.folder), "-B", str(tmp_path / "build")]
        done = _run(configure, resident.folder, GAP_SDK_HOME=str(sdk.gap_sdk))
        assert done.returncode != 0 and "PULP_NN_DIR is ''" in done.stderr


def test_without_an_sdk_cmake_builds_the_library(resident: Program, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not on this machine")
    (tmp_path / HEADER_NAME).write_text(render_timing_header())  # the twin's headers include it
    flags = f"-DCMAKE_C_FLAGS=-I{TWIN_HEADERS} -I{tmp_path}"
    configure = ["cmake", "-S", str(resident.folder), "-B", str(tmp_path), flags]
    for command in (configure, ["cmake", "--build", str(tmp_path)]):
        done = _run(command, resident.folder)
        assert done.returncode == 0, done.stdout + done.stderr
    members = subprocess.run(["ar", "t", str(tmp_path / "libnet.a")], capture_output=True, text=True, check=True).stdout
    assert "match_gap9_wide.c.o" in members
    assert MAIN not in members and PROFILE not in members


@pytest.mark.parametrize(
    ("name", "flags"),
    [("resident", ("-DMATCH_GAP9_XPULP", "-DMATCH_PROFILE")), ("streamed", ()), ("beside", ("-DMATCH_PROFILE",))],
    ids=["simd", "plain", "beside"],
)
def test_a_riscv_compiler_takes_every_file(
    name: str, flags: tuple[str, ...], sdk: StandIn, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Warning-free for 32-bit cores: pointers of 4 bytes, int32_t is long."""
    if shutil.which(RISCV) is None:
        pytest.skip(f"{RISCV} is not on this machine (Debian: gcc-riscv64-unknown-elf, picolibc-riscv64-unknown-elf)")
    program: Program = request.getfixturevalue(name)
    target = ["-march=rv32imc", "-mabi=ilp32", "--specs=picolibc.specs", "-O2"]
    folders = [f"-I{program.folder}", f"-I{sdk.gap_sdk}/include", "-include", str(sdk.gap_sdk / "builtin.h")]
    sources = sorted(program.folder.rglob("*.c"))
    assert {MAIN, PROFILE} < {path.name for path in sources}
    for source in sources:
        command = [RISCV, *STRICT, *target, *flags, *folders, "-c", str(source), "-o", str(tmp_path / "object.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
