"""Concurrent mappings that cannot win are recognised before their layers are scheduled."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.contract.observe import Facts, NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_core.plugin.facade import Plugins

from benchmarks.runs import MODELS
from benchmarks.sized_networks import write

stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")


class Stages(NullObserver):
    """Records the names of stages."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def stage_finished(self, name: str, facts: Facts) -> None:
        """Recorded."""
        self.names.append(name)


def stages(model: Path, plugins: Plugins) -> list[str]:
    watch = Stages()
    build_program(CompileRequest(model=model, target="gap9", cache=False), plugins, watch)
    return watch.names


@stored_models
def test_what_cannot_win_is_not_scheduled_again(plugins: Plugins) -> None:
    names = stages(MODELS / "mlperf_dscnn_int8_qdq" / "model.onnx", plugins)
    assert names.count("schedule") == 1 and "map concurrently" not in names


def test_what_may_win_is(plugins: Plugins, tmp_path: Path) -> None:
    write("chain", 3, tmp_path / "chain.onnx")
    names = stages(tmp_path / "chain.onnx", plugins)
    assert names.count("schedule") == 2 and "map concurrently" in names
