"""What docs/emitted-c.md says of a program holds for one: files, symbols, what it needs, manifest fields."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest
from match_gap9.timing import HEADER_NAME, render_timing_header

from tests.conftest import ROOT
from tests.docs.pages import DOCS, text_of

MODEL = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
NAME = "resnet8_shapes"
#: Functions of the C library that may be called: no memory management, no files, no output.
LIBRARY = {"memcpy", "memset", "memmove", "nearbyintf", "lrintf", "expf", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
#: The only target, and what it depends on.
ALLOWED = "match-core,match-host,match-quant,match-schedule,match-map,match-verify,match-gap9"
SDK = ROOT / "plugins" / "match-gap9" / "src" / "match_gap9" / "twin" / "include"


@pytest.fixture(scope="module")
def program(
    tmp_path_factory: pytest.TempPathFactory, match_command: Callable[..., subprocess.CompletedProcess[str]]
) -> Path:
    output = tmp_path_factory.mktemp("emitted") / "program"
    done = match_command("compile", MODEL, "-t", "gap9", "-o", output)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="module")
def symbols(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str]]]:
    """(kind, name) of the symbols of each object, compiled without the twin's headers in the way."""
    work = tmp_path_factory.mktemp("objects")
    (work / HEADER_NAME).write_text(render_timing_header())
    found = {}
    for source in sorted(program.glob("*.c")):
        target = work / f"{source.stem}.o"
        command = [
            "cc",
            "-std=c11",
            "-O2",
            f"-I{program}",
            f"-I{SDK}",
            f"-I{work}",
            "-c",
            str(source),
            "-o",
            str(target),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        listing = subprocess.run(["nm", "-P", str(target)], capture_output=True, text=True, check=True).stdout
        found[source.name] = [(line.split()[1], line.split()[0]) for line in listing.splitlines()]
    return found


def _documented(section: str) -> list[str]:
    rows = text_of(DOCS / "emitted-c.md").split(f"\n## {section}\n")[1].split("\n## ")[0]
    names: list[str] = []
    for cell in re.findall(r"^\| (.+?) \|", rows, flags=re.MULTILINE):
        stem = ""
        for name in re.findall(r"`([^`]+)`", cell):
            stem = name.rsplit(".", 1)[0] if not name.startswith(".") else stem
            names.append(f"{stem}{name}" if name.startswith(".") else name)
    return names


def test_every_file_is_listed(program: Path) -> None:
    listed = [*_documented("Files"), *_documented("GAP9's runtime files")]
    patterns = [name.replace("NAME", NAME).replace("UNIT", "*").replace("KIND", "*") for name in listed]
    names = [str(path.relative_to(program)) for path in program.rglob("*") if path.is_file()]
    missing = [name for name in names if not any(fnmatch(name, pattern) for pattern in patterns)]
    assert not missing


def test_the_runtime_files_that_are_listed_exist() -> None:
    runtime = {path.name for path in (SDK.parents[1] / "runtime").rglob("match_*.[ch]")}
    for name in _documented("GAP9's runtime files"):
        assert any(fnmatch(file, name) for file in runtime), name
    for file in runtime:
        assert any(fnmatch(file, name) for name in _documented("GAP9's runtime files")), file


def test_public_symbols_carry_the_name(symbols: dict[str, list[tuple[str, str]]]) -> None:
    for file, entries in symbols.items():
        prefix = f"{NAME}_" if file.startswith(NAME) else "match_gap9_"
        public = [name for kind, name in entries if kind.isupper() and kind != "U"]
        assert public and all(name.startswith(prefix) for name in public), file


def test_the_program_calls_only_itself_and_the_sdk(symbols: dict[str, list[tuple[str, str]]]) -> None:
    defined = {name for entries in symbols.values() for kind, name in entries if kind != "U"}
    sdk = re.compile(r"pi_|pulp_nn_|ne16_|hwpe_|match_gap9_twin_")  # the twin's pmsis.h counts cycles
    for file, entries in symbols.items():
        outside = {name for kind, name in entries if kind == "U"} - defined - LIBRARY
        assert not {name for name in outside if not sdk.match(name)}, file


def test_manifest_fields_are_documented(program: Path) -> None:
    section = text_of(DOCS / "emitted-c.md").split("\n## The manifest\n")[1]
    document = json.loads((program / "match.lock.json").read_text(encoding="utf-8"))
    inner = {key for part in ("source", "options") for key in document[part]}
    inner |= {key for part in ("inputs", "arenas", "nodes") for key in document[part][0]}
    inner |= {key for part in ("memory", "solvers") for value in document[part].values() for key in value}
    for field in {*document, *inner}:
        assert f"`{field}`" in section, field


@pytest.mark.parametrize("verb", ["compile", "run", "verify"])
def test_json_fields_are_documented(
    verb: str, program: Path, tmp_path: Path, match_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    import numpy as np

    inputs = tmp_path / "x.npz"
    np.savez(inputs, image=np.zeros((1, 1, 3, 32, 32), np.float32))
    arguments = {
        "compile": [MODEL, "-o", tmp_path / "out"],
        "run": [program, "--inputs", inputs, "--outputs", tmp_path / "y.npz"],
        "verify": [MODEL, "--inputs", inputs],
    }[verb]
    done = match_command(verb, *arguments, "--json", MATCH_ALLOW_PLUGINS=ALLOWED)
    assert done.returncode == 0, done.stdout
    document = json.loads(done.stdout)["result"]
    section = text_of(DOCS / "cli.md").split(f"\n## match {verb}\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| (`.+?`(?:, `.+?`)*) \| (.+) \|$", section, flags=re.MULTILINE))
    fields = {name for cell in rows for name in re.findall(r"`(\w+)`", cell)}
    assert fields == set(document) - {"verb", "ok", "error", "warnings", "notes"}  # those of the envelope
    if verb == "verify":
        section += text_of(DOCS / "cli.md").split("\n## match run\n")[1].split("\n## ")[0]
    for key in document["nodes"][0]:
        assert f"`{key}`" in section, key
