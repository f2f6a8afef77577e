"""Kernels on int16 activations compute the integer graph bit for bit, and networks differ from ONNX Runtime's float
results by at most one step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm.figures import OWN, figures_of
from match_cortexm.kernels.packing import pack_depthwise_dsp, pack_dsp, pack_mve
from match_verify.verify import VerifyRequest, verify_model

from tests.end_to_end.layer_networks import CLASSES, KEYWORD, classifier, keywords, quantised

from .layers import random_case, verified
from .test_kernels import EMULATOR, TARGETS, emulator, needs_emulator
from .test_kernels import SAMPLE as BYTES

#: The layers of the 8-bit kernels, without those that int16 leaves in floating point.
SAMPLE = {name: case for name, case in BYTES.items() if name not in ("lookup", "softmax")}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SAMPLE)
def test_on_the_twin(name: str, target: str, tmp_path: Path) -> None:
    result = verified(SAMPLE[name], 0, target, tmp_path, wide=True)
    assert result.ok and result.bit_exact
    assert [check.dtype for check in result.outputs] == ["int16"]
    assert max(check.max_abs_lsb for check in result.outputs) <= 1


@needs_emulator
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["border", "over_read", "depthwise", "dense", "add", "sums", "max_pool"])
def test_on_the_emulator(name: str, target: str, tmp_path: Path) -> None:
    assert verified(SAMPLE[name], 1, target, tmp_path, emulator(), wide=True).ok


@pytest.mark.parametrize("target", ["rp2040", "host"])
def test_the_portable_kernels_give_the_same(target: str, tmp_path: Path) -> None:
    assert verified(SAMPLE["border"], 1, target, tmp_path, wide=True).bit_exact


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(30))
def test_random_layers_on_the_twin(seed: int, target: str, tmp_path: Path) -> None:
    assert verified(random_case(np.random.default_rng(seed)), seed, target, tmp_path, wide=True).ok


@pytest.mark.slow
@needs_emulator
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(30))
def test_random_layers_on_the_emulator(seed: int, target: str, tmp_path: Path) -> None:
    assert verified(random_case(np.random.default_rng(seed)), seed, target, tmp_path, emulator(), wide=True).ok


@pytest.mark.parametrize("target", TARGETS)
def test_a_network_differs_by_at_most_one_step(target: str, tmp_path: Path) -> None:
    path = quantised(keywords(tmp_path / "keywords.onnx", 8, 2), KEYWORD, bits=16)
    request = VerifyRequest(path, target, sanitize=True, quantized_io=True)
    result = verify_model(request, Plugins.load())
    assert result.bit_exact
    assert [(check.dtype, check.max_abs_lsb <= 1) for check in result.outputs] == [("int16", True)]


@pytest.mark.parametrize(
    ("target", "form", "contributed"),
    [("stm32l4r5", "dsp2_i16", False), ("corstone300", "mve_i16", False), ("stm32l4r5", "dsp2_i16", True)],
)
def test_every_layer_has_a_kernel_of_its_own_with_figures(
    target: str, form: str, contributed: bool, tmp_path: Path
) -> None:
    """Also where the quantisers are those of com.microsoft."""
    path = quantised(classifier(tmp_path / "net.onnx"), CLASSES, bits=16, UseQDQContribOps=contributed)
    plugins = Plugins.load()
    compiled = compile_model(CompileRequest(path, target, tmp_path / "out", cache=False), plugins)
    tasks = [task.assignment.candidate for task in compiled.compilation.program.tasks]
    kinds = [candidate.workload.kind for candidate in tasks]
    assert {"cortexm_conv_twice", "cortexm_depthwise_twice", "cortexm_add_twice", "cortexm_dense"} <= set(kinds)
    assert not [kind for kind in kinds if "conv" in kind and kind.startswith("host")]
    figures = figures_of(plugins.soc(target).host)[OWN]
    counts = {name for candidate in tasks for name in candidate.workload.parameters if name.startswith(form)}
    assert counts and f"{form}_steps" in figures


def test_words_hold_pairs_of_neighbouring_values() -> None:
    weight = np.arange(16, dtype=np.int8).reshape(4, 1, 1, 4)
    stored = pack_dsp(weight, 2).view(np.int8)
    assert stored.tolist() == [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15]
    assert pack_mve(weight, 8)[:8].tolist() == [0, 1, 2, 3, 0, 0, 0, 0]
    assert pack_depthwise_dsp(np.array([[1, 2, 3, 4]]), 2).view(np.int16).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("place", [None, "emulator"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("types", [("int8", "int16"), ("int16", "int8")])
@pytest.mark.parametrize("group", [1, 8])
def test_a_layer_changes_the_type(
    group: int, types: tuple[str, str], target: str, place: str | None, tmp_path: Path
) -> None:
    if place is not None and not EMULATOR:
        pytest.skip("qemu-system-arm or arm-none-eabi-gcc is not installed")
    before, after = types
    random = np.random.default_rng(3)
    text = f"""<ir_version: 10, opset_import: ["" : 21]> g ({before}[1,8,6,5] x) => ({after}[1,8,6,5] y) {{
        xf = DequantizeLinear (x, xs, xz)  wf = DequantizeLinear (w, ws, wz)
        c = Conv <pads = [1, 1, 1, 1], group = {group}> (xf, wf)  y = QuantizeLinear (c, ys, yz) }}"""
    model = onnx.parser.parse_model(text)
    values = {
        **{"xs": np.float32(0.02), "xz": np.zeros((), before), "ws": np.float32(0.003), "wz": np.int8(0)},
        **{"w": random.integers(-127, 128, (8, 8 // group, 3, 3)).astype(np.int8)},
        **{"ys": np.float32(0.7 if after == "int8" else 0.0031), "yz": np.zeros((), after)},
    }
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in values.items())
    onnx.save(model, tmp_path / "net.onnx")
    on = None if place is None else emulator()
    request = VerifyRequest(tmp_path / "net.onnx", target, sanitize=on is None, place=on, cache=False)
    result = verify_model(request, Plugins.load())
    assert result.ok and result.bit_exact
