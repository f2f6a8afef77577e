"""External weight data are read from inside the model's folder and from nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner
from onnx import TensorProto, helper, numpy_helper

WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)


def write(folder: Path, location: str, offset: str | None = None, length: str | None = None) -> Path:
    weight = numpy_helper.from_array(WEIGHT, "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            weight.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = folder / "m.onnx"
    path.write_bytes(onnx.ModelProto.SerializeToString(model))
    return path


def refused(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert "'w'" in caught.value.where
    return caught.value.code


def test_data_beside_the_model(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(bytes(8) + WEIGHT.tobytes() + bytes(5))
    model = load_model(write(tmp_path, "sub/w.bin", "8", str(WEIGHT.nbytes)))
    x = np.array([[1, 2, 3, 4]], np.float32)
    assert np.array_equal(ReferenceRunner(model).run({"x": x})["y"], x @ WEIGHT)


def test_the_checksum_covers_the_data(tmp_path):
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    path = write(tmp_path, "w.bin")
    before = load_model(path).source_sha256
    (tmp_path / "w.bin").write_bytes((WEIGHT + 1).tobytes())
    assert load_model(path).source_sha256 != before


@pytest.mark.parametrize("location", ["../w.bin", "a/../../w.bin", "/etc/hostname", "C:\\w.bin", "..\\w.bin", "", "."])
def test_paths_that_leave_the_folder(tmp_path, location):
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    assert refused(write(folder, location)) in ("MATCH-F010", "MATCH-F011")


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname"])
def test_leaving_is_told_from_missing(tmp_path, location):
    assert refused(write(tmp_path, location)) == "MATCH-F010"


def test_links_that_leave_the_folder(tmp_path):
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").symlink_to(tmp_path / "w.bin")
    assert refused(write(folder, "w.bin")) == "MATCH-F010"


def test_missing_data(tmp_path):
    assert refused(write(tmp_path, "w.bin")) == "MATCH-F011"


@pytest.mark.parametrize(("offset", "length"), [("4", "48"), ("0", "1000"), ("100", None), ("-5", None), ("x", None)])
def test_data_that_are_too_short(tmp_path, offset, length):
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    assert refused(write(tmp_path, "w.bin", offset, length)) == "MATCH-F012"


def test_data_of_another_size_than_the_tensor(tmp_path):
    (tmp_path / "w.bin").write_bytes(WEIGHT.tobytes())
    with pytest.raises(ModelError) as caught:
        load_model(write(tmp_path, "w.bin", "0", "40"))
    assert caught.value.code == "MATCH-F003"
    assert "size 10 into shape (4,3)" in caught.value.why
