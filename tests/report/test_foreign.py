"""Files that are no models: what they seem to be, and that models of any kind are none of them."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
import zlib

import numpy as np
import pytest
from match_core.contract.errors import ModelError
from match_report.advice.foreign import is_foreign, refuse

from tests.float_models import exported_network


def _zip(*members: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member in members:
            archive.writestr(member, bytes(100_000))
    return file.getvalue()


def _npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, x=np.zeros(3))
    return file.getvalue()


_HEADER = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
#: Content of a file by what the message calls it.
FILES = {
    "is empty": b"",
    "a PyTorch checkpoint": _zip("archive/data.pkl", "archive/byteorder", "archive/data/0"),
    "a TorchScript file": _zip("net/data.pkl", "net/data/0", "net/code/__torch__.py", "net/constants.pkl"),
    "a PyTorch export": _zip("net/archive_format", "net/models/model.json"),
    "an old PyTorch checkpoint": pickle.dumps({"w": [1.0]}),
    "a safetensors file": struct.pack("<Q", len(_HEADER)) + _HEADER + bytes(4),
    "a Keras file": _zip("metadata.json", "config.json", "model.weights.h5"),
    "an .npz archive": _npz(),
    "a zip archive": _zip("model.onnx"),
    "a compressed file": b"\x1f\x8b\x08" + zlib.compress(b"model"),
    "a picture": b"\xff\xd8\xff\xe0" + bytes(50),
    "a TensorFlow graph": b"\n\x0f\n\x01x\x12\x0bPlaceholder",
    "a TensorFlow SavedModel": b"\x08\x01\x12\x2f" + bytes(300) + b'"\x05serve*\x062.15.0',
    "a web page": b"\n<!DOCTYPE html>\n<html>",
    "an OpenVINO network": b'<?xml version="1.0"?>\n<net name="x" version="11">',
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    "a text file": b"input: x\noutput: y\n",
    "a TFLite model": bytes(4) + b"TFL3",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_named(name: str) -> None:
    assert is_foreign(FILES[name])
    with pytest.raises(ModelError) as caught:
        refuse(FILES[name], "my net.bin")
    error = caught.value
    assert error.code == ("MATCH-F020" if "TFLite" in name else "MATCH-F002")
    assert name in error.why and f"({len(FILES[name])} bytes)" in error.why and error.help
    assert "FILE" not in "".join(error.help)
    assert all("my net.bin" not in line or "'my net.bin'" in line for line in error.help)


def test_a_model_is_none_of_them() -> None:
    model = exported_network()
    for version, producer in ((1, ""), (8, "pytorch"), (13, "tf2onnx"), (3, "")):
        model.ir_version, model.producer_name = version, producer
        assert not is_foreign(model.SerializeToString())
        assert not is_foreign(model.SerializeToString()[:64])
