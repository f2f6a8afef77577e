"""Made networks of one quantised layer, run and compared with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from match_core.contract.runner import Place
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model

from benchmarks.cortexm_cases import Case, ConvCase, DenseCase, OtherCase, model_of


def random_case(rng: np.random.Generator) -> Case:
    """A layer of any kind with random sizes, strides and padding."""
    kind = int(rng.integers(0, 10))
    if kind == 0:
        return DenseCase(int(rng.integers(1, 70)), int(rng.integers(1, 40)))
    if kind == 1:
        return OtherCase("Add", (1, int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(1, 9))))
    kernel = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    height, width = (int(taps + rng.integers(0, 9)) for taps in kernel)
    above, left, below, right = (int(rng.integers(0, kernel[axis % 2])) for axis in range(4))
    stride = int(rng.integers(1, 4))
    if kind < 4:
        channels = 4 * int(rng.integers(1, 6))
        return ConvCase(channels, height, width, channels, kernel, stride, (above, left, below, right), channels)
    inputs, outputs = int(rng.integers(1, 21)), int(rng.integers(1, 14))
    pads = above, left, below, right
    if kind < 8:
        return ConvCase(inputs, height, width, outputs, kernel, stride, pads)
    dilation = int(rng.integers(2, 4))
    height, width = (size + (dilation - 1) * (taps - 1) for size, taps in zip((height, width), kernel, strict=True))
    return ConvCase(inputs, height, width, outputs, kernel, stride, pads, dilation=dilation)


def verified(
    case: Case, seed: int, target: str, folder: Path, place: Place | None = None, wide: bool = False
) -> VerifyResult:
    """The layer on the twin under sanitizers, or at a place; ``wide``: of int16."""
    path = folder / "layer.onnx"
    onnx.save(model_of(case, seed, wide=wide), path)
    request = VerifyRequest(model=path, target=target, sanitize=place is None, place=place, cache=False)
    return verify_model(request, Plugins.load())
