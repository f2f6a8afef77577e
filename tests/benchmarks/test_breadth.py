"""The table of networks and targets, on two networks."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from match_core.plugin.facade import Plugins

from benchmarks import breadth
from benchmarks.breadth_models import MADE, blocked


def test_shares_causes_and_refusals(tmp_path: Path, plugins: Plugins) -> None:
    results = []
    for name in ("float", "batch 1"):
        onnx.save(MADE[name](), str(tmp_path / "net.onnx"))
        results += [breadth.measure(name, tmp_path / "net.onnx", target, plugins) for target in ("host", "gap9")]
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    results.append(breadth.measure("bad", tmp_path / "bad.onnx", "gap9", plugins))
    shares, causes, refusals = breadth.tables(results)
    by_network = {str(row[0]): [str(cell) for cell in row[1:]] for row in shares.rows}
    assert [column.heading for column in shares.columns] == ["network", "host", "gap9"]
    assert [cell.partition(",")[0] for cell in by_network["float"]] == ["0%", "0%"]
    assert [cell.partition(",")[0] for cell in by_network["batch 1"]] == ["0%", "100%"]
    assert by_network["bad"] == ["", "MATCH-F002"]
    ((_, target, steps, cause, share),) = (row for row in causes.rows if row[0] == "float")
    assert (target, steps, share) == ("gap9", "host 4", "100.0%")
    assert str(cause).endswith("the network is float32")
    assert refusals.rows == (("gap9", "MATCH-F002", "1", "cannot read the model"),)


def test_networks_are_valid_and_the_same_each_time() -> None:
    for name in ("batch 2", "ConvInteger, integer", "legacy LayerNorm, GELU"):
        first = MADE[name]()
        onnx.checker.check_model(first, full_check=True)
        assert first.SerializeToString(deterministic=True) == MADE[name]().SerializeToString(deterministic=True)
    assert {tensor.data_type for tensor in blocked("UINT4").graph.initializer} >= {onnx.TensorProto.UINT4}


@pytest.mark.parametrize("table", ["breadth", "breadth-causes", "breadth-refusals"])
def test_the_page_has_the_tables(table: str) -> None:
    page = breadth.PAGE.read_text("utf-8")
    assert f"<!-- {table} -->\n*" in page
    assert len(page.partition(f"<!-- {table} -->")[2].partition("<!-- end -->")[0].splitlines()) > 4
