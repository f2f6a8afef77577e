"""The kernels compute the integer graph bit for bit: on the twin under sanitizers, and on emulated cores."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from match_core.contract.runner import Place
from match_core.plugin.facade import Plugins

from benchmarks.cortexm_cases import ConvCase, DenseCase, OtherCase

from .layers import random_case, verified

TARGETS = ("stm32l4r5", "corstone300", "rp2040", "cortex_m3_mps2")
#: One layer for each kernel and each kind of border: (target, layer).
SAMPLE = {
    "border": ConvCase(8, 7, 6, 6, (3, 3), 1, (1, 1, 1, 1)),
    "over_read": ConvCase(3, 9, 9, 5, (3, 3), 2, (0, 0, 1, 1)),
    "compact": ConvCase(1, 12, 8, 32, (6, 4), 2, (2, 1, 2, 1)),
    "pointwise_odd": ConvCase(10, 5, 3, 9, (1, 1)),
    "outputs_apart": ConvCase(8, 5, 4, 43, (3, 3), 1, (1, 1, 1, 1)),
    "wide_rows": ConvCase(1400, 3, 4, 4, (3, 3)),
    "depthwise": ConvCase(12, 6, 5, 12, (3, 3), 1, (1, 1, 1, 1), 12),
    "apart": ConvCase(6, 9, 8, 5, (3, 3), 1, (2, 2, 2, 2), dilation=2),
    "apart_compact": ConvCase(3, 9, 10, 32, (3, 2), 2, (1, 0, 1, 2), dilation=3),
    "dense": DenseCase(37, 11),
    "add": OtherCase("Add", (1, 3, 5, 7)),
    "sums": OtherCase("AveragePool", (1, 12, 7, 5)),
    "sums_rolled": OtherCase("AveragePool", (1, 12, 3, 4)),
    "max_pool": OtherCase("MaxPool", (1, 20, 7, 6)),
    "max_pool_odd": OtherCase("MaxPool", (1, 14, 7, 6)),
    "max_pool_few": OtherCase("MaxPool", (1, 3, 7, 6)),
    "max_pool_even": OtherCase("MaxPool", (1, 31, 9, 8), taps=2),
    "max_pool_walked": OtherCase("MaxPool", (1, 10, 9, 8), taps=4),
    "max_pool_wide": OtherCase("MaxPool", (1, 10, 9, 8), taps=7),
    "max_pool_line": OtherCase("MaxPool", (1, 10, 17), taps=5),
    "lookup": OtherCase("Tanh", (1, 3, 5, 7)),
    "softmax": OtherCase("Softmax", (1, 3, 38)),
    "softmax_table": OtherCase("Softmax", (1, 3, 200)),
    "softmax_long": OtherCase("Softmax", (1, 3, 1501)),
}
#: Those that are emulated on one core only.
MAX_POOLS = [f"max_pool_{name}" for name in ("few", "even", "walked", "wide", "line")]
EMULATOR = shutil.which("qemu-system-arm") is not None and shutil.which("arm-none-eabi-gcc") is not None
needs_emulator = pytest.mark.skipif(not EMULATOR, reason="qemu-system-arm or arm-none-eabi-gcc is not installed")


def emulator() -> Place:
    """The machine of the target's core."""
    return Place(next(runner for runner in Plugins.load().runners() if runner.name == "qemu"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SAMPLE)
def test_on_the_twin(name, target, tmp_path):
    assert verified(SAMPLE[name], 1, target, tmp_path).ok


@needs_emulator
@pytest.mark.parametrize(
    ("name", "target"),
    [
        *(
            (name, target)
            for name in (
                "border",
                "apart",
                "apart_compact",
                "depthwise",
                "max_pool",
                "max_pool_odd",
                "softmax",
                "softmax_table",
                "softmax_long",
            )
            for target in TARGETS
        ),
        *((name, "rp2040") for name in MAX_POOLS),
        *((name, "corstone300") for name in ("over_read", "compact", "sums_rolled", "outputs_apart")),
        *(
            (name, target)
            for name in ("pointwise_odd", "dense", "add", "sums")
            for target in ("rp2040", "cortex_m3_mps2")
        ),
        ("sums", "stm32l4r5"),
        ("wide_rows", "stm32l4r5"),
        *(("lookup", target) for target in TARGETS),
    ],
)
def test_on_the_emulator(name, target, tmp_path):
    assert verified(SAMPLE[name], 1, target, tmp_path, emulator()).ok


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(30))
def test_random_layers_on_the_twin(seed, target, tmp_path):
    assert verified(random_case(np.random.default_rng(seed)), seed, target, tmp_path).ok


@pytest.mark.slow
@needs_emulator
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(30))
def test_random_layers_on_the_emulator(seed, target, tmp_path):
    assert verified(random_case(np.random.default_rng(seed)), seed, target, tmp_path, emulator()).ok
