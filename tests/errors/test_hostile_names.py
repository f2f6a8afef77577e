"""Names from a model file reach no C outside of comments, no path and no terminal control sequence."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from tests.errors import models

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-trigraphs", "-Wno-trigraphs")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


#: Targets of which programs are looked at: every unit's names reach C in code of its own.
TARGETS = ("gap9", "diana")


@pytest.fixture(params=TARGETS)
def compiled(request: pytest.FixtureRequest, tmp_path: Path, match_command: Run) -> Path:
    model = models.hostile(tmp_path / "*_ int injected; __; $(reboot) '.onnx")
    output = tmp_path / "out"
    done = match_command("compile", model, "-t", request.param, "-o", output)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    return output


def test_the_program_holds_no_raw_name(compiled: Path) -> None:
    for path in sorted(compiled.iterdir()):
        assert re.fullmatch(r"[A-Za-z0-9_.]+", path.name) and len(path.name) < 120
        if path.suffix not in (".c", ".h"):
            continue
        text = path.read_text(encoding="ascii")
        code = _COMMENT.sub(" ", text)
        assert not re.search(r"\b(injected|passwd|reboot)\b|\$|(long){20}", code), path.name
        text = text.replace('\\n"', "")  # ends of printed lines
        if path.name.startswith("match_"):
            text = text.replace(" \\\n", "\n")  # macros of a package's own files, which hold no names
        assert "\\" not in text and "??" not in text and "\r" not in text
        assert max(map(len, text.splitlines())) < 400, "a name of thousands of characters was cut"


def test_the_program_compiles_without_warnings(compiled: Path) -> None:
    """Trigraphs are switched on, as in a strict compiler: none may be formed."""
    include = compiled.parent / "include"
    include.mkdir()
    for name in ("pmsis.h", "pulp_nn_kernels.h", "pulp_nnx_ne16.h", "ne16_task.h", "ne16_pulp_bsp.h", "utils.h"):
        (include / name).touch()
    portable = [path for path in compiled.glob("*.c") if not path.name.startswith("match_")]
    assert portable
    for path in portable:
        command = ["cc", *STRICT, f"-I{compiled}", f"-I{include}", "-fsyntax-only", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_source_names_survive_in_the_manifest(compiled: Path) -> None:
    document = json.loads((compiled / "match.lock.json").read_text(encoding="utf-8"))
    names = {name for node in document["nodes"] for name in node["onnx_names"]}
    assert models.HOSTILE[0] in names


@pytest.mark.parametrize("target", TARGETS)
def test_the_program_still_computes(target: str, tmp_path: Path, plugins: Plugins) -> None:
    model = models.hostile(tmp_path / "*_ int injected; __; $(reboot) '.onnx")
    assert verify_model(VerifyRequest(model, target), plugins).bit_exact
