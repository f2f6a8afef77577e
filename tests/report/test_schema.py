"""The published schema holds for reports of every target and kind of program, and the page on it names every field."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_report.read import read_report
from match_report.render import render, write_report
from match_report.twin_run import with_measured
from match_report.view.rectangles import memory_maps

from benchmarks.dnnl_models import resnet18
from tests.docs.pages import DOCS, text_of
from tests.end_to_end.models import QdqBuilder
from tests.end_to_end.side_by_side import two_branches
from tests.report.documents import MARKUP, large_report, renamed, schema, small_report


@dataclass(frozen=True, slots=True)
class Case:
    """A program: its model, and whether the twin is run."""

    model: Callable[[Path], object]
    target: str
    memory: tuple[tuple[str, int], ...] = ()
    twin: bool = False


def _convolutions(path: Path) -> None:
    QdqBuilder(3, 8, 12, 12).conv(16, 3).conv(16, 1).save(path)


def _heavy(path: Path) -> None:
    QdqBuilder(3, 16, 8, 8).conv(64, 3).conv(64, 3).save(path)


def _floats(path: Path) -> None:
    onnx.save(resnet18(64, 16), str(path))


CASES = {
    "gap9": Case(_convolutions, "gap9", twin=True),
    "streamed": Case(_heavy, "gap9", (("l2", 40_000),)),
    "beside": Case(two_branches, "carfield", twin=True),
    "ita": Case(_convolutions, "ita"),
    "diana": Case(_convolutions, "diana"),
    "host": Case(_convolutions, "host", twin=True),
    "regions": Case(_floats, "dnnl"),
}


def _report(case: Case, folder: Path, plugins: Plugins) -> dict[str, Any]:
    model, output = folder / "model.onnx", folder / "program"
    case.model(model)
    compile_model(CompileRequest(model, case.target, output, memory=case.memory), plugins)
    found = read_report(output)
    assert found["measured"] is None
    return with_measured(found, output, None, plugins) if case.twin else found


def _assert_rendered(report: dict[str, Any], folder: Path) -> None:
    jsonschema.Draft202012Validator(schema()).validate(report)
    files = write_report(report, folder)
    assert {"report.html", "trace.json", "layers.csv", "memory.csv"} <= set(files)
    assert {"timeline.svg", "memory.svg", "roofline.svg"} <= set(files)
    assert render(report) == render(json.loads(json.dumps(report)))


@pytest.mark.parametrize("name", CASES)
def test_reports_follow_the_schema_and_can_be_rendered(name: str, tmp_path: Path, plugins: Plugins) -> None:
    report = _report(CASES[name], tmp_path, plugins)
    _assert_rendered(report, tmp_path / "report")
    assert any(layer["schedule"]["streamed"] for layer in report["layers"]) is (name == "streamed")
    assert bool(report["queues"]) is (name == "beside")
    assert bool(report["regions"]) is (name == "regions")


@pytest.mark.slow
def test_a_program_with_swaps(tmp_path: Path, plugins: Plugins, shared_model: Callable[[str], Path]) -> None:
    model = shared_model("matcha_transformer_block_f16") / "model.onnx"
    case = Case(lambda path: shutil.copy(model, path), "carfield", (("l2", 430_080),), twin=True)
    report = _report(case, tmp_path, plugins)
    assert report["swaps"]
    _assert_rendered(report, tmp_path / "report")
    stored = next(map for map in memory_maps(report) if map.memory == report["target"]["store"])
    assert {swap["target"] for swap in report["swaps"]} & {r.buffer for r in stored.rectangles}


def test_the_schema_is_one_and_hand_written_reports_follow_it() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    for report in (small_report(), large_report(40, 20), renamed(small_report(), lambda _: MARKUP)):
        validator.validate(report)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("predicted_cycles", -1),
        ("schema_version", 2),
        ("measured", {}),
        ("extra", 1),
        ("layers", [{}]),
        ("source", {"file": "a.onnx", "sha256": "0"}),
    ],
)
def test_the_schema_refuses_what_is_no_report(place: str, value: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**small_report(), place: value}, schema())


def _objects(part: Mapping[str, Any]) -> Iterator[str]:
    """Names of all fields, in whatever depth."""
    for name, inner in part.get("properties", {}).items():
        yield name
        yield from _objects(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), dict):
            yield from _objects(part[key])
    for inner in (*part.get("anyOf", ()), *part.get("$defs", {}).values()):
        yield from _objects(inner)


def _enumerations(part: object) -> Iterator[list[object]]:
    """Values that fields are limited to."""
    if isinstance(part, dict):
        if isinstance(part.get("enum"), list):
            yield part["enum"]
        for inner in part.values():
            yield from _enumerations(inner)


def test_the_page_names_every_field_of_the_schema() -> None:
    told = set(re.findall(r"`([a-z0-9_]+)`", text_of(DOCS / "report.md")))
    assert set(_objects(schema())) <= told


def test_the_page_names_no_other_field() -> None:
    page = text_of(DOCS / "report.md").split("<!-- fields -->")[1].split("<!-- end -->")[0]
    values = {value for found in _enumerations(schema()) for value in found if isinstance(value, str)}
    assert set(re.findall(r"`([a-z0-9_]+)`", page)) <= set(_objects(schema())) | values
