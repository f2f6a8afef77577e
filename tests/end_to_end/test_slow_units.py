"""Which units concurrent programs leave out, on GAP9: NE16 and the cluster share the second convolution."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from match_core.contract.program import Program
from match_core.deploy import slow
from match_core.pipeline import compile_model
from match_core.plugin.facade import Plugins

from tests.end_to_end.manifests import MADE


def _program(folder: Path, times: float, plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program of two convolutions, if units are left out from so many times the cycles of the best."""
    monkeypatch.setattr(slow, "SLOW", times)
    return compile_model(MADE["golden concurrent"](folder), plugins).compilation.program


def _most_units(program: Program) -> int:
    """The most units that run parts of one operator."""
    units = defaultdict(set)
    for task in program.tasks:
        units[task.assignment.candidate.node_names].add(task.assignment.candidate.unit)
    return max(map(len, units.values()))


def test_units_share_an_operator_unless_they_are_slow(
    tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _most_units(_program(tmp_path, slow.SLOW, plugins, monkeypatch)) == 2
    assert _most_units(_program(tmp_path, 1, plugins, monkeypatch)) == 1


def test_all_are_offered_if_nothing_else_runs_a_node(
    tmp_path: Path, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = _program(tmp_path, 1e9, plugins, monkeypatch)
    assert _program(tmp_path, 1e-9, plugins, monkeypatch) == every
