"""The benchmark of the cost model on one network, and what it calls a failure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.plugin.facade import Plugins

from benchmarks import prediction
from benchmarks.prediction import Layer
from benchmarks.runs import MODELS, Setting

stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")
SETTING = Setting("engine", "fast", "cluster")
#: A layer that meets every goal.
GOOD = Layer("net", SETTING, "n", "cluster", "conv2d", 8, 1000, 1000, 900, 950, 1000)


@stored_models
def test_dscnn_is_predicted_and_its_copies_hide(plugins: Plugins) -> None:
    layers = prediction.measure(["dscnn"], [SETTING], plugins)
    assert len(layers) > 8
    assert prediction.far_medians(layers) == []
    assert [layer for layer in layers if layer.misses] == []
    table = prediction.summary(layers)
    assert table.rows[0][3] == len(layers)
    assert len(prediction.layer_table("layers", layers).rows) == len(layers)


def test_goals_of_single_layers() -> None:
    assert not GOOD.misses
    assert replace(GOOD, predicted_cycles=1101).misses
    assert replace(GOOD, predicted_cycles=899).misses
    assert replace(GOOD, bound_cycles=949).misses
    few = replace(GOOD, bound_cycles=0, span_cycles=0)
    assert few.bound_share is None
    assert not few.misses


def test_the_median_layer_counts() -> None:
    far = replace(GOOD, predicted_cycles=1050)
    assert prediction.far_medians([GOOD, GOOD, far]) == []
    (line,) = prediction.far_medians([GOOD, far, far])
    assert "5.0% off" in line


def test_the_bound_is_the_busiest_part() -> None:
    events = [
        {"name": "control", "kind": "offload team", "start": 100, "end": 140},
        {"name": "control", "kind": "dma issue", "start": 140, "end": 200},
        {"name": "dma_in", "kind": "copy", "start": 50, "end": 130},
        {"name": "dma_in", "kind": "copy", "start": 200, "end": 500},
        {"name": "cluster", "kind": "work", "start": 140, "end": 400},
        {"name": "cluster", "kind": "work", "start": 540, "end": 600},
    ]
    assert prediction._bound(events, 320) == (330, 500)
    assert prediction._bound(events, 360) == (360, 500)
