"""The pages on packages: the tutorial's commands are run in order in one folder, the table of cases is current."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from match_core import CONTRACT_VERSION
from match_core.plugin.badge import badge_state, shipped_badge
from match_core.plugin.facade import Plugins
from match_kit.testing import LEVELS, all_cases
from match_kit.testing.badge import read_badge

from tests import forked
from tests.conftest import ROOT
from tests.docs.pages import DOCS, Step, text_of

_PIECE = re.compile(
    r"<!-- step(?:: (?P<instead>[^\n]*?))? -->\n```console\n(?P<console>.*?)```"
    r"|<!-- change: (?P<file>\S+) -->\n```diff\n(?P<diff>.*?)```"
    r"|<!-- same: (?P<same>\S+) -->",
    re.DOTALL,
)


def _change(path: Path, diff: str) -> None:
    """Replace the lines of a diff that begin with - by those that begin with +."""
    lines = diff.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path}: {before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


def _files(folder: Path) -> dict[str, str]:
    """Text by place, of what a package's author writes."""
    made = ("build", "__pycache__", ".egg-info")
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.endswith(made) for part in path.relative_to(folder).parts)
    }


def _rewrite(folder: Path, files: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for place, text in files.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")


PAGES = [("tutorial.md", 10), ("tutorial-library.md", 10), ("tutorial-regions.md", 12), ("regions.md", 6)]


@pytest.mark.parametrize(("page", "steps"), PAGES)
def test_the_pages_that_go_step_by_step(page: str, steps: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """``--update-golden`` rewrites the package that the tutorial ends in. ``ROOT`` is the repository in commands."""
    site = tmp_path / "site"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MATCH_", "PYTHONPATH"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    own = {"ROOT": str(ROOT), "NO_COLOR": "1", "PYTHONPATH": str(site), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment = {**kept, "PATH": path, **own}
    wrong = []
    pieces = list(_PIECE.finditer(text_of(DOCS / page)))
    assert len(pieces) >= steps
    for piece in pieces:
        if piece["file"]:
            _change(next(each for each in tmp_path.glob("match-*") if each.is_dir()) / piece["file"], piece["diff"])
            continue
        if piece["same"]:
            if request.config.getoption("--update-golden"):
                _rewrite(DOCS / piece["same"], _files(tmp_path / "match-sprout"))
            assert _files(DOCS / piece["same"]) == _files(tmp_path / "match-sprout")
            continue
        shown, *output = piece["console"].splitlines()
        step = Step(shown, piece["instead"] or shown.removeprefix("$ "), tuple(output))
        printed = forked.shell(step.command, cwd=tmp_path, env=environment)
        if not step.matches(printed):
            wrong.append(f"{shown}\n{printed}")
    assert not wrong, "\n".join(wrong)


def test_every_case_is_listed_with_what_it_asks(request: pytest.FixtureRequest) -> None:
    """``--update-golden`` rewrites the table."""
    lines = ["| level | case | what it checks |", "|---|---|---|"]
    lines += [f"| `{case.level}` | `{case.name}` | {case.asks} |" for case in all_cases()]
    wanted = "\n".join(lines)
    page = DOCS / "conformance-levels.md"
    before, rest = text_of(page).split("<!-- cases -->\n")
    shown, after = rest.split("\n\n", 1)
    if request.config.getoption("--update-golden"):
        page.write_text(f"{before}<!-- cases -->\n{wanted}\n\n{after.lstrip()}", encoding="utf-8")
        return
    assert shown == wanted


def test_every_capability_is_documented() -> None:
    from match_kit.testing import Capabilities

    text = text_of(DOCS / "conformance-levels.md")
    assert [name for name in Capabilities.__dataclass_fields__ if f"`{name}`" not in text] == []


def test_the_packages_ship_a_current_badge(plugins: Plugins) -> None:
    """Of their version and contract, with every level."""
    for info in plugins.plugins():
        if (ROOT / "plugins" / info.distribution / "tests" / "test_conformance.py").is_file():
            badge = shipped_badge(info.distribution, info.name)
            assert badge is not None, f"run: match test-target {info.distribution}"
            assert badge_state(badge, info.version, CONTRACT_VERSION) == f"{len(LEVELS)} of {len(LEVELS)} levels"
            assert badge["targets"] == sorted(info.targets)


def test_badges_of_the_examples_are_current() -> None:
    """Those that are shipped: of the project's version and this contract, with every level."""
    badges = sorted((DOCS / "examples").glob("*/src/*/match-badge.json"))
    assert [path.parents[2].name for path in badges] == ["match-fern"]
    for path in badges:
        badge = read_badge(path)
        assert badge is not None
        (version,) = re.findall(r'^version = "(.*)"$', text_of(path.parents[2] / "pyproject.toml"), re.MULTILINE)
        assert badge.package == path.parents[2].name
        assert badge_state(badge.as_json(), version, CONTRACT_VERSION) == f"{len(LEVELS)} of {len(LEVELS)} levels"
