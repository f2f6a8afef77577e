"""The encoders' benchmark on the smallest network."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.plugin.facade import Plugins

from benchmarks import transformers
from benchmarks.published import ITA_CLOCK_HZ, ITA_PEAKS
from benchmarks.runs import MODELS
from benchmarks.tables import Table

pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is not on this machine")


@pytest.fixture(scope="module")
def network(plugins: Plugins) -> transformers.Network:
    return transformers.measure(MODELS / "ita_mobilebert_l1_int8_qdq", plugins, preset=None)


def _cells(table: Table) -> dict[str, object]:
    (row,) = table.rows
    return {column.heading: cell for column, cell in zip(table.columns, row, strict=True)}


def test_rows_follow_from_cycles(network: transformers.Network) -> None:
    assert network.fault is None
    cells = _cells(transformers.main_table([network]))
    assert cells["cycles"] == network.beside.cycles < network.before.cycles == cells["one after another"]
    assert cells["inf/s"] == ITA_CLOCK_HZ / network.beside.cycles
    assert cells["paper inf/s"] is None  # a layer is not the paper's network


def test_products_come_near_to_the_calibrated_utilisation(network: transformers.Network) -> None:
    rows = {row[1]: row for row in transformers.utilisation_table([network]).rows}
    assert rows.keys() == {"products", "attention"}
    jobs, published, whole = rows["products"][2:5]
    assert published == ITA_PEAKS["GEMM"].utilisation
    assert isinstance(jobs, float) and isinstance(whole, float)
    assert 0.9 * published < jobs < published and whole < jobs


def test_shares_name_every_unit_that_works(network: transformers.Network) -> None:
    shares = transformers.shares_table([network])
    assert {row[0] for row in shares.rows} >= {"ita", "snitch"}
    busy = sum(cell for unit, _, cell in shares.rows if unit == "snitch" and isinstance(cell, float))
    assert 0 < busy < 1


def test_wrong_bits_are_a_fault(network: transformers.Network) -> None:
    result = network.before.result
    (output,) = result.outputs
    wrong = replace(network.before, result=replace(result, outputs=(replace(output, bit_exact=False),)))
    assert "does not compute the integer graph" in str(replace(network, before=wrong).fault)
