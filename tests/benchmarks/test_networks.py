"""The tables in the READMEs are what ``make bench`` prints now: cycles are virtual, so they repeat exactly."""

from __future__ import annotations

import pytest
from match_core.plugin.host import Plugins

from tests.benchmarks.networks import END, MODEL_AT, MODELS, NETWORKS, NETWORKS_AT, tables


@pytest.mark.slow
@pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")
def test_the_readmes_show_what_is_measured(plugins: Plugins) -> None:
    *measured, exact = tables(NETWORKS, plugins)
    assert exact
    for (page, begin), table in zip((NETWORKS_AT, MODEL_AT), measured, strict=True):
        shown = page.read_text(encoding="utf-8").split(begin, 1)[1].split(END, 1)[0]
        assert shown.strip() == table, f"run: python tests/benchmarks/networks.py --update ({page.name})"
