"""Layers whose cycles rest on estimates are marked in every report, with the figures that are estimates."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from match_core.contract.cost import TransferShape
from match_core.contract.hardware import Constant
from match_core.contract.observe import NullObserver
from match_core.patterns.formulas import by_name
from match_core.pipeline import CompileRequest, compile_model, decide, prepare
from match_core.plugin.facade import Plugins
from match_core.plugin.guard import unguarded
from match_report.page.data import page_data
from match_report.read import read_report
from match_report.spreadsheet import layers_csv
from match_report.view.estimates import footnote_lines, footnotes

from tests.end_to_end.models import QdqBuilder
from tests.report.browser import MISSING, Page, has_chromium
from tests.report.documents import small_report, write_page

Match = Callable[..., "CompletedProcess[str]"]
CONSTANT, OTHER = "step_cycles", "ne16_cold_cycles"


def _tables() -> dict[str, tuple[str, tuple[Constant, ...]]]:
    """The name of the field that holds a cost model's figures, and the default table, by target."""
    import match_carfield.constants
    import match_diana.constants
    import match_gap9.constants
    import match_ita.constants

    return {
        "carfield": ("figures", match_carfield.constants.constants()),
        "diana": ("figures", match_diana.constants.constants()),
        "gap9": ("timing", match_gap9.constants.constants()),
        "ita": ("figures", match_ita.constants.constants()),
    }


@pytest.mark.parametrize("target", ["carfield", "diana", "gap9", "ita"])
def test_estimates_that_change_a_layer_are_named(target: str, tmp_path: Path) -> None:
    """Doubled one by one: those that are not named do not change the layer's cycles."""
    QdqBuilder(3, 8, 12, 12).conv(16, 3).conv(16, 1).save(tmp_path / "net.onnx")
    plugins, (field, table) = Plugins.load(), _tables()[target]
    request = CompileRequest(tmp_path / "net.onnx", target, execution="sequential", cache=False)
    planned, _ = decide(prepare(request, plugins, NullObserver()), plugins, NullObserver())
    seen = 0
    for task in planned.program.tasks:
        candidate, cost = task.assignment.candidate, task.assignment.schedule.cost
        if candidate.unit == planned.soc.host:
            continue
        unit = next(unit for unit in planned.units if unit.name == candidate.unit)
        model: Any = unguarded(plugins.cost(planned.soc, unit, candidate.pattern))

        def cycles(figures: Mapping[str, int], model: Any = model, workload: Any = candidate.workload) -> list[int]:
            changed, one = replace(model, **{field: figures}), np.ones(1, dtype=np.int64)
            tile = {dim.name: dim.size * one for dim in workload.dims}
            found = [changed.kernel_cycles(workload, tile), changed.launch_cycles(workload, tile)]
            for direction in ("in", "out"):
                copies = changed.transfer_cycles(workload, TransferShape(direction, one, one, one))
                found += [copies.issue, copies.data, copies.wait]
            return [*(int(np.sum(value)) for value in found), changed.layer_cycles(workload)]

        values = dict(by_name(table))
        estimates = [constant.name for constant in table if constant.estimate and constant.unit == "cycles"]
        moving = {name for name in estimates if cycles({**values, name: 2 * values[name] + 64}) != cycles(values)}
        named = set(cost.estimate.split(", ")) & set(estimates)
        assert moving <= named
        seen += bool(moving)
    assert seen


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("estimates")
    QdqBuilder(3, 8, 12, 12).conv(16, 3).conv(16, 1).save(folder / "net.onnx")
    compile_model(CompileRequest(folder / "net.onnx", "gap9", folder / "build"), Plugins.load())
    return folder


def test_the_report_marks_layers_and_states_the_reasoning(program: Path) -> None:
    report = read_report(program / "build")
    estimates = {figure["name"]: figure["source"] for figure in report["target"]["estimates"]}
    assert estimates[CONSTANT] and estimates[OTHER]
    told = {layer["unit"]: layer["schedule"]["cost"]["estimate"] for layer in report["layers"] if not layer["view"]}
    assert told["cluster"] == CONSTANT and {CONSTANT, OTHER} <= set(told["ne16"].split(", "))
    assert all(set(text.split(", ")) <= set(estimates) for text in told.values())
    data = page_data(report)
    assert {data["footnotes"][row["estimate"]] for row in data["rows"]} == {"[1]", "[2]"}
    rows = list(csv.DictReader(io.StringIO(layers_csv(report))))
    assert [row["estimate"] for row in rows] == [layer["schedule"]["cost"]["estimate"] for layer in report["layers"]]


def test_explain_marks_the_alternatives(program: Path, match_command: Match) -> None:
    found = match_command("explain", program / "net.onnx", "-t", "gap9", "--no-flip", "--quiet")
    marks = dict(re.findall(r"^ *(\[\d\]) estimate: (.+)$", found.stdout, re.MULTILINE))
    assert sorted(marks) == ["[1]", "[2]"] and CONSTANT in marks.values()
    assert len(re.findall(r"% +\[\d\]$", found.stdout, re.MULTILINE)) > 2
    document = json.loads(match_command("explain", program / "net.onnx", "-t", "gap9", "--no-flip", "--json").stdout)
    node = document["result"]["layers"][0]["node"]
    shown = match_command("explain", program / "net.onnx", node, "-t", "gap9", "--no-flip", "--quiet").stdout
    assert re.search(r" chosen \[\d\]$", shown, re.MULTILINE)
    assert "host_tile_macs_cycles" in shown


@pytest.mark.skipif(not has_chromium(), reason=MISSING)
def test_the_page_has_marks_footnotes_and_the_reasoning(browser: Page, tmp_path: Path) -> None:
    report = small_report()
    report["layers"][1]["schedule"]["cost"]["estimate"] = "dot_cycles <b>"
    figure = {"name": "dot_cycles", "value": 3, "unit": "cycles", "source": "guessed <i>from</i> a sibling"}
    report["target"]["estimates"] = [figure]
    browser.open(write_page(report, tmp_path / "report.html"))
    browser.click("tab-layers")
    assert [text for text in browser.texts("#layers-table td") if "[1]" in text] == ["400 [1]"]
    assert browser.texts("#layers-footnotes li") == ["[1] dot_cycles <b>"]
    assert browser.texts("#layers-estimates td") == ["dot_cycles", "3", "cycles", figure["source"]]
    browser.one("#layers-table tr[data-layer='1']").click()
    assert "dot_cycles <b>" in browser.texts("#details dd")
    browser.open(write_page(small_report(), tmp_path / "report.html"))
    assert not browser.all("#layers-footnotes") and browser.logged() == []


def test_reports_of_earlier_versions_have_no_marks() -> None:
    report = small_report()
    for layer in report["layers"]:
        layer["schedule"]["cost"].pop("estimate", None)
    assert {row["estimate"] for row in page_data(report)["rows"]} == {""}
    assert page_data(report)["footnotes"] == {}


def test_each_text_has_one_mark() -> None:
    marks = footnotes(["one", "", "two", "one"])
    assert marks == {"one": "[1]", "two": "[2]"}
    assert footnote_lines(marks) == ["[1] estimate: one", "[2] estimate: two"]
