"""The wheels hold what a program, its twin and a typed plugin need, and work where only they are installed."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.end_to_end.models import QdqBuilder
from tests.envelope import opened
from tests.packaging.environment import CHIPS, PROJECTS, Environment, new_environment
from tests.packaging.wheelhouse import with_extras


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _text(wheel: Path, ending: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(ending))
        return archive.read(name).decode("utf-8")


def _package_files(name: str) -> Iterable[str]:
    source = PROJECTS[name] / "src"
    for path in sorted((source / name).rglob("*")):
        inner = path.relative_to(source)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inner.parts)
        if path.is_file() and not hidden:
            yield inner.as_posix()


@pytest.mark.parametrize("name", PROJECTS)
def test_every_file_of_the_package_is_in_the_wheel(name: str, wheels: dict[str, Path]) -> None:
    expected = set(_package_files(name))
    shipped = {entry for entry in _names(wheels[name]) if ".dist-info/" not in entry}
    assert shipped == expected


def test_templates_runtime_and_types_are_among_them(wheels: dict[str, Path]) -> None:
    core, gap9 = _names(wheels["match_core"]), _names(wheels["match_gap9"])
    assert "match_core/py.typed" in core
    assert {"match_core/templates/core/model.c.mako", "match_core/templates/twin/harness.c.mako"} <= core
    assert {"match_core/run/runtime/match_twin.c", "match_core/run/runtime/match_twin.h"} <= core
    assert "match_gap9/py.typed" in gap9
    assert {"match_gap9/runtime/match_gap9_api.h", "match_gap9/runtime/match_gap9_platform.c"} <= gap9
    assert {"match_gap9/twin/include/pmsis.h", "match_gap9/twin/src/ne16_engine.c"} <= gap9
    ita = _names(wheels["match_ita"])
    assert {"match_ita/py.typed", "match_ita/runtime/match_ita_job.c", "match_ita/twin/src/ita_engine.c"} <= ita
    diana = _names(wheels["match_diana"])
    assert {"match_diana/py.typed", "match_diana/twin/include/kernels.h"} <= diana
    dnnl = _names(wheels["match_dnnl"])
    assert {"match_dnnl/py.typed", "match_dnnl/runtime/match_dnnl.c", "match_dnnl/runtime/match_dnnl.h"} <= dnnl


def test_entry_points_and_metadata(wheels: dict[str, Path]) -> None:
    assert "match = match_core.cli.main:main" in _text(wheels["match_core"], "entry_points.txt")
    points = _text(wheels["match_gap9"], "entry_points.txt")
    assert "[match.plugins]" in points and "gap9 = match_gap9.plugin" in points
    for wheel in wheels.values():
        metadata = email.message_from_string(_text(wheel, ".dist-info/METADATA"))
        assert metadata["License-Expression"] == "Apache-2.0"
        assert any(name.endswith("licenses/LICENSE") for name in _names(wheel))
        assert len(str(metadata.get_payload())) > 500, "the README is the description"
    for name in CHIPS:  # pipx installs packages that have a command
        assert f"{name.replace('_', '-')} = match_core.cli.main:main" in _text(wheels[name], "entry_points.txt")
    assert "compile = match_python.functions:compile" in _text(wheels["match_python"], "entry_points.txt")
    requires = email.message_from_string(_text(wheels["match_gap9"], ".dist-info/METADATA")).get_all("Requires-Dist")
    assert requires is not None
    (core,) = (line for line in requires if line.startswith("match-core"))
    assert "<" in core and ">=" in core


def test_from_one_package_to_all_and_back(wheelhouse: Path, tmp_path: Path) -> None:
    """In a clean environment without a network: one package is all that its target needs; every target compiles where
    all packages are installed; one can be taken away from the others, and all but the host."""
    environment = new_environment(tmp_path / "venv", wheelhouse)
    install = ("install", "--no-compile")  # what is imported is compiled then
    environment.run("pip", *install, "match-gap9")
    _works_alone(environment)
    packages = [name.replace("_", "-") for name in CHIPS]
    environment.run("pip", *install, *packages)
    owners = _owners(environment)
    assert set(owners.values()) == {*packages, "match-host"}
    model = QdqBuilder(11, 3, 8, 8).conv(8, 3).save(tmp_path / "model.onnx")
    for target in owners:
        environment.run("match", "compile", model, "-t", target, "-o", f"out_{target}", "--sequential", "--quiet")
        assert (environment.folder / f"out_{target}" / "match.lock.json").is_file()
    for gone, stays in ((packages[:1], packages[1]), (packages[1:], "match-host")):
        environment.run("pip", "uninstall", "--yes", *gone)
        lost = [target for target, owner in owners.items() if owner in gone]
        owners = {target: owner for target, owner in owners.items() if owner not in gone}
        assert _owners(environment) == owners
        environment.run("match", "compile", model, "-t", lost[0], "-o", "gone", status=2)
        left = next(target for target, owner in owners.items() if owner == stays)
        environment.run("match", "compile", model, "-t", left, "-o", f"still_{left}", "--sequential", "--quiet")


@pytest.mark.slow
def test_every_extra_installs_without_a_network(wheelhouse: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    environment = new_environment(tmp_path / "venv", wheelhouse)
    wanted = [with_extras(wheel) for wheel in wheels.values()]
    assert any("[pandas]" in text for text in wanted) and any("[testing]" in text for text in wanted)
    assert "pandas" in environment.run("pip", "install", "--dry-run", *wanted)


@pytest.mark.slow
def test_one_package_and_one_command_run_a_model_on_an_emulated_board(wheelhouse: Path, tmp_path: Path) -> None:
    """``pip install match-cortexm`` and ``match verify model.onnx -t stm32l4r5 --on qemu``, nothing else."""
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on this machine")
    environment = new_environment(tmp_path / "venv", wheelhouse)
    environment.run("pip", "install", "match-cortexm")
    QdqBuilder(11, 3, 8, 8).conv(8, 3).conv(8, 3, group=8).conv(4, 1).save(environment.folder / "model.onnx")
    verified = opened(environment.run("match", "verify", "model.onnx", "-t", "stm32l4r5", "--on", "qemu", "--json"))
    assert verified["bit_exact"] is True and verified["target"] == "stm32l4r5"
    assert verified["instructions"]["total"] > 0 and verified["place"].startswith("mps2-an386")
    readable = environment.run("match", "verify", "model.onnx", "-t", "stm32l4r5", "--on", "qemu")
    assert "mps2-an386" in readable and "instructions" in readable
    doctor = environment.run("match", "doctor")
    assert "arm-none-eabi-gcc" in doctor and "qemu-system-arm" in doctor


@pytest.mark.slow
def test_pipx_installs_a_chip(wheelhouse: Path, tmp_path: Path) -> None:
    """The command has the chip's name, and with the resources of match-core its own."""
    pipx = shutil.which("pipx")
    if pipx is None:
        pytest.skip("pipx is not on this machine")
    places = {f"PIPX_{name}": str(tmp_path / name.lower()) for name in ("HOME", "BIN_DIR", "MAN_DIR")}
    arguments = f"--no-index --find-links {wheelhouse}"
    command = [pipx, "install", "--include-resources-from", "match-core", "--pip-args", arguments, "match-gap9"]
    subprocess.run(command, env={**os.environ, **places}, check=True)
    for name in ("match", "match-gap9"):
        shown = subprocess.run([tmp_path / "bin_dir" / name, "--version"], capture_output=True, text=True, check=True)
        assert shown.stdout.startswith("match ")


def _works_alone(environment: Environment) -> None:
    """``match compile model.onnx`` and ``match verify`` with match-gap9 alone; nothing of the checkout is imported."""
    model = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
    environment.run("match", "compile", model, "-o", "out", "--sequential")
    assert (environment.folder / "out" / "match.lock.json").is_file()
    verified = opened(environment.run("match", "verify", model, "--sequential", "--json"))
    assert verified["bit_exact"] is True and verified["target"] == "gap9"
    assert _owners(environment) == {"gap9": "match-gap9", "host": "match-host"}
    where = environment.run(
        "python", "-c", "import match_core, match_gap9; print(match_core.__file__, match_gap9.__file__)"
    )
    assert all(path.startswith(str(environment.folder)) for path in where.split())


def _owners(environment: Environment) -> dict[str, str]:
    """Target -> its package, as ``match targets`` lists them without a fault."""
    targets = opened(environment.run("match", "targets", "--json"))["targets"]
    return {target["name"]: target["package"] for target in targets}
