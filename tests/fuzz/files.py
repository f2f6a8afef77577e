"""Files beside models: arrays, documents that match wrote, boards. They are changed and given to the verbs that read
them, in this process."""

from __future__ import annotations

import io
import json
import os
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from match_core.cli.main import EXIT_INTERNAL, run

from tests.conftest import ROOT
from tests.fuzz.isolated import Ended, isolated
from tests.fuzz.mutate import flipped
from tests.fuzz.seeds import MADE

#: A verb on one of these files compiles C, at most.
SECONDS = 20
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3.5, 1 << 31, 1 << 64, -(1 << 63), 1e308, float("nan"), float("inf")),
    *("", "x", "../x", "/etc/hostname", "a\0b", "\u00e9\ud800", "%s", "x" * 5000, "int8", "host", "gap9"),
    *([], {}, [[]], [1, 2], {"x": 1}, ["x"], [None] * 50),
)
_LITERALS = (
    *("0", "-1", "1.5", "nan", "inf", "true", '""', '"x"', "[]", "{}", '["x"]', "99999999999999999999", "1979-05-27"),
    *('"1 kB"', '"-3 MB"', '"carfield"', '"../x.toml"', "[[1]]", "{ x = 1 }", '"\\u00e9"', "'''", "x"),
)
_HEADERS = (
    "{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000000,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<f4', 'fortran_order': True, 'shape': (-1, 2), }",
    "{'descr': '<U9', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<f4', 'shape': (1, 2, 6, 6), }",
    "[" * 2000,
    "__import__('os')",
    "",
)


_FIGURES = json.dumps(
    {
        "schema": "match.figures",
        "schema_version": 1,
        "target": "gap9",
        "preset": "open-sdk",
        "figures": [{"unit": "cluster", "constant": "DISPATCH_CYCLES", "value": 800}],
    }
).encode()


@dataclass(frozen=True, slots=True)
class FileCase:
    """The content of the file of this name in a program's folder, and the command line that reads it."""

    number: int
    seed: str
    change: str
    content: bytes
    arguments: tuple[str, ...]


@lru_cache(maxsize=1)
def _made() -> TemporaryDirectory[str]:
    made = TemporaryDirectory(prefix="match-fuzz-")
    folder = Path(made.name)
    (folder / "model.onnx").write_bytes(MADE["convolutions"]().SerializeToString(deterministic=True))
    shutil.copy(ROOT / "examples" / "boards" / "carfield_ita.toml", folder / "board.toml")
    random = np.random.default_rng(7)
    np.savez(folder / "x.npz", x=random.normal(size=(2, 1, 2, 6, 6)).astype(np.float32))
    with redirect_stdout(io.StringIO()):
        code = run(["compile", str(folder / "model.onnx"), "-t", "host", "-o", str(folder / "program"), "--quiet"])
    assert code == 0, "the seed of documents does not compile"
    shutil.copytree(folder / "program", folder / "other")
    return made


def project() -> Path:
    """A folder with a model, its arrays, a board and its program, made once for this process and those that it
    forks."""
    return Path(_made().name)


#: Share of a file among these cases, and command lines that read it: the file is mutated in a copy of the project.
_READERS: dict[str, tuple[int, tuple[tuple[str, ...], ...]]] = {
    "x.npz": (
        4,
        (
            ("run", "program", "--inputs", "x.npz"),
            ("quantize", "model.onnx", "--data", "x.npz", "-o", "q.onnx"),
            ("verify", "model.onnx", "-t", "host", "--inputs", "x.npz"),
        ),
    ),
    "program/report.json": (
        3,
        (
            ("report", "program"),
            ("report", "program", "--json"),
            ("diff", "program", "other"),
            ("diff", "other", "program"),
        ),
    ),
    "program/match.lock.json": (
        3,
        (
            ("run", "program", "--inputs", "x.npz"),
            ("diff", "other", "program"),
            ("compile", "model.onnx", "-t", "host", "-o", "program"),
        ),
    ),
    "board.toml": (
        2,
        (("check", "model.onnx", "-t", "board.toml"), ("compile", "model.onnx", "-t", "board.toml", "-o", "new")),
    ),
    "figures.json": (1, (("check", "model.onnx", "-t", "gap9", "--figures", "figures.json"),)),
}


def file_case(number: int, random: Random) -> FileCase:
    """One file, changed, and one verb that reads it."""
    name = random.choice([name for name, (share, _) in _READERS.items() for _ in range(share)])
    arguments = random.choice(_READERS[name][1])
    content = (project() / name).read_bytes() if name != "figures.json" else _FIGURES
    change: Callable[[bytes, Random], bytes]
    if random.random() < 0.15:
        change = _bytes
    elif name.endswith(".npz"):
        change = random.choice((_member, _member, _header, _names))
    else:
        change = _document if name.endswith(".json") else _board
    with suppress(ValueError, IndexError, KeyError):  # the format cannot state the change
        content = change(content, random)
    return FileCase(number, name, f"{change.__name__.strip('_')}, match {' '.join(arguments)}", content, arguments)


def _bytes(content: bytes, random: Random) -> bytes:
    choice = random.random()
    if choice < 0.1:
        return b""
    if choice < 0.2:
        return b"[" * 100_000
    if choice < 0.3:
        return content[: random.randrange(len(content))]
    return flipped(content, random)


