"""The tables in the pages are what the commands print now: cycles are virtual, so they repeat exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins

from benchmarks import diana_grid, diana_networks, grid_layers, l1_sweep, micro_grid, networks
from benchmarks.runs import MODELS, NETWORKS, PRECISIONS, PRESETS
from benchmarks.tables import PAGE, Table

pytestmark = pytest.mark.slow
stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")


def _assert_shown(table: Table, command: str, page: Path = PAGE) -> None:
    assert table.shown(page) == table.markdown(), f"run: python -m {command} --update ({page.name})"


@stored_models
def test_networks(plugins: Plugins) -> None:
    runs = networks.measure(NETWORKS, PRESETS, PRECISIONS, plugins)
    assert not networks.faults(runs)
    for table, page in networks.tables(runs, PRESETS):
        _assert_shown(table, networks.COMMAND, page)


def test_micro_grid() -> None:
    runs = micro_grid.measure(grid_layers.layers(), PRESETS, PRECISIONS)
    assert all(run.bit_exact for run in runs)
    shown = [run for run in runs if run.setting.precision == micro_grid.PAGE_PRECISION]
    for table in (micro_grid.summary(runs), *(micro_grid.page_table(preset, shown) for preset in PRESETS)):
        _assert_shown(table, micro_grid.COMMAND)


@stored_models
@pytest.mark.parametrize("preset", PRESETS)
def test_l1_sweep(preset: str, plugins: Plugins) -> None:
    points = l1_sweep.measure(NETWORKS, preset, l1_sweep.PAGE_PRECISION, plugins)
    assert all(point.bit_exact for point in points)
    _assert_shown(l1_sweep.page_table(preset, points), l1_sweep.COMMAND)


def test_diana_grid(plugins: Plugins) -> None:
    runs = diana_grid.measure(grid_layers.layers(), plugins)
    assert all(run.bit_exact or run.failure for run in runs)
    _assert_shown(diana_grid.table(runs), diana_grid.COMMAND)


@stored_models
def test_diana_networks(plugins: Plugins) -> None:
    points = diana_networks.measure(NETWORKS, diana_networks.L1_BYTES, plugins)
    assert all(point.result is not None and point.result.bit_exact for point in points)
    _assert_shown(diana_networks.times(points), diana_networks.COMMAND)
    _assert_shown(diana_networks.sweep(points), diana_networks.COMMAND)
    _assert_shown(diana_networks.accuracy(points), diana_networks.COMMAND, diana_networks.ACCURACY_PAGE)
