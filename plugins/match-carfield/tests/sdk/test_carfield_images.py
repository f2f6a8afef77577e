"""Images of a program, built with Debian's RISC-V compiler against empty SDK functions (stand_in/), and their packing.

They do not run: this shows that each image is complete, that addresses fit together, and that everything has a place.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_carfield.sdk.build_files import IMAGE_BYTES, L2_DATA, L2_DATA_BYTES, PULP_ENTRY, SPATZ_ENTRY, render
from match_core import BuildRequest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from onnx import TensorProto, helper, numpy_helper

PREFIX = "riscv64-unknown-elf-"
STAND_IN = Path(__file__).resolve().parent / "stand_in"
FLAGS = {
    "host": ("-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"),
    "pulp": ("-march=rv32imc", "-mabi=ilp32"),
    "spatz": ("-march=rv32imafd", "-mabi=ilp32d"),
}
ENTRIES = {"pulp": PULP_ENTRY, "spatz": SPATZ_ENTRY}


def _run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def _model(path: Path) -> Path:
    """A product that is long enough for both units."""
    weight = (np.random.default_rng(0).standard_normal((64, 64)) * 0.2).astype(np.float16)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [256, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [256, 64])],
        [numpy_helper.from_array(weight, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def _stand_ins(folder: Path) -> Mapping[str, str]:
    """Variables of the makefile for each processor: the stand-in's headers and objects."""
    variables = {}
    for name, flags in FLAGS.items():
        objects = []
        for source in ("common.c", f"{name}_sdk.c"):
            target = folder / f"{name}_{source[:-2]}.o"
            compiler = (f"{PREFIX}gcc", "--specs=picolibc.specs", *flags, "-O2", f"-I{STAND_IN}")
            _run(*compiler, "-c", str(STAND_IN / source), "-o", str(target))
            objects.append(str(target))
        variables[f"{name.upper()}_INCLUDES"] = f"-I{STAND_IN} --specs=picolibc.specs"
        variables[f"{name.upper()}_OBJECTS"] = " ".join(objects)
    return variables


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with the images of a program that uses both units."""
    for tool in ("gcc", "nm", "objcopy", "size"):
        if shutil.which(PREFIX + tool) is None:
            pytest.skip(f"{PREFIX}{tool} is not installed")
    folder = tmp_path_factory.mktemp("images")
    program = folder / "product"
    compile_model(CompileRequest(_model(folder / "product.onnx"), "carfield", program), Plugins.load())
    variables = [f"{name}={value}" for name, value in _stand_ins(folder).items()]
    strict = "CFLAGS=-O2 -std=c11 -Wall -Wextra -Werror -ffunction-sections -fdata-sections"
    _run("make", "-j2", "-f", "carfield.mk", f"OUT={folder / 'out'}", strict, *variables, cwd=program)
    return folder / "out"


def _symbols(elf: Path) -> Mapping[str, int]:
    rows = [line.split() for line in _run(f"{PREFIX}nm", str(elf)).splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def _sections(elf: Path) -> Mapping[str, tuple[int, int]]:
    """Name -> (address, bytes)."""
    rows = [line.split() for line in _run(f"{PREFIX}size", "-A", str(elf)).splitlines()]
    return {row[0]: (int(row[2]), int(row[1])) for row in rows if len(row) == 3 and row[1].isdigit()}


@pytest.mark.parametrize("unit", sorted(ENTRIES))
def test_the_units_image_is_in_the_hosts_file(built: Path, unit: str, tmp_path: Path) -> None:
    address, size = _sections(built / "product.elf")[f".{unit}_image"]
    image = (built / f"{unit}.bin").read_bytes()
    assert address == ENTRIES[unit] and size == len(image) <= IMAGE_BYTES
    part = tmp_path / "part"
    _run(f"{PREFIX}objcopy", "-O", "binary", f"--only-section=.{unit}_image", str(built / "product.elf"), str(part))
    assert part.read_bytes() == image


@pytest.mark.parametrize("unit", sorted(ENTRIES))
def test_host_and_unit_mean_the_same_addresses(built: Path, unit: str) -> None:
    host, own = _symbols(built / "product.elf"), _symbols(built / f"{unit}.elf")
    assert own["_start"] == ENTRIES[unit]
    assert host[f"product_{unit}_loop"] == own[f"product_{unit}_loop"]
    constants = [name for name in own if name.startswith("product_") and L2_DATA <= own[name] < PULP_ENTRY]
    assert constants and all(host[name] == own[name] for name in constants)


def test_what_is_shared_lies_in_l2(built: Path) -> None:
    sections = _sections(built / "product.elf")
    for name in (".shared", ".shared_data"):
        address, size = sections[name]
        assert size > 0 and address >= L2_DATA and address + size <= L2_DATA + L2_DATA_BYTES


def test_a_sequential_program_has_no_images() -> None:
    assert render(BuildRequest("net", "NET", {}, (), (), (), (), ())) == ()
