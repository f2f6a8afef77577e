"""A command that runs in a fork does what it does in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import onnx
import pytest

from tests import forked
from tests.end_to_end.layer_specs import LayerSpec, layer_model

#: Command lines: of verbs, and three that fail.
COMMANDS = (
    ("compile", "net.onnx", "-t", "host", "-o", "out", "--quiet"),
    ("verify", "net.onnx", "-t", "gap9", "--json"),
    ("targets",),
    ("compile", "gone.onnx", "-t", "host", "-o", "out"),
    ("compile", "--no-such-option"),
    (),
)


def _texts(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """Exit code, output and messages, without the seconds that stages took."""
    return done.returncode, done.stdout, re.sub(r" +\d+\.\d\d s ", " s ", done.stderr)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_fork_does_what_a_process_does(command: tuple[str, ...], tmp_path: Path) -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    results, files = [], []
    for name in ("fork", "process"):
        folder = tmp_path / name
        folder.mkdir()
        onnx.save(layer_model(LayerSpec(64, 10)), str(folder / "net.onnx"))
        if name == "fork":
            done = forked.match(command, cwd=folder, env=environment)
        else:
            done = subprocess.run(
                [*forked.MATCH, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
        results.append(_texts(done))
        files.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
    assert results[0] == results[1]
    assert files[0] == files[1]


def _module(folder: Path, name: str, text: str) -> dict[str, str]:
    """An environment with this module, as that of a plug-in package."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[match.plugins]\n{name} = {name}\n", "utf-8")
    return {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(folder)}


def test_a_module_on_the_path_counts_and_so_do_its_handlers(tmp_path: Path) -> None:
    text = "import atexit\nmatch_contract = 1\natexit.register(print, 'the end')"
    environment = _module(tmp_path / "site", "fresh", text)
    assert forked.match(["plugins"], env=environment).stdout.endswith("the end\n")
    assert "the end" not in forked.match(["plugins"]).stdout, "the server knows nothing of it"


def test_a_module_that_hides_an_imported_one_gets_a_process(tmp_path: Path) -> None:
    environment = _module(tmp_path / "site", "ortools", "raise ImportError('not this one')")
    assert "not this one" in "".join(_texts(forked.match(["plugins"], env=environment))[1:])


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    environment = _module(tmp_path / "site", "slow", "import time\ntime.sleep(60)")
    started = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        forked.match(["plugins"], env=environment, timeout=0.5)
    assert time.monotonic() - started < 30
