"""Makes ``host_harness`` importable (tests are imported by path) and gives tests a folder to compile in."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def run_cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., object]:
    """``host_harness.build_and_run`` in a folder of its own, beside those of other workers."""
    from host_harness import SANITIZERS, build_and_run

    base = tmp_path_factory.getbasetemp()
    builds = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "host"
    builds.mkdir(exist_ok=True)

    def run(cases: object, options: tuple[str, ...] = SANITIZERS) -> object:
        return build_and_run(cases, Path(tempfile.mkdtemp(dir=builds)), options)

    return run
