"""The document of every verb has the form of its schema, in success and in failure; and tables lose no number."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import onnx
import pytest
from match_core.cli.tables import Table, table_lines
from match_core.io.documents import read_document
from match_core.io.sizes import bytes_text
from match_core.plugin.facade import Plugins
from match_core.plugin.places import PUBLISHED
from match_report.advice.budget import seconds_text

Match = Callable[..., "CompletedProcess[str]"]
OWNERS = {
    "match_core": ("compile", "targets", "plugins"),
    "match_report": ("check", "explain", "fit", "diff", "doctor", "offload", "operators", "report"),
    "match_verify": ("run", "verify"),
    "match_quant": ("quantize",),
    "match_kit": ("lines", "new-target", "test-target"),
    "match_calibrate": ("calibrate",),
    "match_export": ("export",),
    "match_explore": ("explore",),
}


def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def _schema(package: str, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((_folder(package) / "schemas" / f"{name}-schema.json").read_text("utf-8"))
    return document


def checked(text: str, folder: Path) -> dict[str, Any]:
    """The document, after both schemas have read it: nothing that the verb's schema does not name is in the result."""
    file = folder / "document.json"
    file.write_text(text, "utf-8")
    document = read_document(file, _schema("match_core", "envelope"))
    if document["result"] is not None:
        schema = _schema(next(p for p, verbs in OWNERS.items() if document["verb"] in verbs), document["verb"])
        file.write_text(json.dumps(document["result"]), "utf-8")
        assert not set(read_document(file, schema)) - set(schema["properties"])
    return document


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, match_command: Match) -> Path:
    folder = tmp_path_factory.mktemp("schemas")
    text = '<ir_version: 8, opset_import: ["" : 17]> net (float[1, 8] x) => (float[1, 8] y) { y = Relu (x) }'
    model = onnx.parser.parse_model(text)
    model.graph.node[0].name = "relu"
    onnx.save(model, str(folder / "net.onnx"))
    np.savez(folder / "x.npz", x=np.ones((2, 1, 8), np.float32))
    done = match_command("compile", folder / "net.onnx", "-t", "host", "-o", folder / "b", "--json", "--quiet")
    assert checked(done.stdout, folder)["status"] == "ok"
    return folder


VERBS: dict[str, tuple[str, ...]] = {
    "run": ("b", "--inputs", "x.npz", "--outputs", "y.npz"),
    "targets": (),
    "plugins": (),
    "operators": ("net.onnx",),
    "check": ("net.onnx", "-t", "host"),
    "explain": ("net.onnx", "relu", "-t", "host"),
    "explain network": ("net.onnx", "-t", "host"),
    "fit": ("net.onnx", "-t", "host", "--budget", "ram=1"),
    "report": ("b", "--compare", "b"),
    "offload": ("b",),
    "diff": ("b", "b"),
    "verify": ("net.onnx", "-t", "host"),
    "new-target": ("sprout", "-o", "sprout"),
    "lines": ("match-kit", "match-regions"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_result_has_the_form_of_its_schema(verb: str, program: Path, match_command: Match) -> None:
    name, verb = verb, verb.partition(" ")[0]
    arguments = [str(program / word) if (program / word).exists() else word for word in VERBS[name]]
    arguments = [str(program / word) if word in ("y.npz", "sprout") and verb != word else word for word in arguments]
    done = match_command(verb, *arguments, "--json")
    document = checked(done.stdout, program)
    assert (document["verb"], document["status"]) == (verb, "failed" if done.returncode else "ok")


@pytest.mark.parametrize("verb", [verb for verbs in OWNERS.values() for verb in verbs])
def test_a_failure_has_the_form_of_the_envelope(verb: str, tmp_path: Path, match_command: Match) -> None:
    document = checked(match_command(verb, "--no-such-option", "--json").stdout, tmp_path)
    assert (document["verb"], document["status"], document["result"]) == (verb, "failed", None)
    assert document["error"]["code"] == "MATCH-U001"


def test_published_targets_are_those_of_the_packages() -> None:
    plugins = Plugins.load()
    chips = [soc.name for soc in plugins.hardware().socs if not soc.generic]
    listed = json.loads((_folder("match_report") / PUBLISHED).read_text("utf-8"))
    assert listed == {name: plugins.owner_of(name).distribution for name in sorted(chips)}


def test_a_target_that_is_not_installed_names_its_package(program: Path, match_command: Match) -> None:
    done = match_command("check", program / "net.onnx", "-t", "GAP9", MATCH_DISABLE_PLUGINS="match-gap9")
    assert done.returncode == 2 and "match-gap9 defines it and is not active: pip install match-gap9" in done.stderr


def test_numbers_are_whole_and_columns_go_by_priority() -> None:
    rows = [("/a/very/long/name/of/a/layer/Conv", "cluster", "conv3x3", "1,234,567"), ("b", "ne16", "conv", "8")]
    table = Table("t", ("layer", "unit", "pattern", "cycles"), rows, frozenset({"cycles"}), ("pattern",))
    lines, omitted = table_lines(table, 46)
    assert omitted == ["pattern"] and max(map(len, lines)) <= 46
    assert "1,234,567" in lines[1] and "..." in lines[1]
    assert table_lines(table, 120)[1] == []


def test_lists_continue_on_further_lines() -> None:
    table = Table("t", ("name", "memories"), [("a", "l1 128 KiB, l2 1.375 MiB, l3 63 MiB")])
    lines, omitted = table_lines(table, 30)
    assert omitted == [] and all(any(size in line for line in lines) for size in ("128 KiB", "1.375 MiB", "63 MiB"))


def test_units_are_readable() -> None:
    assert [bytes_text(count) for count in (-10_384, 0, 1023, 1024, 64512 * 1024, 2**31)] == [
        *("-10.14 KiB", "0 bytes", "1023 bytes", "1 KiB", "63 MiB", "2 GiB")
    ]
    assert [seconds_text(time) for time in (1.5, 0.00125, 2e-5)] == ["1.50 s", "1.25 ms", "20.00 us"]
