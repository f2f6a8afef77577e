"""The tables in the pages are what the commands print now: cycles are virtual, so they repeat exactly."""

from __future__ import annotations

import pytest
from match_core.plugin.host import Plugins

from tests.benchmarks import l1_sweep, micro_grid, networks
from tests.benchmarks.runs import MODELS, NETWORKS, PRECISIONS, PRESETS
from tests.benchmarks.tables import Table

pytestmark = pytest.mark.slow
stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")


def _assert_shown(table: Table, command: str, **page: object) -> None:
    assert table.shown(**page) == table.markdown(), f"run: python -m {command} --update"  # type: ignore[arg-type]


@stored_models
def test_networks(plugins: Plugins) -> None:
    runs = networks.measure(NETWORKS, PRESETS, PRECISIONS, plugins)
    assert not networks.faults(runs)
    for table, page in networks.tables(runs, PRESETS):
        _assert_shown(table, networks.COMMAND, page=page)


def test_micro_grid() -> None:
    runs = micro_grid.measure(micro_grid.layers(), PRESETS, PRECISIONS)
    assert all(run.bit_exact for run in runs)
    for table in micro_grid.page_tables(runs, PRESETS):
        _assert_shown(table, micro_grid.COMMAND)


@stored_models
@pytest.mark.parametrize("preset", PRESETS)
def test_l1_sweep(preset: str, plugins: Plugins) -> None:
    points = l1_sweep.measure(NETWORKS, preset, l1_sweep.PAGE_PRECISION, plugins)
    assert all(point.bit_exact for point in points)
    _assert_shown(l1_sweep.page_table(preset, points), l1_sweep.COMMAND)
