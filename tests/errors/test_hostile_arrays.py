"""Files of arrays from strangers: read without more room than they have, without code of theirs, or a coded error."""

from __future__ import annotations

import io
import os
import pickle
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from match_core.contract.errors import MatchError
from match_core.io.arrays import TensorSpec
from match_report import npz
from match_report.npz import read_arrays

from tests.errors import models

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., "subprocess.CompletedProcess[str]"]

X = TensorSpec("x", (4,), "float32")
DATA = np.arange(4, dtype=np.float32)


def _array(values: object = DATA) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(values), allow_pickle=True)
    return file.getvalue()


def _header(text: str, data: bytes = DATA.tobytes(), version: tuple[int, int] = (1, 0)) -> bytes:
    head = text.encode("latin-1") + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", len(head))
    return b"\x93NUMPY" + bytes(version) + size + head + data


def _stated(shape: str, descr: str = "'<f4'", order: str = "False", data: bytes = DATA.tobytes()) -> bytes:
    return _header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}", data)


def _file(folder: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(folder / "x.npz", "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return folder / "x.npz"


class _Payload:
    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (3,)


REFUSED: dict[str, bytes] = {
    "a pickle": pickle.dumps(_Payload()),
    "objects": _array(np.array([_Payload()], object)),
    "objects in fields": _stated("(1,)", "[('a', '|O')]", data=pickle.dumps(_Payload())),
    "fields": _stated("(1,)", "[('a', '<f4', (4,))]"),
    "more elements than data": _stated("(5,)"),
    "fewer elements than data": _stated("(3,)"),
    "more elements than any memory": _stated("(1099511627776, 1024)"),
    "a product beyond 64 bits": _stated("(4294967296, 4294967296)"),
    "two sizes below 0": _stated("(-2, -2)"),
    "a size below 0": _stated("(-4,)"),
    "a size that is a truth value": _stated("(True, 4.0)"),
    "no sizes": _stated("4"),
    "an unknown type": _stated("(4,)", "'<f5'"),
    "no type": _stated("(4,)", "None"),
    "a nested type": _stated("(4,)", "[" * 90 + "]" * 90),
    "an order that is none": _stated("(4,)", order="'F'"),
    "a header that is code": _header("__import__('os')._exit(3)"),
    "a nested header": _header("(" * 5000),
    "a header of 100,000 characters": _header("{" + " " * 60_000),
    "a header that is cut off": _stated("(4,)")[:20],
    "an unknown version": _header("{}", version=(9, 0)),
    "a header longer than the file": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
    "no array": b"no array",
    "nothing": b"",
}


def _code(path: Path, *specs: TensorSpec) -> str:
    with pytest.raises(MatchError) as caught:
        read_arrays(path, specs)
    assert caught.value.why and caught.value.help
    return caught.value.code


@pytest.mark.parametrize("name", REFUSED)
def test_a_member_that_is_refused(name: str, tmp_path: Path) -> None:
    path = _file(tmp_path, ("x.npy", REFUSED[name]))
    assert _code(path, X) == "MATCH-U040"
    assert _code(path) == "MATCH-U040"


@pytest.mark.parametrize("name", REFUSED)
def test_a_member_that_nobody_asked_for(name: str, tmp_path: Path) -> None:
    """It is not read, whatever it holds."""
    path = _file(tmp_path, ("x.npy", _array()), ("other.npy", REFUSED[name]), ("readme.txt", b"text"))
    assert read_arrays(path, (X,))["x"].tolist() == DATA.tolist()


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_orders_and_versions(order: str, version: tuple[int, int], tmp_path: Path) -> None:
    values = np.asarray(np.arange(6, dtype=">i2").reshape(2, 3), order=order)  # type: ignore[call-overload]
    file = io.BytesIO()
    np.lib.format.write_array(file, values, version=version)
    found = read_arrays(_file(tmp_path, ("x.npy", file.getvalue())))["x"]
    assert found.tolist() == values.tolist()


def test_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file whose array is larger than what is read; a header that lies about it does not help."""
    monkeypatch.setattr(npz, "MOST_BYTES", 1 << 20)
    path = _file(tmp_path, ("x.npy", _array(np.zeros(1 << 20, np.uint8))), method=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10_000
    assert _code(path, X) == "MATCH-U040"
    whole = path.read_bytes()
    place = whole.index(b"PK\x01\x02") + 24  # the size in the directory
    path.write_bytes(whole[:place] + struct.pack("<I", 500) + whole[place + 4 :])
    assert _code(path, X) == "MATCH-U040"


def test_two_arrays_of_one_name(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        path = _file(tmp_path, ("x.npy", _array()), ("x.npy", _array(DATA + 1)))
    assert _code(path, X) == "MATCH-U040"


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.99])
def test_truncated(keep: float, tmp_path: Path) -> None:
    path = _file(tmp_path, ("x.npy", _array()))
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    assert _code(path, X) == "MATCH-U040"


def test_changed_bytes(tmp_path: Path) -> None:
    """Any byte of an archive: read, or a coded error."""
    draw = random.Random(4)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        whole = _file(tmp_path, ("x.npy", _array()), ("y.npy", _array()), method=method).read_bytes()
        for _ in range(300):
            content = bytearray(whole)
            for _ in range(draw.randrange(1, 4)):
                content[draw.randrange(len(content))] = draw.randrange(256)
            (tmp_path / "x.npz").write_bytes(content)
            try:
                read_arrays(tmp_path / "x.npz", (X,))
            except MatchError as error:
                assert error.code == "MATCH-U040"


@pytest.mark.parametrize("kind", ["pipe", "folder", "nothing", "device"])
def test_what_is_no_file(kind: str, tmp_path: Path) -> None:
    path = {"device": Path("/dev/zero")}.get(kind, tmp_path / "x.npz")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    assert _code(path, X) == "MATCH-U040"


def test_run_reads_its_inputs_alone(tmp_path: Path, match_command: Run) -> None:
    """And converts what loses nothing, with a note."""
    model = models.relu(tmp_path / "model.onnx")
    assert match_command("compile", model, "-t", "host", "-o", tmp_path / "out", "--quiet").returncode == 0
    other = ("other.npy", REFUSED["objects"])
    path = _file(tmp_path, ("x.npy", _array(np.ones((2, 1, 8), np.int64))), other)
    arguments = ("--inputs", path, "--outputs", tmp_path / "y.npz")
    done = match_command("run", tmp_path / "out", *arguments)
    assert done.returncode == 0, done.stderr
    assert "converted from int64 to float32; no value changes" in done.stderr
    done = match_command("report", tmp_path / "out", "--inputs", path)
    assert done.returncode == 0, done.stderr
    expected = _file(tmp_path / "out", ("y.npy", _array(np.ones((2, 1, 8), np.int16))), other)
    done = match_command("verify", model, "-t", "host", "--inputs", path, "--expected", expected)
    assert done.returncode == 0, done.stderr
    assert "input 'x' is converted from int64" in done.stderr and "output 'y' is converted from int16" in done.stderr
    lossy = _file(tmp_path / "out", ("x.npy", _array(np.full((2, 1, 8), (1 << 24) + 1))))
    done = match_command("verify", model, "-t", "host", "--inputs", lossy)
    assert done.returncode == 2 and "16 of 16 values would change, first 16777217" in done.stderr
