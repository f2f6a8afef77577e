"""The published schema holds for reports of every target and kind of program, and the page on it names every field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.host import Plugins
from match_core.report.measured import with_measured
from match_core.report.read import read_report
from match_core.report.render import render, write_report

from tests.docs.pages import DOCS, text_of
from tests.end_to_end.models import QdqBuilder
from tests.end_to_end.residual import resnet18
from tests.end_to_end.side_by_side import two_branches
from tests.errors import models
from tests.report.documents import MARKUP, large_report, renamed, schema, small_report

#: Names of programs: target, memory, whether the twin is run.
PROGRAMS = {
    "gap9": ("gap9", (), True),
    "streamed": ("gap9", (("l2", 80_000),), False),
    "beside": ("carfield", (), True),
    "swapped": ("carfield", (("l2", 12_000),), False),
    "ita": ("ita", (), False),
    "diana": ("diana", (), False),
    "host": ("host", (), True),
    "hostile": ("gap9", (), False),
}


def _model(name: str, folder: Path) -> Path:
    path = folder / "model.onnx"
    if name == "streamed":
        return resnet18(path, width=16, stages=3, size=16)
    if name in ("beside", "swapped"):
        two_branches(path)
        return path
    if name == "hostile":
        return models.hostile(path)
    return QdqBuilder(3, 8, 12, 12).conv(16, 3).conv(16, 1).save(path)


@pytest.fixture(params=PROGRAMS)
def report(request: pytest.FixtureRequest, tmp_path: Path, plugins: Plugins) -> dict[str, Any]:
    target, memory, twin = PROGRAMS[request.param]
    model, output = _model(request.param, tmp_path), tmp_path / "program"
    compile_model(CompileRequest(model, target, output, memory=memory), plugins)
    found = read_report(output)
    assert found["measured"] is None
    if request.param == "streamed":
        assert any(layer["schedule"]["streamed"] for layer in found["layers"])
    if request.param == "beside":
        assert found["queues"]
    if request.param == "swapped":
        assert found["swaps"]
    return with_measured(found, output, None, plugins) if twin else found


def test_reports_follow_the_schema_and_can_be_rendered(report: dict[str, Any], tmp_path: Path) -> None:
    jsonschema.Draft202012Validator(schema()).validate(report)
    files = write_report(report, tmp_path / "report")
    assert {"report.html", "trace.json", "layers.csv", "memory.csv"} <= set(files)
    assert {"timeline.svg", "memory.svg", "roofline.svg"} <= set(files)
    assert render(report) == render(json.loads(json.dumps(report)))


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


def test_the_page_names_every_field_of_the_schema() -> None:
    """Fields that ``match compile --json`` prints too are told in cli.md."""
    told = set(re.findall(r"`([a-z0-9_]+)`", text_of(DOCS / "report.md") + text_of(DOCS / "cli.md")))
    assert set(_objects(schema())) <= told


def test_the_page_names_no_other_field() -> None:
    page = text_of(DOCS / "report.md").split("<!-- fields -->")[1].split("<!-- end -->")[0]
    values = {"activation", "scratch", "input", "output", "host", "unit", "link", "false", "true"}
    values |= {"exact", "upper", "lower", "fitted"}
    assert set(re.findall(r"`([a-z0-9_]+)`", page)) - values <= set(_objects(schema())) | {"report"}
