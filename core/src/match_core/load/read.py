"""Reads a file into a proto that contains all weights."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError, UsageError
from match_core.load.checks import check_operators
from match_core.load.integer_operators import rename_integer_operators
from match_core.load.sound import check_sound, decode_texts, graphs_of, tensors_of

if TYPE_CHECKING:
    import onnx

    from match_core.contract.front_end import FrontEnd

_ELEMENT_BYTES_MAX = 16
_INCOMPLETE = "external weight data are incomplete"


def read_proto(path: Path, front_ends: Sequence[FrontEnd] = ()) -> tuple[onnx.ModelProto, str]:
    """The parsed and checked model, with external data included and integer operators in a domain of their own, and
    the SHA-256 of the file and its external data. ``front_ends`` read files that are not ONNX.

    Errors: UsageError MATCH-F001 (no file); ModelError MATCH-F002 (not ONNX), MATCH-F003 (invalid ONNX),
    MATCH-F010 (external data outside the model's folder), MATCH-F011 (external data missing), MATCH-F012 (too short);
    and the errors of front ends.
    """
    if not path.is_file():
        other = "it is a directory" if path.is_dir() else "it is no plain file"
        why = other if path.exists() else "there is no such file"
        raise UsageError("MATCH-F001", "cannot read the model", str(path), why, ("give the path of an .onnx file",))
    content = path.read_bytes()
    proto, digest = _complete(content, path, front_ends)
    if not proto.ir_version or not proto.opset_import or not proto.graph.output:
        why = f"the file ({len(content)} bytes) is not an ONNX model, or not the whole of one"
        advice = ("export the network to ONNX", "check that the file was copied or downloaded completely")
        raise ModelError("MATCH-F002", "cannot read the model", path.name, why, advice)
    rename_integer_operators(proto)
    check_operators(proto, path.name)
    check_sound(proto, path.name)
    return proto, digest


def source_proto(path: Path, front_ends: Sequence[FrontEnd] = ()) -> onnx.ModelProto:
    """The unchanged model with external data, converted to ONNX if a front end reads it. Call it for files that
    ``read_proto`` has accepted."""
    return _complete(path.read_bytes(), path, front_ends)[0]


def _complete(content: bytes, path: Path, front_ends: Sequence[FrontEnd]) -> tuple[onnx.ModelProto, str]:
    """The model with external data, and the digest of all that was read."""
    import onnx

    proto, digest = _parsed(content, path.name, front_ends), hashlib.sha256(content)
    for tensor in (tensor for graph in graphs_of(proto) for tensor in tensors_of(graph)):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            digest.update(_read_external(tensor, path))
    return proto, digest.hexdigest()


def _parsed(content: bytes, source: str, front_ends: Sequence[FrontEnd]) -> onnx.ModelProto:
    import onnx

    for front_end in front_ends:
        if front_end.recognises(content):
            return front_end.convert(content, source)
    try:
        proto = onnx.load_model_from_string(content)
        decode_texts(proto)
        return proto
    except Exception:  # protobuf's DecodeError, whose module has no types; text that is not UTF-8
        return onnx.ModelProto()  # checked like any other empty model


def _read_external(tensor: onnx.TensorProto, model: Path) -> bytes:
    """Read the tensor's bytes from the model's folder into the proto (in place)."""
    import onnx

    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    where = f"{model.name}, tensor {tensor.name!r}"
    path = _inside(location, model, where)
    offset, length = _number(entries.get("offset", "0"), where), _number(entries.get("length", "-1"), where)
    with path.open("rb") as file:
        size = file.seek(0, 2)
        wanted = size - offset if length < 0 else length
        if offset < 0 or wanted < 0 or offset + wanted > size:
            why = f"{location!r} has {size} bytes; the tensor lies in bytes {offset} to {offset + max(wanted, 0)}"
            raise ModelError("MATCH-F012", _INCOMPLETE, where, why, ("copy the data file again",))
        file.seek(offset)
        most = math.prod(max(0, size) for size in tensor.dims) * _ELEMENT_BYTES_MAX + 1  # more never fits: F003
        content = file.read(min(wanted, most))
    tensor.raw_data = content
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]
    return content


def _number(text: str, where: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -2
    if value < -1:
        why = f"offset or length is {text[:40]!r}"
        raise ModelError("MATCH-F012", _INCOMPLETE, where, why, ("export the model again",))
    return value


def _inside(location: str, model: Path, where: str) -> Path:
    """The file that ``location`` names, if it lies in the model's folder after all links are followed."""
    folder = model.resolve().parent
    posix, windows = PurePosixPath(location), PureWindowsPath(location)
    plain = location and not posix.is_absolute() and not windows.drive and not windows.root and "\0" not in location
    escapes = ".." in posix.parts or ".." in windows.parts
    path = folder / location if plain and not escapes else folder
    try:
        inside, there = path.resolve().is_relative_to(folder), path.is_file()
    except OSError:  # a name that no file can have
        inside, there = True, False
    if not plain or escapes or not inside:
        what = "external weight data outside the model's folder are not read"
        link = "" if path == folder else ", a link that leads out of the folder"
        why = f"the model refers to {location[:200]!r}{link}"
        help_ = "store the data in the model's folder and refer to it by file name"
        raise ModelError("MATCH-F010", what, where, why, (help_,))
    if not there:
        name = repr(location[:200])
        why, help_ = f"the model's folder has no file {name}", f"copy {name} into the model's folder"
        raise ModelError("MATCH-F011", "external weight data are missing", where, why, (help_,))
    return path
