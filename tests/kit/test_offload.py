"""``match offload``: regions of a package, what crosses their border, cycles, times and sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from match_core.cli.main import run
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_kit.testing import samples
from match_report.offload import measure_offload

from tests.base_packages import allowing
from tests.envelope import opened

if TYPE_CHECKING:
    from tests.kit.conftest import Scaffolded


@pytest.mark.parametrize("kind", ["regions"])
def test_a_region_is_broken_down(kind: str, scaffolded: Scaffolded, tmp_path: Path) -> None:
    import onnx

    onnx.save(samples.dense("net", (96, 40, 10)).make(), tmp_path / "net.onnx")
    plugins = Plugins.load(environment=allowing("match-sprout", "match-regions"))
    folder = tmp_path / "program"
    compile_model(CompileRequest(model=tmp_path / "net.onnx", target="sprout", output=folder), plugins)
    report = json.loads((folder / "report.json").read_text("utf-8"))
    found = measure_offload(report, folder, tmp_path / "work", plugins)
    (region,) = found.regions
    assert (region.unit, region.macs) == ("sprout_engine", 96 * 40 + 40 * 10)
    assert (region.input_bytes, region.output_bytes) == (96, 10)
    assert region.constant_bytes >= region.macs  # one byte for each weight
    assert region.cycles == region.predicted_cycles == 2 * 60 + -(-region.macs // 16)
    assert region.ms is not None and 0 < region.ms <= found.run_ms
    assert found.start_ms > 0 and found.build_s > 0
    assert sum(unit.macs for unit in found.units) == region.macs
    assert set(found.sizes) <= {"host", "program", "sprout_engine"}
    assert not found.sizes or found.sizes["sprout_engine"] > 0


def test_a_program_without_regions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    onnx.save(samples.dense("net", (96, 10)).make(), tmp_path / "net.onnx")
    plugins = Plugins.load(environment=allowing())
    folder = tmp_path / "program"
    compile_model(CompileRequest(model=tmp_path / "net.onnx", target="host", output=folder), plugins)
    assert run(["offload", str(folder), "--json", "--quiet"]) == 0
    document = opened(capsys.readouterr().out)
    assert document["regions"] == [] and [unit["unit"] for unit in document["units"]] == ["host"]
    assert document["units"][0]["macs"] == 960 and document["run_ms"] > 0
    assert run(["offload", str(folder), "-q"]) == 0
    assert "net on host: 0 regions with 0 of " in capsys.readouterr().out
