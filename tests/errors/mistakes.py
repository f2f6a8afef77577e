"""The files of mistakes.toml: what users typically give to the wrong verb, or in the wrong form."""

from __future__ import annotations

import gzip
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx

from tests.errors import models
from tests.float_models import exported_network


def samples(folder: Path) -> None:
    """Two good networks, good inputs of both, and files of other kinds."""
    models.relu(folder / "model.onnx")
    onnx.save(exported_network(channels=4), str(folder / "dynamic.onnx"))
    random = np.random.default_rng(3)
    np.savez(folder / "inputs.npz", x=random.standard_normal((1, 8)).astype(np.float32))
    images = random.standard_normal((4, 1, 3, 16, 16)).astype(np.float32)
    np.savez(folder / "images.npz", image=images)
    np.savez(folder / "samples.npz", x=random.standard_normal((4, 1, 8)).astype(np.float32))


def _text(name: str, text: str = "not a model\n") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def _bytes(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


def _model(make: Callable[[Path], object], name: str = "bad.onnx") -> Callable[[Path], object]:
    return lambda folder: make(folder / name)


def _arrays(name: str = "bad.npz", **arrays: object) -> Callable[[Path], object]:
    return lambda folder: np.savez(folder / name, **arrays)  # type: ignore[arg-type]


def _array(name: str, array: object) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / name, array)  # type: ignore[arg-type]


def _zip(name: str, *members: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member in members:
                archive.writestr(member, b"\x80\x02}q\x00.")

    return make


def _renamed(**names: str) -> Callable[[Path], object]:
    """The exported network with other dynamic sizes."""

    def make(folder: Path) -> None:
        model = exported_network(channels=4)
        for axis, name in enumerate(names.values(), 2):
            model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
        onnx.save(model, str(folder / "bad.onnx"))

    return make


def _script(text: str) -> Callable[[Path], object]:
    """A C compiler of the user."""

    def make(folder: Path) -> None:
        (folder / "compiler").write_text(f"#!/bin/sh\n{text}\n")
        (folder / "compiler").chmod(0o755)

    return make


def _in_a_folder_with_spaces(folder: Path) -> None:
    (folder / "my größe").mkdir()
    onnx.save(exported_network(channels=4), str(folder / "my größe/dynamic net.onnx"))


def _ints(*values: int) -> Callable[[Path], object]:
    return _array("labels.npy", np.array(values))


#: By the name of a mistake: what is made beside the samples.
MAKE: dict[str, Callable[[Path], object]] = {
    "PyTorch checkpoint": _zip("net.pth", "archive/data.pkl", "archive/data/0"),
    "TorchScript": _zip("net.pt", "net/code/__torch__.py", "net/constants.pkl"),
    "old checkpoint": _bytes("old.pt", pickle.dumps({"w": [1, 2]})),
    "Keras file": _bytes("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(64)),
    "frozen TensorFlow graph": _bytes("frozen.pb", b"\n\x0f\n\x01x\x12\x0bPlaceholder"),
    "zip": _zip("model.zip", "model.onnx"),
    "text": _text("bad.onnx"),
    "Git LFS pointer": _text("bad.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 132\n"),
    "picture": _model(models.picture),
    "empty file": _text("bad.onnx", ""),
    "half a file": _model(models.truncated),
    "broken TFLite": _bytes("bad.tflite", bytes(4) + b"TFL3" + bytes(8)),
    "safetensors": _bytes("net.safetensors", b"\x40" + bytes(7) + b'{"w":{"dtype":"F32"}}' + bytes(64)),
    "SavedModel": _bytes("saved_model.pb", b"\x08\x01\x12\x2f\n\x25" + bytes(30) + b'"\x05serve*\x062.15.0'),
    "PyTorch export": _zip("net.pt2", "net/archive_format", "net/models/model.json"),
    "Keras archive": _zip("net.keras", "metadata.json", "config.json", "model.weights.h5"),
    "web page": _text("bad.onnx", "<!DOCTYPE html>\n<html><head><title>net.onnx at main</title>"),
    "compressed": _bytes("model.onnx.gz", gzip.compress(b"\x08\x08\x12\x04test", mtime=0)),
    "ONNX Runtime file": _bytes("net.ort", b"\x18\0\0\0ORTM" + bytes(24)),
    "TFLite named ONNX": _bytes("bad.onnx", bytes(4) + b"TFL3" + bytes(8)),
    "TFLite not installed": _bytes("bad.tflite", bytes(4) + b"TFL3" + bytes(8)),
    "half an ONNX named TFLite": _model(models.truncated, "bad.tflite"),
    "compiler writes nothing": _script("exit 0"),
    "compiler hangs": _script("exec sleep 100"),
    "compiler fails": _script("echo 'error: no license' >&2; exit 1"),
    "folder with spaces": _in_a_folder_with_spaces,
    "verify rank": _arrays(x=np.zeros(4, np.float32)),
    "verify names of two": _arrays(x1=np.zeros((1, 8), np.float32), x2=np.zeros((1, 8), np.float32)),
    "verify records": _arrays(x=np.zeros(8, [("a", "f4")])),
    "labels of two axes": _array("labels.npy", np.zeros((1, 3), np.int64)),
    "labels of words": _array("labels.npy", np.array(["cat"])),
    "new target taken": lambda f: ((f / "match-sprout").mkdir(), (f / "match-sprout/notes.txt").write_text("x")),
    "directory": lambda f: (f / "folder").mkdir(),
    "dangling link": lambda f: (f / "link.onnx").symlink_to("nowhere.onnx"),
    "dynamic height": _renamed(height="height"),
    "opset too new": _model(models.unknown_opset),
    "strings": _model(models.words),
    "custom operator": _model(models.foreign),
    "training mode": _model(models.training_dropout),
    "cycle": _model(models.cycle),
    "contradictory sizes": _model(models.contradictory),
    "data dependent": _model(models.data_dependent),
    "weights file missing": lambda f: models.external(f / "bad.onnx", "weights.bin"),
    "weights file short": _model(models.short_weights),
    "output is file": _text("out"),
    "output foreign": lambda f: ((f / "out").mkdir(), (f / "out/thesis.tex").write_text("x")),
    "report of no program": lambda f: (f / "folder").mkdir(),
    "diff of no program": lambda f: (f / "folder").mkdir(),
    "run of no program": lambda f: (f / "folder").mkdir(),
    "board typo": _text("board.toml", 'base = "gap9"\nmemroy = 3\n'),
    "board syntax": _text("board.toml", "base = gap9\n"),
    "verify names": _arrays(y=np.zeros((1, 8), np.float32)),
    "verify shape": _arrays(x=np.zeros((1, 9), np.float32)),
    "verify dtype": _arrays(x=np.array([["a"] * 8])),
    "verify corrupt": _text("bad.npz"),
    "verify no arrays": _arrays(),
    "verify pickled": _arrays(x=np.array([{}], object)),
    "verify empty folder": lambda f: (f / "folder").mkdir(),
    "labels length": _ints(1, 2, 3),
    "labels range": _ints(12),
    "quantize shape": _arrays(image=np.zeros((4, 16, 16, 3), np.float32)),
    "quantize nan": _arrays(image=np.full((4, 1, 3, 16, 16), np.inf, np.float32)),
    "quantize again": _model(models.too_large),
    "quantize folder": lambda f: (f / "folder").mkdir(),
}
