"""An emitted program of two units, host and link gives the same bytes in every way of running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from match_core.contract.errors import ToolError
from match_core.contract.runner import RunResult
from match_core.run.build import build
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin
from match_core.run.modes import is_threads, modes_of

from core.tests.emit import side_program
from core.tests.run.side_twin import twin_apis, write_program


class Built:
    """The program, built for the timeline and for threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document: dict[str, Any] = write_program(folder / "program")
        self.executables = {
            threads: build(
                folder / "program",
                folder / f"work_{threads}",
                twin_apis(),
                "host",
                BuildOptions(sanitize=not threads, threads=threads),
            )
            for threads in (False, True)
        }

    def run(self, mode: str) -> RunResult:
        x = np.stack([side_program.chain()[1]] * 2)
        executable = self.executables[is_threads(mode)]
        return run_twin(executable, self.document, {"x": x}, executable.parent, mode, timeout_seconds=120)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("side"))


def test_all_modes_give_the_same_bytes(built: Built) -> None:
    expected = side_program.expected(side_program.chain()[1])
    modes = modes_of(built.document)
    assert modes == ("eager", "lazy", "lazy:host", "lazy:array", "lazy:other", "lazy:link", "threads")
    for mode in (*modes, "threads:2", "threads:3"):
        outputs = built.run(mode).outputs["out"]
        assert all(np.array_equal(sample, expected) for sample in outputs), mode


def test_the_timeline_shows_units_side_by_side(built: Built) -> None:
    result = built.run("eager")
    spans = {
        name: [(e["start"], e["end"]) for e in result.events if e["context"] == name and e["kind"] == "conv2d"]
        for name in ("array", "other")
    }
    assert any(a < d and c < b for a, b in spans["array"] for c, d in spans["other"])
    assert result.cycles_total == max(e["end"] for e in result.events)
    assert all(result.cycles_by_clock[name] > 0 for name in ("array", "other", "dma", "link"))


def test_a_unit_that_hangs_ends_the_run_with_the_timeout(built: Built) -> None:
    for queue in ("array", "other", "link"):
        with pytest.raises(ToolError, match="run returned -3"):
            built.run(f"hang:{queue}")
