"""The projects of this repository, and fresh environments into which pip installs their wheels."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PROJECTS = {"match_core": ROOT / "core"} | {
    path.parent.name.replace("-", "_"): path.parent for path in sorted((ROOT / "plugins").glob("*/pyproject.toml"))
}
#: Those that define a chip.
CHIPS = [name for name, project in PROJECTS.items() if (project / "tests" / "test_conformance.py").is_file()]


def built_wheel(project: Path, target: Path) -> Path:
    """The wheel of a project, built into the folder ``target`` from the tree as it is."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    name = project.name if project.name.startswith("match-") else f"match-{project.name}"
    return next(target.glob(f"{name.replace('-', '_')}-*.whl"))


@dataclass(frozen=True)
class Environment:
    """A virtual environment that knows no network: pip looks into the wheelhouse only."""

    folder: Path
    wheelhouse: Path

    def run(self, program: str, *arguments: str | Path, status: int = 0) -> str:
        """What a program of the environment prints."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MATCH_", "PIP_"))}
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheelhouse), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
        done = subprocess.run(
            [str(self.folder / "bin" / program), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**kept, **offline, **nowhere},
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout


def new_environment(folder: Path, wheelhouse: Path) -> Environment:
    """A fresh environment in ``folder``, which has nothing but pip."""
    venv.create(folder, with_pip=True)
    return Environment(folder, wheelhouse)