def _member(content: bytes, random: Random) -> bytes:
    """Another array: its type, its sizes, its values."""
    array = np.load(io.BytesIO(content))["x"]
    choice = random.randrange(5)
    if choice == 0:
        kinds = (
            "float16",
            "float64",
            "int8",
            "int64",
            "uint8",
            "bool",
            "complex64",
            "S3",
            "U3",
            "datetime64[s]",
            "object",
        )
        array = array.astype(random.choice(kinds))
    elif choice == 1:
        shapes = ((1, 2, 6, 6), (0, 1, 2, 6, 6), (2,), (), (2, 2, 6, 6), (72, 2), (2, 1, 2, 6, 6, 1))
        array = np.resize(array, random.choice(shapes))
    elif choice == 2:
        array.reshape(-1)[random.randrange(array.size)] = random.choice((np.nan, np.inf, -np.inf, 1e38, 1e-45, -0.0))
    elif choice == 3:
        array[...] = random.choice((np.nan, np.inf, 0.0, 3e38))
    else:
        array = np.asfortranarray(array)
    stored = io.BytesIO()
    np.savez(stored, **{random.choice(("x", "x", "x", "y", "arr_0", "input_0", "")): array})
    return stored.getvalue()


def _header(content: bytes, random: Random) -> bytes:
    text = (random.choice(_HEADERS) + "\n").encode()
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        version = random.choice((b"\x01\x00", b"\x02\x00", b"\x09\x09"))
        size = len(text).to_bytes(4 if version == b"\x02\x00" else 2, "little")
        archive.writestr("x.npy", b"\x93NUMPY" + version + size + text + bytes(random.choice((0, 16, 4000))))
    return stored.getvalue()


def _names(content: bytes, random: Random) -> bytes:
    """Members twice, under odd names, no arrays, compressed, far larger than the file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        data = archive.read("x.npy")
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
        for _ in range(random.choice((1, 1, 2, 3))):
            name = random.choice(("x.npy", "x.npy", "../x.npy", "/x.npy", "x", "x.npy/", "\u00e9.npy", "a\\b.npy", "."))
            with warnings.catch_warnings():  # of names that stand twice
                warnings.simplefilter("ignore")
                archive.writestr(name, random.choice((data, data, b"", b"text", data[:100], data + bytes(1 << 20))))
    return stored.getvalue()


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a JSON document."""
    if isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _places(document[key])


def _document(content: bytes, random: Random) -> bytes:
    """One to three entries of a JSON document change, leave, or move."""
    document = json.loads(content)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(document))
        if not places:
            break
        container, key = random.choice(places)
        choice = random.random()
        if choice < 0.55:
            container[key] = random.choice(_VALUES)
        elif choice < 0.75:
            del container[key]
        elif choice < 0.85:
            other, place = random.choice(places)
            with suppress(KeyError, IndexError):
                container[key] = json.loads(json.dumps(other[place]))
        elif isinstance(container, dict):
            container[random.choice(("", "x", "schema", "\u00e9"))] = container.pop(key)
        else:
            container.append(container[key])
    if random.random() < 0.05:
        document = random.choice(_VALUES)
    if random.random() < 0.05:
        return json.dumps(document).replace(": ", ": " + "[" * 3000, 1).encode()
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _board(content: bytes, random: Random) -> bytes:
    """One to three lines of a TOML document change, leave, or stand twice."""
    lines = content.decode().splitlines()
    for _ in range(random.choice((1, 1, 2, 3))):
        place, choice = random.randrange(len(lines)), random.random()
        name, equals, _ = lines[place].partition("=")
        if choice < 0.6 and equals:
            lines[place] = f"{name}= {random.choice(_LITERALS)}"
        elif choice < 0.75:
            del lines[place]
        elif choice < 0.85:
            lines.insert(place, lines[random.randrange(len(lines))])
        elif choice < 0.95 and equals:
            lines[place] = (
                f"{random.choice(('x', 'name', 'units', 'size', '', 'a.b'))} {equals}{lines[place].partition('=')[2]}"
            )
        else:
            lines.insert(place, random.choice(("[x]", "[[x]]", "[memories]", "[units.x]", "[")))
        if not lines:
            break
    return "\n".join(lines).encode()


def run_case(case: FileCase, folder: Path) -> tuple[str, str]:
    """Kind of the verdict and its reason."""
    work = folder / "project"
    shutil.copytree(project(), work)
    (work / case.seed).write_bytes(case.content)
    try:
        found = isolated(lambda: _command(case.arguments, work), folder, SECONDS)
        if isinstance(found, Ended):
            return ("hang" if found.kind == "hang" else "crash"), found.reason
        if found == EXIT_INTERNAL:
            return "internal", _why((folder / "said").read_text(encoding="utf-8", errors="replace"))
        return ("passed" if found == 0 else "refused"), ""
    finally:
        shutil.rmtree(folder)


def _command(arguments: tuple[str, ...], work: Path) -> int:
    os.chdir(work)
    os.environ["MATCH_TRACEBACK"] = "1"
    os.environ["COLUMNS"] = "100"
    return run(list(arguments))


def _why(said: str) -> str:
    """The exception and the last line of match's own code before it."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    frames = [line for line in lines if line.startswith("File ") and "/src/match_" in line]
    place = frames[-1].rpartition("/")[2].replace('", line ', ":").partition(",")[0] if frames else "?"
    why = next((line for line in lines if line.startswith("why:")), lines[-1] if lines else "")
    return f"{why.removeprefix('why:').strip()[:120]} in {place}"
