"""The wheels hold what a program, its twin and a typed plugin need, and work where only they are installed."""

from __future__ import annotations

import email
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROJECTS = {
    "match_core": ROOT / "core",
    "match_gap9": ROOT / "plugins" / "match-gap9",
    "match_carfield": ROOT / "plugins" / "match-carfield",
    "match_ita": ROOT / "plugins" / "match-ita",
    "match_diana": ROOT / "plugins" / "match-diana",
}


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Import name -> wheel, built from the tree as it is."""
    target = tmp_path_factory.mktemp("wheels")
    for project in PROJECTS.values():
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(project)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return {name: next(target.glob(f"{name}-*.whl")) for name in PROJECTS}


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
    assert {"match_core/twin/runtime/match_twin.c", "match_core/twin/runtime/match_twin.h"} <= core
    assert "match_gap9/py.typed" in gap9
    assert {"match_gap9/runtime/match_gap9_api.h", "match_gap9/runtime/match_gap9_platform.c"} <= gap9
    assert {"match_gap9/twin/include/pmsis.h", "match_gap9/twin/src/ne16_engine.c"} <= gap9
    ita = _names(wheels["match_ita"])
    assert {"match_ita/py.typed", "match_ita/runtime/match_ita_job.c", "match_ita/twin/src/ita_engine.c"} <= ita
    diana = _names(wheels["match_diana"])
    assert {"match_diana/py.typed", "match_diana/twin/include/kernels.h"} <= diana


def test_entry_points_and_metadata(wheels: dict[str, Path]) -> None:
    assert "match = match_core.cli.main:main" in _text(wheels["match_core"], "entry_points.txt")
    points = _text(wheels["match_gap9"], "entry_points.txt")
    assert "[match.plugins]" in points and "gap9 = match_gap9.plugin" in points
    for wheel in wheels.values():
        metadata = email.message_from_string(_text(wheel, ".dist-info/METADATA"))
        assert metadata["License-Expression"] == "Apache-2.0"
        assert any(name.endswith("licenses/LICENSE") for name in _names(wheel))
        assert len(str(metadata.get_payload())) > 500, "the README is the description"
    requires = email.message_from_string(_text(wheels["match_gap9"], ".dist-info/METADATA")).get_all("Requires-Dist")
    assert requires is not None
    (core,) = (line for line in requires if line.startswith("match-core"))
    assert "<" in core and ">=" in core


@pytest.mark.slow
def test_installed_wheels_give_a_working_command(wheels: dict[str, Path], tmp_path: Path) -> None:
    """A fresh environment with the wheels; third-party packages come from the environment of the tests."""
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python, command = environment / "bin" / "python", environment / "bin" / "match"
    install = [python, "-m", "pip", "install", "--no-index", "--no-deps", *wheels.values()]
    subprocess.run(list(map(str, install)), check=True, capture_output=True)
    # Only a .pth file makes the tests' packages visible: the editable installations in it point to the source tree, so
    # the wheels must come first, which they do.
    inner = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    outer = sysconfig.get_path("purelib")
    Path(inner, "third_party.pth").write_text(f"{outer}\n", encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MATCH_"))}
    where = "import match_core, match_gap9; print(match_core.__file__, match_gap9.__file__)"
    done = subprocess.run(
        [str(python), "-c", where], capture_output=True, text=True, check=True, env=variables, cwd=tmp_path
    )
    assert all(path.startswith(str(environment)) for path in done.stdout.split())
    done = subprocess.run(
        [str(command), "targets", "--json"], capture_output=True, text=True, check=True, env=variables, cwd=tmp_path
    )
    assert done.stderr == ""
    names = [target["name"] for target in json.loads(done.stdout)]
    assert names == ["carfield", "carfield_poll", "diana", "gap9", "host", "ita"]
    model = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
    done = subprocess.run(
        [str(command), "verify", str(model), "-t", "gap9", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=variables,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bit_exact"] is True
