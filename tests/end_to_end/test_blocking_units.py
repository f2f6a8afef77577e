"""Units that the host waits for, beside units with a dispatch loop: the tutorial's array and GAP9's cluster on one
board."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ToolError
from match_core.contract.unit_api import PlatformApi, RuntimeFile, UnitApi
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_kit.testing.samples import Network
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from tests.conftest import ROOT
from tests.end_to_end.side_by_side import compiled, differences

SOURCES = ROOT / "docs" / "examples" / "match-sprout" / "src"
BOARD = """
[soc]
name = "gap9_sprout"
description = "GAP9's cluster, and an array that the host waits for"
home = "l2"
[soc.signalling]
post_cycles = 70
wake_cycles = 40
notify_cycles = 60
task_cycles = 40
session_cycles = 1000
estimate = true
source = "GAP9's, rounded up"
[[units]]
name = "host"
[[units]]
name = "cluster"
soc = "gap9"
[[units]]
name = "sprout_array"
soc = "sprout"
[[memories]]
name = "l2"
from = "gap9"
[[memories]]
name = "l1"
from = "gap9"
[[memories]]
name = "l1_array"
from = "sprout.l1"
[[links]]
name = "mchan"
from = "gap9"
[[links]]
name = "array_dma"
from = "sprout.dma"
"""
SHAPE = (64, 128)
DECLARED = "int sprout_call(void (*run)(void *task), void *task);\n#endif"
CALLED = """
int sprout_call(void (*run)(void *task), void *task)
{
    run(task);
    return %d;
}
"""


@dataclass(frozen=True)
class Bench:
    """The board and a model of two branches that meet."""

    board: Path
    model: Path
    plugins: Plugins

    def verified(self, mode: str = "eager", execution: str = "concurrent", sanitize: bool = False) -> VerifyResult:
        """One sample on the twin."""
        arrays = {"input": np.random.default_rng(0).integers(-128, 128, (1, *SHAPE)).astype(np.int8)}
        request = VerifyRequest(
            self.model, str(self.board), arrays=arrays, mode=mode, execution=execution, sanitize=sanitize
        )
        return verify_model(request, self.plugins)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """The tutorial's package as if it were installed."""
    _forget()
    monkeypatch.syspath_prepend(str(SOURCES))
    (tmp_path / "board.toml").write_text(BOARD, encoding="utf-8")
    network = Network(SHAPE).dense(128)
    one, other = network.branch(), network.branch()
    model = one.dense(128).dense(128).add(other.dense(128).dense(128)).model("branches")
    onnx.save(model, tmp_path / "branches.onnx")
    package = Found("sprout", "match-sprout", "0.1.0", lambda: import_module("match_sprout.plugin"))
    yield Bench(tmp_path / "board.toml", tmp_path / "branches.onnx", Plugins.load([package]))
    _forget()


def _forget() -> None:
    """Other tests have packages of this name too."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "match_sprout"]:
        del sys.modules[name]


def called(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """The array's tasks are handed to it by a function that returns ``status``."""
    api: UnitApi = import_module("match_sprout.emit").unit_api()
    header, *others = api.runtime
    runtime = (RuntimeFile(header.name, header.text.replace("#endif", DECLARED)), *others)
    sources = tuple(RuntimeFile(file.name, file.text + CALLED % status) for file in api.twin.sources)
    platform, twin = PlatformApi(call="sprout_call"), replace(api.twin, sources=sources)
    changed = replace(api, platform=platform, runtime=runtime, twin=twin)
    monkeypatch.setattr("match_sprout.emit.unit_api", lambda: changed)


def test_the_host_runs_the_tasks_of_a_unit_without_a_dispatch_loop(bench: Bench) -> None:
    """The cluster works meanwhile, and an operator is divided between the two."""
    result = bench.verified(sanitize=True)
    program = result.compilation.program
    assert result.bit_exact
    assert Counter((task.queue, task.assignment.candidate.unit) for task in program.tasks).keys() == {
        ("host", "sprout_array"),
        ("cluster", "cluster"),
    }
    assert {queue.name: queue.kind for queue in program.queues} == {"host": "host", "cluster": "unit"}
    sequential = bench.verified(execution="sequential")
    assert sequential.bit_exact
    assert result.run.cycles_total < sequential.run.cycles_total
    assert abs(result.run.cycles_total - program.predicted_cycles) < program.predicted_cycles // 10


def test_all_modes_of_the_twin_give_the_same_bytes(bench: Bench, tmp_path: Path) -> None:
    made = compiled(bench.model, tmp_path, bench.plugins, str(bench.board))
    found = {mode: fault for mode, _, fault in differences(made.runs(tmp_path, sanitize=False))}
    assert {"eager", "lazy:host", "lazy:cluster"} < found.keys()
    assert "other bytes" not in found.values()


def test_the_host_hands_tasks_to_a_unit_by_its_call(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    called(monkeypatch, 0)
    for mode in ("lazy", "threads"):
        assert bench.verified(mode, sanitize=mode == "lazy").bit_exact


def test_a_unit_that_does_not_run_its_task_ends_the_session(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other units leave their loops: nothing hangs."""
    called(monkeypatch, 1)
    with pytest.raises(ToolError) as caught:
        bench.verified()
    assert caught.value.code == "MATCH-T003"
    assert "run returned -2" in str(caught.value), "NAME_ERROR_UNIT, not a timeout"
