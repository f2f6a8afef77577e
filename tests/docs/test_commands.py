"""Commands that pages show are run, and what the pages show below them is what comes out.

``pytest --update-golden tests/docs`` writes what comes out into the pages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import forked
from tests.conftest import ROOT
from tests.docs.pages import Session, rewrite, sessions, text_of


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], str]:
    """Runs a command in a folder that looks like the root of the repository, in which it may leave files; returns what
    it prints (progress on stderr first)."""
    for entry in ROOT.iterdir():
        if not entry.name.startswith(".") and entry.name not in ("build", "dist"):
            (tmp_path / entry.name).symlink_to(entry, target_is_directory=entry.is_dir())
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MATCH_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"

    def run(command: str) -> str:
        printed = forked.shell(
            command, cwd=tmp_path, env={**kept, "PATH": path, "NO_COLOR": "1", "MATCH_TEST": str(tmp_path)}
        )
        assert "Traceback" not in printed
        return printed.replace(f"{ROOT}/", "").replace(f"{tmp_path}/", "")

    return run


@pytest.fixture(scope="module")
def printed() -> dict[tuple[str, ...], list[str]]:
    """What commands printed, one after the other: several pages show the same ones."""
    return {}


def _has_onednn() -> bool:
    """Whether the libraries that programs for ``dnnl`` call are there."""
    text = "#include <oneapi/dnnl/dnnl.h>\n#include <cjson/cJSON.h>\n"
    done = subprocess.run(["cc", "-E", "-x", "c", "-"], input=text, text=True, capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize("session", sessions(), ids=str)
def test_session(
    session: Session,
    run: Callable[[str], str],
    printed: dict[tuple[str, ...], list[str]],
    request: pytest.FixtureRequest,
) -> None:
    if any("-t dnnl" in step.command for step in session.steps) and not _has_onednn():
        assert not os.environ.get("CI"), "oneDNN and cJSON are not installed"
        pytest.skip("oneDNN and cJSON are not installed (Debian: libdnnl-dev, libcjson-dev)")
    commands = (session.first, *(step.command for step in session.steps))
    if commands not in printed:
        if session.first:
            run(session.first)
        printed[commands] = [run(command) for command in commands[1:]]
    wrong = [
        f"$ {step.command}\n{text}"
        for step, text in zip(session.steps, printed[commands], strict=True)
        if not step.matches(text)
    ]
    if wrong and request.config.getoption("--update-golden"):
        rewrite(session, run)
    else:
        assert not wrong, "\n".join(wrong)


def test_there_are_sessions() -> None:
    names = {session.page.name for session in sessions()}
    assert {"README.md", "cli.md", "plugins.md"} <= names


def test_the_readme_names_the_test_command() -> None:
    assert "\nmake test\n" in text_of(ROOT / "README.md")
    assert "make test" in text_of(ROOT / ".ci" / "run")
