"""Files that users give for a model by mistake: what they seem to be, by their bytes, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from match_core.contract.errors import ModelError

if TYPE_CHECKING:
    import onnx

#: Bytes that decide, at the start and at the end, where zip archives list their members: an estimate.
_ENDS_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class _Kind:
    """``name`` with its article; ``marks``: a regular expression for a file's first bytes, followed by its last ones;
    ``help``, with FILE for the file's name."""

    name: str
    marks: bytes
    help: tuple[str, ...]


_EXPORT = "or export the network to ONNX"
_TORCH = 'export the network in Python: torch.onnx.export(network, inputs, "network.onnx")'
_LOAD = ("load it into the network with torch.load", _TORCH)
_SCRIPT = ("load it with torch.jit.load", _TORCH)
_WEIGHTS = ("it has weights but no network: load them into the network", _TORCH)
_KERAS = "convert it: python -m tf2onnx.convert --keras FILE --output network.onnx"
_GRAPH = "convert it: python -m tf2onnx.convert --graphdef FILE --inputs x:0 --outputs y:0 --output network.onnx"
_SAVED = "convert its folder: python -m tf2onnx.convert --saved-model FOLDER --output network.onnx"
_SAMPLES = ("give the network as MODEL", "arrays are samples for it: match verify MODEL -t TARGET --inputs FILE")
_PICTURE = ("give the network as MODEL", "pictures are samples for it, see docs/calibration.md")
_PLAIN = "give the .onnx or .tflite file itself"

#: The first kind that fits. A zip archive states the name of its first member at byte 30.
_KINDS = (
    _Kind("empty", rb"\Z", ("export the network again", "check that there was room on the disk")),
    _Kind("a Git LFS pointer", rb"version https://git-lfs", ("fetch the file that it stands for: git lfs pull",)),
    _Kind("a TorchScript file", rb"PK\x03\x04.{26}[^/]*/.*(code/__torch__|constants\.pkl)", _SCRIPT),
    _Kind("a PyTorch checkpoint", rb"PK\x03\x04.{26}[^/]*/data\.pkl", _LOAD),
    _Kind("a PyTorch export", rb"PK\x03\x04.{26}[^/]*/(archive_format|version|byteorder|\.format)", (_TORCH,)),
    _Kind("a Python pickle, such as an old PyTorch checkpoint", rb"\x80[\x02-\x05]", _LOAD),
    _Kind("a safetensors file", rb"(?=.{8}\{\s*\").{2,6}\x00{2}", _WEIGHTS),
    _Kind("a Keras file", rb"\x89HDF|PK\x03\x04.{26}(metadata|config)\.json", (_KERAS,)),
    _Kind("an .npz archive of arrays", rb"PK\x03\x04.{26}[^/\x00]*\.npy", _SAMPLES),
    _Kind("an .npy array", rb"\x93NUMPY", _SAMPLES),
    _Kind("a zip archive", rb"PK[\x03\x05]", ("unpack it: unzip FILE", _PLAIN)),
    _Kind("a compressed file", rb"\x1f\x8b|BZh|\xfd7zXZ|7z\xbc\xaf|\x28\xb5\x2f\xfd", ("unpack it", _PLAIN)),
    _Kind("a picture", rb"\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\x00{4}|RIFF.{4}WEBP", _PICTURE),
    _Kind("a TensorFlow SavedModel", rb"\x08\x01\x12.*\"\x05serve", (_SAVED,)),
    _Kind("a TensorFlow graph", rb"\n.{1,4}?\n.[\w/.:-]+\x12.[A-Z]\w+", (_GRAPH,)),
    _Kind("a model in ONNX Runtime's own format (.ort)", rb".{4}ORTM", ("give the .onnx file that it was made from",)),
    _Kind("a program or library", rb"\x7fELF|MZ.{58}", (_PLAIN,)),
    _Kind("a web page", rb"\s*<(!doctype html|html)", ("download the file itself, not the page that shows it",)),
    _Kind("an OpenVINO network", rb"\s*(<\?xml.{0,60}\?>\s*)?<net ", ("export the original network to ONNX",)),
    _Kind("a text file", rb"[\t\n\r -~]+\Z", (_PLAIN, _EXPORT)),
)
_TFLITE = _Kind(
    "a TFLite model, and no active package reads those", rb".{4}TFL3", ("pip install match-tflite", _EXPORT)
)


def is_foreign(content: bytes) -> bool:
    """Whether the bytes are those of a kind of file that is known and is no model for match."""
    return _kind(content) is not None


def refuse(content: bytes, source: str) -> onnx.ModelProto:
    """ModelError MATCH-F020 for TFLite, MATCH-F002 for all other kinds; nothing is converted."""
    kind = _kind(content) or _KINDS[-1]
    seems = "is" if kind in (_KINDS[0], _TFLITE) else "seems to be"
    raise ModelError(
        "MATCH-F020" if kind is _TFLITE else "MATCH-F002",
        "cannot read the model",
        source,
        f"the file ({len(content)} bytes) {seems} {kind.name}" + (", not an ONNX model" if "seems" in seems else ""),
        tuple(line.replace("FILE", quote(source)) for line in kind.help),
    )


def _kind(content: bytes) -> _Kind | None:
    """The kind that a file seems to be of."""
    ends = content[:_ENDS_BYTES] + content[_ENDS_BYTES:][-_ENDS_BYTES:]
    return next((kind for kind in (*_KINDS, _TFLITE) if re.match(kind.marks, ends, re.DOTALL | re.IGNORECASE)), None)
