"""Layers that call the library compute the integer graph bit for bit: with a stand-in on the twin and on emulated
cores, and with the reader's copy of CMSIS-NN where there is one."""

from __future__ import annotations

import shutil

import onnx
import pytest
from match_core.contract.errors import ToolError
from match_core.contract.runner import Place
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.cmsisnn_cases import addition, average, maximum
from benchmarks.cmsisnn_forced import forced
from benchmarks.cortexm_cases import ConvCase, DenseCase, model_of

TARGETS = ("stm32l4r5_cmsis_nn", "corstone300_cmsis_nn")
LAYERS = {
    "border": model_of(ConvCase(8, 7, 6, 6, (3, 3), 1, (1, 1, 1, 1)), 1, whole=True),
    "strided": model_of(ConvCase(16, 9, 9, 12, (3, 3), 2, (0, 0, 1, 1)), 1, whole=True),
    "pointwise": model_of(ConvCase(10, 5, 3, 9, (1, 1)), 1, whole=True),
    "pointwise_strided": model_of(ConvCase(12, 6, 6, 9, (1, 1), 2), 1, whole=True),
    "row": model_of(ConvCase(4, 1, 12, 8, (1, 5), 1, (0, 2, 0, 2)), 1, whole=True),
    "depthwise": model_of(ConvCase(12, 6, 5, 12, (3, 3), 1, (1, 1, 1, 1), 12), 1, whole=True),
    "depthwise_wide": model_of(ConvCase(7, 9, 9, 7, (5, 4), 2, (2, 1, 2, 2), 7), 1, whole=True),
    "dense": model_of(DenseCase(37, 11), 1, whole=True),
    "add": addition((1, 3, 5, 7)),
    "average": average(7, (3, 5)),  # an odd number of taps: no ties
    "maximum": maximum(6, (7, 9), (3, 2), 2, (1, 0, 1, 1)),
}
EMULATOR = shutil.which("qemu-system-arm") is not None and shutil.which("arm-none-eabi-gcc") is not None
needs_emulator = pytest.mark.skipif(not EMULATOR, reason="qemu-system-arm or arm-none-eabi-gcc is not installed")


def check(name, target, folder, place=None, sanitize=True):
    """The layer runs on the library, and its bits are those of the graph."""
    path = folder / "layer.onnx"
    onnx.save(LAYERS[name], path)
    with forced():
        request = VerifyRequest(path, target, sanitize=sanitize and place is None, place=place, cache=False)
        result = verify_model(request, Plugins.load())
    assert result.ok
    kind = name.partition("_")[0]
    expected = {"border": "pad_conv", "strided": "pad_conv", "row": "pad_conv", "pointwise": "conv"}.get(kind, kind)
    tasks = result.compilation.program.tasks
    assert any(task.assignment.candidate.pattern.name.endswith(expected) for task in tasks), [
        task.assignment.candidate.pattern.name for task in tasks
    ]


def emulator() -> Place:
    """The machine of the target's core."""
    return Place(next(runner for runner in Plugins.load().runners() if runner.name == "qemu"))


@pytest.mark.parametrize("name", LAYERS)
def test_on_the_twin(name, stand_in, tmp_path):
    check(name, TARGETS[0], tmp_path)


@needs_emulator
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ("border", "dense"))
def test_on_the_emulator(name, target, stand_in, tmp_path):
    check(name, target, tmp_path, emulator())


@pytest.mark.parametrize("name", LAYERS)
def test_the_library_on_the_twin(name, real_library, tmp_path):
    check(name, TARGETS[1], tmp_path, sanitize=False)


@needs_emulator
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", LAYERS)
def test_the_library_on_the_emulator(name, target, real_library, tmp_path):
    check(name, target, tmp_path, emulator())


@pytest.mark.parametrize(
    ("value", "why"), [(None, "CMSIS_NN_DIR is not set"), ("nowhere", "there is no folder")], ids=("unset", "no folder")
)
def test_without_the_library(value, why, monkeypatch, tmp_path):
    if value is None:
        monkeypatch.delenv("CMSIS_NN_DIR", raising=False)
    else:
        monkeypatch.setenv("CMSIS_NN_DIR", str(tmp_path / value))
    with pytest.raises(ToolError) as caught:
        check("dense", TARGETS[0], tmp_path)
    assert caught.value.code == "MATCH-T005"
    assert why in caught.value.why
    assert "--without-unit cmsis_nn_dsp" in caught.value.help[1]
