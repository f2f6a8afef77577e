"""Makes installed distributions in a folder: dist-info and modules, found like any other on the path."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from match_core.plugin.facade import Plugins

from tests.base_packages import allowing

#: The Soc of a host alone.
OWN = "host"
EXAMPLE_SOURCE = Path(__file__).parent / "example_target" / "src"

#: The start of every fake plugin module.
HEAD = """
from match_core import (Hardware, Memory, Pass, Pattern, Phase, PlatformApi, Soc, TransferCycles, Unit, UnitApi,
                        hookimpl)
match_contract = 1

def chip(name, *units):
    return Soc(name, "a chip", "host", ("host", *units), (Memory("ram", 2, 65536),), (), "ram")

def unit(name):
    return Unit(name, "a unit")

def workload(match):
    raise NotImplementedError

def pattern(name):
    return Pattern(name, "a pattern", None, (), workload)
"""


@dataclass
class Site:
    """A folder on ``sys.path`` that holds fake distributions."""

    path: Path
    distributions: list[str] = field(default_factory=list)

    def install(
        self, distribution: str, modules: Mapping[str, str], points: Mapping[str, str], version: str = "1.0"
    ) -> None:
        """Write modules (name -> text, put after HEAD) and a dist-info with these entry points (name -> value)."""
        for name, text in modules.items():
            (self.path / f"{name}.py").write_text(HEAD + dedent(text), encoding="utf-8")
        self.describe(distribution, points, version)

    def plugin(self, name: str, text: str, version: str = "1.0") -> None:
        """One distribution ``pkg-NAME`` with one entry point NAME and one module."""
        self.install(f"pkg-{name}", {f"fake_{name}": text}, {name: f"fake_{name}"}, version)

    def describe(self, distribution: str, points: Mapping[str, str], version: str) -> None:
        """Write only the dist-info."""
        info = self.path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", "utf-8")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[match.plugins]", *lines, ""]), "utf-8")
        self.distributions.append(distribution)

    def install_example(self) -> None:
        """The example target as if it were installed here."""
        (self.path / "match_example").symlink_to(EXAMPLE_SOURCE / "match_example", target_is_directory=True)
        self.describe("match-example", {"example": "match_example.plugin"}, "0.3.1")

    @property
    def environment(self) -> dict[str, str]:
        """Allows the distributions of this site and the base, so that tests do not depend on what else is installed."""
        return allowing(*self.distributions)

    def load(self, **environment: str) -> Plugins:
        """The facade over this site."""
        return Plugins.load(environment={**self.environment, **environment})

    @staticmethod
    def installed(plugins: Plugins) -> list[str]:
        """Names of the Socs that packages define."""
        return [soc.name for soc in plugins.hardware().socs if soc.name != OWN]

    def forget(self) -> None:
        """Drop the modules of this site, so that the next test's ones of the same name are imported anew."""
        for name, module in list(sys.modules.items()):
            origin = getattr(module, "__file__", None)
            if origin and Path(origin).parent in (self.path, self.path / "match_example"):
                del sys.modules[name]
