"""What the tests of all folders share: options, marks, and fixtures."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from match_core.plugin.facade import Plugins

from tests import forked
from tests.conftest import ROOT, SHARED_MODELS
from tests.examples import all_examples
from tests.own_programs import OwnPrograms
from tests.same_numbers import SameNumbers
from tests.slow_tests import SLOW_TESTS


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that rewrites golden files."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    """In the background of a shell without job control interrupts are ignored, here and in all that is started; and
    xdist states a width of 80 columns, where CI's own terminal has none. No property has a time limit: machines may be
    busy."""
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    os.environ.pop("COLUMNS", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(SameNumbers())
    config.pluginmanager.register(OwnPrograms())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of ``tests/slow_tests.py``. With all of their examples the property tests of all packages are
    slow too, and so are the kernels of the host where all of them are optimised."""
    for item in items:
        if item.nodeid.startswith(SLOW_TESTS):
            item.add_marker("slow")
    if not all_examples():
        return
    for item in items:
        property_test = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if property_test or "run_cases" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end: without them collections of garbage take half of their time, and
    processes that are forked copy fewer pages."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def plugins() -> Plugins:
    """All installed packages."""
    return Plugins.load()


@pytest.fixture
def shared_model() -> Callable[[str], Path]:
    """Folder of a model of ../shared/models; skips where it is absent."""

    def folder(name: str) -> Path:
        path = SHARED_MODELS / name
        if not (path / "model.onnx").is_file():
            pytest.skip(f"../shared/models/{name} is not on this machine")
        return path

    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares text with tests/golden/<test name>/<file>; ``--update-golden`` rewrites it."""

    def check(name: str, text: str) -> None:
        path = ROOT / "tests" / "golden" / request.node.originalname / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden file {path}; write it with: pytest --update-golden {request.node.nodeid}"
        assert text == path.read_text(encoding="utf-8"), f"{name} changed; look, then pytest --update-golden"

    return check


@pytest.fixture(scope="session")
def match_command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ``match`` as a user would."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return forked.match(arguments, env={**os.environ, "NO_COLOR": "1", **environment})

    return run
