"""What every verb prints, at every width: no line is too wide, no number is broken or cut, no unit is parted from it.

Each verb runs once; what it told the terminal layer is printed again for each kind of stream.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from match_core.cli.envelope import envelope
from match_core.cli.main import run
from match_core.cli.tables import Table, table_lines
from match_core.cli.terminal import Terminal
from match_core.cli.verbs import core_verbs
from match_core.plugin.facade import Plugins
from match_kit.testing.findings import Outcome

from tests.float_models import exported_network, images
from tests.test_schemas import checked

#: What a verb calls to print: the method and its arguments.
Call = tuple[str, tuple[Any, ...], dict[str, Any]]
CALLS = ("document", "line", "paragraph", "table", "note", "warning", "stage_finished", "error")
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?")
_ELAPSED = re.compile(r" *\d+\.\d\d s\b")
_AMOUNT = re.compile(r"\d[\d,.]* (?:bytes|KiB|MiB|GiB|cycles|ms|us|MHz|dB|uJ)\b")
_UNIT = re.compile(r" *(bytes|[KMG]iB|cycles|[mu]s|MHz|dB|uJ)\b")
_COMMAND = re.compile(r" *(\w+: +)?(match|pip|apt|cmake) ")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")

#: Verb -> its arguments in the folder of the fixture, in an order in which each finds what it reads.
VERBS: dict[str, str] = {
    "quantize": "net.onnx --dim batch=1 --data x.npz --labels y.npy --search -o int8.onnx",
    "compile": "int8.onnx -t gap9 -o after",
    "run": "after --inputs x.npz --outputs out.npz",
    "verify": "int8.onnx -t gap9 --inputs x.npz --layers",
    "diff": "before after",
    "export": "after --as cmake -o package",
    "report": "after --compare before",
    "offload": "after",
    "check": "int8.onnx -t gap9",
    "check float": "net.onnx -t gap9 --dim batch=1",
    "explain": "int8.onnx /backbone/stage1/conv1/Conv -t gap9 --no-flip",
    "explain network": "int8.onnx -t gap9 --no-flip",
    "fit": "int8.onnx -t gap9 --precision fast --quantized-io --budget l1=30k --budget latency=1us",
    "operators": "int8.onnx",
    "targets": "",
    "plugins": "",
    "doctor": "",
    "calibrate": "net.onnx --counters demo=demo.csv -t gap9 -o figures.json",
    "explore": "study.toml -o explored -w 1",
    "new-target": "sprout",
    "lines": "",
    "test-target": "match-gap9 -o badge.json",
}
#: Their exit codes, if not 0.
CODES = {"fit": 1, "test-target": 1}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Call]]:
    """By verb, what it prints, in order."""
    folder = tmp_path_factory.mktemp("widths")
    _write_models(folder)
    made: dict[str, list[Call]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for stream in ("stdout", "stderr"):
            patch.setattr(sys, stream, io.StringIO())
        patch.setattr("match_kit.testing.run.outcomes_of", _outcomes)
        _calibration(patch)
        calls = _record(patch)
        for verb, arguments in VERBS.items():
            if verb == "diff":
                assert run(["compile", "int8.onnx", "-t", "gap9", "--without-unit", "ne16", "-o", "before"]) == 0
            calls.clear()
            assert run([verb.partition(" ")[0], *arguments.split()]) == CODES.get(verb, 0), calls
            made[verb] = list(calls)
    return made


def _record(patch: pytest.MonkeyPatch) -> list[Call]:
    """Every call of the terminal layer from now on, without those that it makes itself."""
    calls: list[Call] = []
    within = [False]

    def recorded(name: str) -> Callable[..., None]:
        method = getattr(Terminal, name)

        def call(terminal: Terminal, *arguments: Any, **named: Any) -> None:
            outer = not within[0]
            if outer:
                calls.append((name, arguments, named))
            within[0] = True
            try:
                method(terminal, *arguments, **named)
            finally:
                within[0] = not outer

        return call

    for name in CALLS:
        patch.setattr(Terminal, name, recorded(name))
    return calls


def _write_models(folder: Path) -> None:
    """A float network with names as long as those of exporters, its samples, and labels."""
    model = exported_network()
    for node in model.graph.node:
        node.name = f"/backbone/stage1{node.name}"
    onnx.save(model, str(folder / "net.onnx"))
    np.savez(folder / "x.npz", image=images(8))
    np.save(folder / "y.npy", np.arange(8))
    (folder / "study.toml").write_text('[study]\nmodels = ["int8.onnx"]\ntargets = ["host"]\n', encoding="utf-8")


def _calibration(patch: pytest.MonkeyPatch) -> None:
    """Instead of a fit, which takes half a minute: a figures file as it would write it."""
    errors = {"layers": 18, "before": 0.391, "after": 0.0844, "cross_validated": 0.166}
    names = ["cluster.sdk_add_quad_cycles", "cluster.sdk_wide_row_cycles", "ne16.streamin_cycles", "cluster.dma_cycles"]
    row = {"unit": "cluster", "constant": "cluster_offload_cycles", "before": 650.25, "value": 8000, "in": "cycles"}
    document = {
        **{"target": "gap9", "preset": "engine", "errors": errors, "figures": [{**row, "standard_error": 12.345}]},
        "kernels": [{"unit": "cluster", "pattern": "depthwise3x3_wide", "layers": 9, "before": 0.4, "after": 0.1}],
        "kept": {"not_determined": names, "not_in_any_layer": names},
    }
    layer = {"program": "build/resnet8", "index": 12, "title": "/stage1/conv1/Conv, /stage1/relu1/Relu, /stage1/Add"}
    cycles = {"measured": 1_234_567, "before": 654_321, "after": 1_200_000, "error_before": 0.47, "error_after": 0.028}
    rows = [{**layer, **cycles, "unit": "cluster", "pattern": "depthwise3x3_wide"}]
    soc = Plugins.load().soc("gap9")
    made = SimpleNamespace(layers=rows, fit=SimpleNamespace(errors=[1]))
    for place, value in {
        "programs.digests": {},
        "programs.runs": [SimpleNamespace(planned=SimpleNamespace(soc=soc))],
        "calibration.calibrated": made,
        "document.figures_document": document,
        "document.figures_text": "{}",
        "document.layer_rows": rows,
    }.items():
        patch.setattr(f"match_calibrate.{place}", partial(_given, value))


def _given(value: object, *_: object) -> object:
    return value


def _outcomes(*_: object) -> tuple[Outcome, ...]:
    """Instead of a minute of conformance cases."""
    finding = "kernels or twin of unit cluster, model two_layers: 10 asynchronous operations were never waited for"
    return (
        Outcome("loads-imports", "loads", "gap9", "passed"),
        Outcome("programs-lazy", "programs", "gap9", "passed", (finding,)),
    )


def _again(calls: list[Call], columns: int | None, **environment: str) -> str:
    """The text of the calls on a terminal of this width, or in a pipe if it is None."""
    ours, theirs = pty.openpty() if columns else os.pipe()
    if columns:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    text: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(ours, text))
    reader.start()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(theirs, "w", encoding="utf-8") as stream:
        for name in ("COLUMNS", "NO_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", **environment}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        terminal = Terminal()
        for name, arguments, named in calls:
            getattr(terminal, name)(*arguments, **named)
            stream.flush()
    reader.join(timeout=20)
    return b"".join(text).decode().replace("\r\n", "\n")


def _drain(end: int, text: list[bytes]) -> None:
    with contextlib.suppress(OSError):  # a terminal whose other side is closed
        while chunk := os.read(end, 65536):
            text.append(chunk)
    os.close(end)


def _plain(text: str) -> str:
    """Without styles and elapsed times, which differ each time."""
    return _ELAPSED.sub("", _STYLE.sub("", text))


def test_every_verb_is_here() -> None:
    commands = (*core_verbs(), *Plugins.load().commands())
    assert {command.name for command in commands} == {verb.partition(" ")[0] for verb in VERBS}


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("verb", VERBS)
def test_a_terminal_shows_whole_numbers_in_lines_that_fit(
    verb: str, columns: int, printed: dict[str, list[Call]]
) -> None:
    plain = _plain(_again(printed[verb], columns))
    lines = plain.splitlines()
    assert lines
    wide = [line for line in lines if len(line) > columns and not _COMMAND.match(line)]
    assert not wide, "\n".join(wide)
    own = _plain(_again(printed[verb], None, COLUMNS="9999"))
    assert not set(_NUMBER.findall(plain)) - set(_NUMBER.findall(own)), "numbers are broken"
    parted = [line for line in lines if _UNIT.match(line) and f"\n{line}" not in own]
    assert not parted, "\n".join(parted)
    missing = set(_AMOUNT.findall(own)) - set(_AMOUNT.findall(plain))
    assert not missing or "no room for" in plain, f"amounts are broken: {missing}"
    assert lines[0] and lines[-1].startswith(("next: ", "error: ", "  help: "))


@pytest.mark.parametrize("verb", VERBS)
def test_a_pipe_gets_the_same_text_without_styles(verb: str, printed: dict[str, list[Call]]) -> None:
    plain = _again(printed[verb], None)
    assert "\x1b" not in plain
    assert _plain(plain) == _plain(_again(printed[verb], None, NO_COLOR="1", TERM="dumb"))
    assert "\x1b" not in _again(printed[verb], 80, NO_COLOR="1")
    tables = [argument for _, arguments, _ in printed[verb] for argument in arguments if isinstance(argument, Table)]
    widths = [len(line) for table in tables for line in table_lines(table, 120)[0]]
    assert max(widths, default=0) <= 120


@pytest.mark.parametrize("verb", VERBS)
def test_the_first_line_is_a_headline_and_the_last_the_next_command(
    verb: str, printed: dict[str, list[Call]], tmp_path: Path
) -> None:
    """In text and in the document, which has the form of its schema."""
    ((document,),) = (arguments for name, arguments, _ in printed[verb] if name == "document")
    result = checked(json.dumps(envelope(document, (), ())), tmp_path)["result"]
    told = [call for call in printed[verb] if call[0] in ("line", "paragraph", "table")]
    assert told[0][0] == "paragraph" and told[0][2].get("style") == "bold"
    if isinstance(result["headline"], str):
        assert told[0][1] == (result["headline"],)
    assert told[-1][1] == (f"next: {result['next']}",)
