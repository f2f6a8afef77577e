"""The networks for measuring regions, and what is read of programs."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks import dnnl, dnnl_models
from benchmarks.host_measure import Times
from benchmarks.tables import Table

#: What programs with regions on oneDNN are linked with.
LIBRARIES = ("dnnl", "cjson")
needs_libraries = pytest.mark.skipif(
    not os.environ.get("CI") and not all(map(ctypes.util.find_library, LIBRARIES)),
    reason="oneDNN or cJSON is not installed: apt install libdnnl-dev libcjson-dev",
)


def _small_detector(folder: Path) -> Path:
    path = folder / "detector.onnx"
    onnx.save(dnnl_models.detector(96, 8, 0.6), str(path))
    return path


def test_networks_are_the_same_bytes_in_every_process() -> None:
    code = (
        "import hashlib\n"
        "from benchmarks.dnnl_models import detector, resnet18, scraps, two_stage\n"
        "for made in (detector(96, 8), resnet18(64, 8), scraps(3), two_stage(64, 8, 8)):\n"
        "    print(hashlib.sha256(made.SerializeToString(deterministic=True)).hexdigest())\n"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1] and len(told[0].split()) == 4


@needs_libraries
def test_a_detector_leaves_suppression_to_the_host(tmp_path: Path) -> None:
    """All that multiplies is on oneDNN; the boxes that the host picks are the reference's."""
    model = _small_detector(tmp_path)
    request = VerifyRequest(model=model, target="dnnl", regions="largest", sanitize=True, name="detector")
    result = verify_model(request, Plugins.load())
    assert result.ok
    units = {
        node.op: assignment.candidate.unit
        for assignment in result.compilation.mapping.assignments
        for node in assignment.candidate.match.nodes
    }
    assert units["NonMaxSuppression"] == "host"
    assert units["Concat"] == units["Sigmoid"] == units["Exp"] == "dnnl"
    offload = dnnl.offloaded(result.compilation)
    assert offload.macs == offload.macs_total > 0
    assert 0.9 < offload.nodes / offload.nodes_total < 1
    (picked,) = (check for check in result.outputs if check.dtype == "int64")
    assert picked.bit_exact
    rows = result.run.outputs[picked.name][..., 0]
    assert (rows >= 0).any() and (rows < 0).any()


def test_regions_that_do_not_pay_go_back(tmp_path: Path) -> None:
    path = tmp_path / "scraps.onnx"
    onnx.save(dnnl_models.scraps(4), str(path))
    found = {}
    for regions in ("largest", "cheapest"):
        request = CompileRequest(model=path, target="dnnl", regions=regions)
        found[regions] = dnnl.offloaded(build_program(request, Plugins.load(), NullObserver()))
    assert found["largest"].regions == found["largest"].found == 4
    assert found["largest"].macs == found["largest"].macs_total
    assert found["cheapest"].regions < 4
    assert found["cheapest"].found == 4


def test_rows_that_stay_free_are_not_compared() -> None:
    picked = np.array([[0, 1, 2], [0, 1, 5], [-1, -1, -1]])
    assert dnnl._distance([picked], [picked[:2]]) == 0
    assert dnnl._distance([picked], [picked[:1]]) == float("inf")
    values = np.array([1.0, -4.0], np.float32)
    assert dnnl._distance([values], [values + np.float32(0.5)]) == pytest.approx(0.5 / 3.5)


def test_tables_show_the_faster_preset_of_the_host() -> None:
    times = {who: Times(0.001, 0.001 * n, 1) for n, who in enumerate(("x", *dnnl.PROGRAMS, "onnxruntime")) if n}
    offload = {"largest": dnnl.Offload(3, 3, 9, 10, 50, 50), "cheapest": dnnl.Offload(1, 3, 6, 10, 40, 50)}
    parts, measured = dnnl.tables([dnnl.Row("net", times, offload, 1e-6)])
    assert parts.rows == (("net", 10, 50 / 1e6, 3, 1, 0.9, 1.0, 0.6, 0.8),)
    name, host, largest, cheapest, runtime, *ratios, distance = measured.rows[0]
    assert (name, host, distance) == ("net", 1.0, 1e-6)
    assert ratios == [host / cheapest, largest / cheapest, cheapest / runtime]  # type: ignore[operator]  # numbers


@pytest.mark.parametrize("table", dnnl.tables([]))
def test_the_page_shows_tables_of_this_form(table: Table) -> None:
    shown = table.shown(dnnl.PAGE).splitlines()
    empty = table.markdown().splitlines()
    assert shown[: len(empty)] == empty
    assert [row.split(" | ")[0].strip("| ") for row in shown[len(empty) :]] == [*dnnl.STORED, *dnnl_models.MADE]


@needs_libraries
def test_a_detector_of_two_stages_goes_to_the_engine_and_back(tmp_path: Path) -> None:
    """Suppression between the stages is the host's; what it picks decides what the second stage reads."""
    path = tmp_path / "two_stage.onnx"
    onnx.save(dnnl_models.two_stage(64, 8, 8, 0.07), str(path))
    result = verify_model(VerifyRequest(model=path, target="dnnl", regions="largest"), Plugins.load())
    assert result.ok
    units = [
        (node.op, assignment.candidate.unit)
        for assignment in result.compilation.mapping.assignments
        for node in assignment.candidate.match.nodes
    ]
    assert units.count(("NonMaxSuppression", "host")) == 2 and ("RoiAlign", "host") in units
    assert {unit for op, unit in units if op in ("Conv", "Gemm", "MatMul")} == {"dnnl"}
    offload = dnnl.offloaded(result.compilation)
    assert offload.regions >= 2 and offload.macs == offload.macs_total > 0
    (picked,) = (check for check in result.outputs if check.dtype == "int64")
    assert picked.bit_exact and (result.run.outputs[picked.name][..., 0] >= 0).any()
