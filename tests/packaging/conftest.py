"""Wheels of all packages, and a folder with everything that they need; made once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.packaging.environment import PROJECTS, built_wheel
from tests.packaging.wheelhouse import wheelhouse_command


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Import name -> wheel, built from the tree as it is."""
    target = tmp_path_factory.mktemp("wheels")
    return {name: built_wheel(project, target) for name, project in PROJECTS.items()}


@pytest.fixture(scope="session")
def wheelhouse(wheels: dict[str, Path]) -> Path:
    """The folder that ``make wheels`` makes: the packages, and everything that they need from elsewhere."""
    folder = next(iter(wheels.values())).parent
    command = wheelhouse_command(folder, list(wheels.values()))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not os.environ.get("CI"):
        pytest.skip(f"no package index at hand: {done.stderr.strip().splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    return folder
