"""A scaffolded package as if it were installed here."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins
from match_kit.scaffold import write_package
from match_kit.testing.findings import Outcome, ask
from match_kit.testing.levels import PACKAGE_CASES, TARGET_CASES
from match_kit.testing.packages import capabilities_of
from match_kit.testing.subject import subjects_of

from tests.base_packages import allowing

NAME, MODULE, PACKAGE = "sprout", "match_sprout", "match-sprout"


@dataclass(frozen=True)
class Scaffolded:
    """A package in a folder, on the path with its metadata."""

    project: Path

    def edit(self, place: str, before: str, after: str) -> None:
        """Replace text that is there once."""
        path = self.project / place
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{before!r} stands {text.count(before)} times in {place}"
        path.write_text(text.replace(before, after), encoding="utf-8")

    def describe(self) -> None:
        """Write the metadata that an installation makes of pyproject.toml and README.md."""
        build = self.project / "pyproject.toml"
        text = build.read_text(encoding="utf-8") if build.is_file() else ""
        info = self.project / "src" / "match_sprout-0.1.0.dist-info"
        info.mkdir(exist_ok=True)
        readme = self.project / "README.md"
        lines = ["Metadata-Version: 2.4", f"Name: {PACKAGE}", "Version: 0.1.0"]
        lines += [f"License-Expression: {found}" for found in re.findall(r'^license = "(.*)"', text, re.MULTILINE)]
        listed = re.search(r"^dependencies = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
        lines += [f"Requires-Dist: {found}" for found in re.findall(r'"([^"]+)"', listed[1] if listed else "")]
        long_text = readme.read_text(encoding="utf-8") if readme.is_file() and "readme =" in text else ""
        (info / "METADATA").write_text("\n".join([*lines, "", long_text]), encoding="utf-8")
        points = re.findall(r"^(\w+ = \"match_\w+\.plugin\")", text, re.MULTILINE)
        listed_points = "\n".join(["[match.plugins]", *(point.replace('"', "") for point in points), ""])
        (info / "entry_points.txt").write_text(listed_points, encoding="utf-8")

    def outcomes(self, *levels: str) -> tuple[Outcome, ...]:
        """Of the cases of these levels, all where none is named."""
        self.describe()
        plugins = Plugins.load(environment=allowing(PACKAGE, "match-regions"))
        package, *targets = subjects_of(capabilities_of(PACKAGE), plugins, self.project)
        pairs = [(case, package) for case in PACKAGE_CASES]
        pairs += [(case, target) for target in targets for case in TARGET_CASES]
        return tuple(ask(case, subject) for case, subject in pairs if not levels or case.level in levels)

    def faults(self, *levels: str) -> str:
        """What failed, one line a finding."""
        failed = [outcome for outcome in self.outcomes(*levels) if outcome.status == "failed"]
        return "\n".join(f"{outcome.case}: {found}" for outcome in failed for found in outcome.findings)


@pytest.fixture
def kind() -> str:
    """Tests that are parametrised by the kind replace it."""
    return "tiles"


@pytest.fixture
def scaffolded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> Iterator[Scaffolded]:
    made = Scaffolded(write_package(NAME, tmp_path / "match-sprout", kind))
    monkeypatch.syspath_prepend(str(made.project / "src"))
    made.describe()
    yield made
    for name in [name for name in sys.modules if name.split(".")[0] == MODULE]:
        del sys.modules[name]
