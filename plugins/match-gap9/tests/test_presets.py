"""Presets of the Soc: which figures reach cost models, links and the twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from match_core import Soc, TransferShape
from match_core.plugin.facade import Plugins
from match_gap9 import formulas, formulas_dma
from match_gap9.cluster.patterns import CLUSTER_PATTERNS
from match_gap9.constants import PRESETS, preset_of, values
from match_gap9.cost import cost_model
from match_gap9.hardware import hardware
from match_gap9.timing import CLOCKS, HEADER_NAME, render_timing_header


@pytest.fixture(scope="module")
def soc() -> Soc:
    return hardware().socs[0]


def _transfer(far: str, near: str) -> TransferShape:
    one, size = np.ones(1, dtype=np.int64), np.full(1, 4096, dtype=np.int64)
    return TransferShape("in", size, one, one, far, near)


def test_the_default_is_first(soc: Soc) -> None:
    assert soc.presets == ("open-sdk", "as-published", "engine")
    assert soc.preset == soc.presets[0]
    assert set(soc.presets) == set(PRESETS)


def test_the_soc_chooses_the_figures(soc: Soc) -> None:
    plugins = Plugins.load()
    unit = next(unit for unit in hardware().units if unit.name == "cluster")
    for preset in soc.presets:
        chosen = replace(soc, preset=preset)
        model = plugins.cost(chosen, unit, CLUSTER_PATTERNS[0])
        assert preset in model.name
        api = plugins.emit_api(chosen, unit)
        header = next(file for file in api.twin.headers if file.name == HEADER_NAME)
        assert header.text == render_timing_header(preset)
        assert api.twin.clocks == CLOCKS
        assert api.store is not None


def test_other_socs_get_the_default(soc: Soc) -> None:
    assert preset_of(replace(soc, preset="", presets=())) == "open-sdk"
    assert preset_of(replace(soc, preset="slow", presets=("slow",))) == "open-sdk"


def test_links_are_those_of_the_default(soc: Soc) -> None:
    near, far = soc.link_between("l1", "l2"), soc.link_between("l2", "l3")
    assert near is not None and near.setup_cycles == 91
    assert far is not None and far.bytes_per_cycle == values()["l3_bytes_per_cycle"]
    assert soc.store == "l3"


@pytest.mark.parametrize("preset", PRESETS)
def test_copies_are_priced_by_their_link(preset: str) -> None:
    timing = values(preset)
    model = cost_model("ne16", "conv3x3", preset)
    assert model.overlap == "all"
    from_l2 = model.transfer_cycles(None, _transfer("l2", "l1"))  # type: ignore[arg-type]
    from_l3 = model.transfer_cycles(None, _transfer("l3", "l2"))  # type: ignore[arg-type]
    assert (from_l2.issue, from_l2.wait) == (formulas_dma.dma_issue(timing), formulas_dma.dma_wait(timing, "in"))
    assert from_l2.data == 4096 // 8
    assert from_l3.data == timing["l3_setup_cycles"] + 4096
    assert (from_l3.issue, from_l3.wait) == (timing["l3_issue_cycles"], timing["l3_wait_cycles"])


def test_the_controller_is_busy_only_while_it_launches() -> None:
    """Many jobs of stride 2 and 64-bit requantisation run on the team; the controller programs single jobs itself."""
    timing = values()
    words = timing["ne16_words_cycles"] + timing["ne16_program_cycles"] + timing["step_cycles"]
    offload = formulas.team_launch(timing) + timing["step_cycles"]
    tile = {name: np.full(1, 8, dtype=np.int64) for name in ("K", "C", "OY", "OX", "FY", "FX")}
    for pattern, expected in (("conv1x1", words), ("conv1x1_wide", offload)):
        assert cost_model("ne16", pattern).launch_cycles(None, tile) == expected  # type: ignore[arg-type]
    assert cost_model("cluster", "conv2d").launch_cycles(None, tile) == offload  # type: ignore[arg-type]


def test_the_version_follows_the_figures() -> None:
    """Schedules that are kept on disk must not outlive the figures that they were chosen by."""
    model = cost_model("cluster", "conv2d")
    assert model.version == cost_model("ne16", "conv3x3").version
    assert model.version != cost_model("cluster", "conv2d", "engine").version
