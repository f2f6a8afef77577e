"""``match diff`` as a gate: what differs, and which limits hold."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from match_core.cli.tables import Table
from match_report.markdown import markdown_text

if TYPE_CHECKING:
    from pathlib import Path

    from core.tests.cli.conftest import MakeModel, Match
    from core.tests.plugin.distributions import Site


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs that were compiled for the first test."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(autouse=True)
def _programs(site: Site, match: Match, make_model: MakeModel, kept: Path) -> None:
    """``fast`` on the accelerator, ``slow`` on the host."""
    site.install_example()
    model = make_model(operators=("Relu", "Sigmoid"))
    for name, options in (("fast", ()), ("slow", ("--without-unit", "relu_unit"))):
        if not (kept / name).exists():
            assert match("compile", model, "-t", "example", "-o", kept / name, *options).code == 0
        shutil.copytree(kept / name, match.directory / name)


def test_it_tells_cycles_units_and_files(match: Match) -> None:
    done = match("diff", "fast", "slow", "--json")
    assert done.code == 0, done.err
    document = done.json
    assert (document["verb"], document["ok"], document["targets"]) == ("diff", True, ["example", "example"])
    reports = [json.loads((match.directory / name / "report.json").read_text()) for name in ("fast", "slow")]
    assert [document["cycles"][when] for when in ("before", "after")] == [r["predicted_cycles"] for r in reports]
    assert document["cycles"]["after"] > document["cycles"]["before"]
    layers = {layer["name"]: (layer["before"], layer["after"]) for layer in document["layers"]}
    assert layers["Relu_0"] == (94, None), "30 to start, 256 elements at 4 per cycle; on the host it is fused"
    assert layers["Relu_0, Sigmoid_1"] == (None, reports[1]["predicted_cycles"])
    assert document["moved"] == [{"node": "Relu_0", "before": ["relu_unit"], "after": ["host"]}]
    changed = {file["name"] for file in document["files"]}
    assert "net_relu_unit.c" in changed and "net_weights.c" not in changed


def test_a_program_does_the_same_as_itself(match: Match) -> None:
    done = match("diff", "fast", "fast", "--same-units", "--limit", "cycles=0", "--limit", "ram=0%")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-2:] == ["the programs do not differ", "next: match report fast --compare fast"]


def test_a_report_that_is_not_that_of_its_program(match: Match) -> None:
    """By the digests of the manifest; a report without a program is compared as it is."""
    assert match("diff", "fast", "slow", "--json").json["warnings"] == []
    (match.directory / "fast" / "net.h").write_text("changed")
    changed = match("diff", "fast", "slow", "--json")
    assert changed.code == 0 and "net.h" in changed.json["warnings"][0]
    shutil.copy(match.directory / "slow" / "report.json", match.directory / "fast" / "report.json")
    for arguments in (("diff", "fast", "slow"), ("report", "slow", "--compare", "fast"), ("report", "fast")):
        (warning,) = match(*arguments, "--json").json["warnings"]
        assert warning == "fast/report.json does not belong to the program beside it: compile the model again"
    (match.directory / "fast" / "match.lock.json").unlink()
    assert match("diff", "fast", "slow", "--json").json["warnings"] == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--limit", "cycles=0.5%"), 1),
        (("--limit", "cycles=1"), 1),
        (("--limit", "cycles=100000"), 0),
        (("--limit", "cycles=10000%"), 0),
        (("--limit", "cycles=100000", "--limit", "cycles=1"), 1),
        (("--same-units",), 1),
    ],
)
def test_limits_decide_the_exit_code(match: Match, options: tuple[str, ...], code: int) -> None:
    done = match("diff", "fast", "slow", *options, "--json")
    assert (done.code, done.json["ok"]) == (code, code == 0)
    assert match("diff", "slow", "fast", "--limit", "cycles=0").code == 0, "getting faster is no growth"


@pytest.mark.parametrize("text", ["cycles", "=3", "cycles=fast", "cycles=-3", "l7=1kB"])
def test_a_limit_that_cannot_be_used(match: Match, text: str) -> None:
    done = match("diff", "fast", "slow", "--limit", text, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U033")


@pytest.mark.parametrize("content", [None, "{", "[]", '{"schema": "match.report", "schema_version": 99}'])
def test_a_directory_without_a_report_that_can_be_read(match: Match, content: str | None) -> None:
    report = match.directory / "slow" / "report.json"
    report.unlink()
    if content is not None:
        report.write_text(content)
    done = match("diff", "fast", "slow", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "MATCH-U032")


def test_markdown_cannot_be_broken_by_names(match: Match, make_model: MakeModel) -> None:
    assert match("diff", "fast", "slow", "--markdown").out.startswith("net on example: +")
    table = Table("a|b", ("node", "n"), [("x|y<b>\n", "1")], frozenset({"n"}))
    assert (
        markdown_text(table)
        == "**a\\|b**\n\n| node | n |\n| --- | ---: |\n| x\\|y\\<b\\>\N{REPLACEMENT CHARACTER} | 1 |\n\n"
    )
