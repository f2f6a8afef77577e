"""The experiments on small parts of what they measure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.plugin.facade import Plugins

from benchmarks import diana_grid, diana_networks, grid_layers, l1_sweep, micro_grid, networks
from benchmarks.runs import MODELS, Setting, network, verify

stored_models = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")


@pytest.mark.parametrize(("kind", "channels"), [("standard", 64), ("depthwise", 16)])
def test_a_layer_of_the_grid_runs_on_its_unit(kind: str, channels: int) -> None:
    runs = micro_grid.measure([grid_layers.Layer(kind, channels, 16)], ["engine"], ["fast"])
    assert [run.setting.units for run in runs] == list(micro_grid.UNITS)
    for run in runs:
        assert run.bit_exact and run.on_its_unit
        assert run.throughput == run.layer.macs / run.cycles
    assert runs[1].cycles < runs[0].cycles  # NE16 is the faster one
    table = micro_grid.summary(runs)
    assert len(table.rows) == (2 if channels == 64 else 0)


def test_the_published_formulas_give_the_published_values() -> None:
    """Check values of the GAP9 sheet, section 3.3."""
    assert grid_layers.Layer("standard", 64, 32).published_cycles("NE16") == 304_436
    assert grid_layers.Layer("standard", 64, 16).published_cycles("NE16") == 90_576
    assert grid_layers.Layer("depthwise", 64, 32).published_cycles("NE16") == 109_868


def test_the_grid_is_the_papers() -> None:
    grid = grid_layers.layers()
    assert len(grid) == 30  # with one channel both kinds are the same
    assert max(layer.macs for layer in grid) == 603_979_776


@stored_models
def test_a_faster_subset_and_wrong_bits_are_failures(plugins: Plugins) -> None:
    model, arrays = network("autoencoder")
    setting = Setting("engine", "exact")
    run = networks.Run("autoencoder", setting, verify(model, arrays, setting, plugins))
    assert networks.faults([run]) == []
    result = replace(run.result, run=replace(run.result.run, cycles_total=run.cycles - 1))
    faster = networks.Run("autoencoder", Setting("engine", "exact", "cluster"), result)
    (fault,) = networks.faults([run, faster])
    assert "cluster takes" in fault
    (output,) = run.result.outputs
    wrong = replace(run.result, outputs=(replace(output, bit_exact=False),))
    assert len(networks.faults([networks.Run("autoencoder", setting, wrong)])) == 1


@stored_models
def test_resnet8_deploys_with_8_kilobytes_of_l1(plugins: Plugins) -> None:
    model, arrays = network("resnet8")
    some = {name: values[:2] for name, values in arrays.items()}
    assert 8_000 in l1_sweep.SIZES
    setting = Setting("engine", "exact", l1_bytes=8_000)
    point = l1_sweep.Point("resnet8", setting, verify(model, some, setting, plugins))
    assert point.bit_exact


def test_the_published_layer_of_the_digital_array(plugins: Plugins) -> None:
    """Within 2 % of the published throughput; the model is the twin's to the cycle."""
    small = grid_layers.Layer("depthwise", 16, 8)
    large = grid_layers.Layer("standard", 64, 128)
    published, depthwise, too_large = diana_grid.measure([diana_grid.PUBLISHED, small, large], plugins)
    assert published.bit_exact and depthwise.bit_exact
    assert published.throughput == pytest.approx(diana_grid.DIANA_MACS_PER_CYCLE, rel=0.02)
    assert published.cycles == published.modelled_cycles
    assert too_large.failure.startswith("MATCH-M001")
    rows = diana_grid.table([published, depthwise, too_large]).rows
    assert [row[-1] for row in rows] == ["yes", "yes", "-"]


@stored_models
def test_a_network_on_diana_with_less_l1(plugins: Plugins) -> None:
    points = diana_networks.measure(["autoencoder"], (diana_networks.L1_BYTES[0], 16_000), plugins)
    assert all(point.result is not None and point.result.bit_exact for point in points)
    full, less = diana_networks.sweep(points).rows
    assert full[4] == 1.0
    assert isinstance(less[4], float) and less[4] >= 1.0
    (row,) = diana_networks.accuracy(points).rows
    assert isinstance(row[3], float) and row[3] > 0.99
    assert diana_networks.times(points).rows[0][4] == 0.4
