"""Projects of third parties, each faulty in its own way, installed by pip as a user would install them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PROJECT = """\
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "{version}"
dependencies = ["match-core"]

[project.entry-points."match.plugins"]
{point} = "{module}"

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]
"""
_HEAD = """\
from match_core import Hardware, Memory, Soc, Unit, hookimpl

match_contract = 1
"""
_CHIP = """
@hookimpl
def match_hardware():
    soc = Soc("{soc}", "a chip", "host", ("host", "{unit}"), (Memory("ram", 2, 65536),), (), "ram")
    return Hardware(units=(Unit("{unit}", "an accelerator"),), socs=(soc,))
"""
#: Raises for the units of others too, in every hook that it has beside the hardware.
_RAISING = """
@hookimpl
def match_transforms(soc):
    raise KeyError("careless with " + soc.name)

@hookimpl
def match_patterns(unit):
    raise KeyError("careless with " + unit.name)

@hookimpl
def match_cost(soc, unit, pattern):
    raise SystemExit("careless with figures")

@hookimpl
def match_schedule(request):
    raise RecursionError("careless with time")

@hookimpl
def match_emit_api(soc, unit):
    raise AttributeError("careless with interfaces")
"""


def chip(soc: str, unit: str) -> str:
    """The hook that defines a chip of one unit."""
    return _CHIP.format(soc=soc, unit=unit)


@dataclass(frozen=True, slots=True)
class Package:
    """A faulty package: what its module holds, and what the line about it must say. ``compiling``: it is met only where
    a model is compiled."""

    name: str
    version: str
    text: str
    told: str
    code: str
    point: str = ""
    compiling: bool = False

    @property
    def module(self) -> str:
        """The package that is imported."""
        return self.name.replace("-", "_")

    def write(self, folder: Path) -> Path:
        """Its project below a folder."""
        project = folder / self.name
        source = project / "src" / self.module
        source.mkdir(parents=True)
        point = self.point or self.name.removeprefix("match-")
        text = _PROJECT.format(name=self.name, version=self.version, point=point, module=self.module)
        (project / "pyproject.toml").write_text(text, encoding="utf-8")
        (source / "__init__.py").write_text(_HEAD + self.text, encoding="utf-8")
        return project


BROKEN = Package(
    "match-broken", "0.9", 'raise RuntimeError("this chip was never built")\n', "never built", "MATCH-H001"
)
CARELESS = Package(
    "match-careless",
    "1.2",
    chip("careless", "careless_npu") + _RAISING,
    "careless with ",
    "MATCH-H005",
    compiling=True,
)
WRONG = Package(
    "match-wrong",
    "0.1",
    "\n@hookimpl\ndef match_hardware():\n    return 42\n",
    "returned a value of type int, Hardware expected",
    "MATCH-H006",
)
OLD = Package(
    "match-old", "0.3", chip("old", "old_npu") + "match_contract = 0\n", "was written for contract 0", "MATCH-H002"
)
NEWER = Package(
    "match-newer",
    "2.0",
    chip("newer", "newer_npu") + "match_contract = 2\n",
    "was written for contract 2",
    "MATCH-H002",
)
_BOTH = "the Soc name 'both' is defined by match-left 1.0 and match-right 1.1"
CLASHING = (
    Package("match-left", "1.0", chip("both", "left_npu"), _BOTH, "MATCH-H007"),
    Package("match-right", "1.1", chip("both", "right_npu"), _BOTH, "MATCH-H007"),
    Package("match-one", "1.0", chip("one", "one_npu"), "'same' exists in match-one and in", "MATCH-H008", "same"),
    Package("match-two", "1.0", chip("two", "two_npu"), "'same' exists in match-one and in", "MATCH-H008", "same"),
)
ALL = (BROKEN, CARELESS, WRONG, OLD, NEWER, *CLASHING)
#: Defines the name of a target of this repository.
USURPER = Package("match-gap9-fork", "3.1", chip("gap9", "fork_npu"), "the Soc name 'gap9' is defined by", "MATCH-H007")


def install(packages: Sequence[Package], folder: Path) -> Path:
    """Build and install the packages without a network; returns what is to be put on PYTHONPATH."""
    site = folder / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--target", str(site)]
    projects = [str(package.write(folder)) for package in packages]
    done = subprocess.run([*command, *projects], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return site
