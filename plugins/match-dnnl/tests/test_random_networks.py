"""Random networks of claimed operators: fusion, sums in place, layouts and shared bytes, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dnnl_networks import Network, check_operators

_CHANNELS, _SIDE = (8, 16, 19), 7


class _Grower:
    """Adds operators to tensors that are there; shapes are tracked as (channels, side)."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.network = Network()
        self.images = {self.network.input(1, channels, _SIDE, _SIDE): channels for channels in _CHANNELS}

    def _pick(self, channels: int | None = None) -> str:
        names = [name for name, count in self.images.items() if channels in (None, count)]
        return names[int(self.random.integers(max(0, len(names) - 6), len(names)))]

    def _conv(self, tensor: str, outputs: int) -> str:
        n, inputs = self.network, self.images[tensor]
        kernel = int(self.random.choice([1, 3]))
        scale = (inputs * kernel * kernel) ** -0.5
        weights = n.floats(outputs, inputs, kernel, kernel, low=-scale, high=scale)
        return n.node("Conv", [tensor, weights, n.floats(outputs)], pads=[kernel // 2] * 4)

    def grow(self) -> None:
        """One more tensor."""
        n, tensor = self.network, self._pick()
        channels = self.images[tensor]
        kind = int(self.random.integers(9))
        if kind <= 2:
            channels = int(self.random.choice(_CHANNELS))
            made = self._conv(tensor, channels)
        elif kind == 3:
            made = n.node(str(self.random.choice(["Relu", "Tanh", "HardSwish", "Sigmoid"])), [tensor])
        elif kind <= 5:
            made = n.node("Add", [tensor, self._pick(channels)])
        elif kind == 6:
            made = n.node(str(self.random.choice(["Mul", "Sub", "Max"])), [tensor, n.floats(channels, 1, 1)])
        elif kind == 7:
            made = n.node("MaxPool", [tensor], kernel_shape=[3, 3], pads=[1] * 4)
        else:
            turned = n.node("Transpose", [tensor], perm=[0, 1, 3, 2])
            made = n.node("Softmax", [turned], axis=int(self.random.integers(1, 4)))
        self.images[made] = channels

    def finished(self) -> Network:
        """With a dozen tensors that leave, among them some that are read inside."""
        names = [name for name in self.images if name.startswith("t")]
        for number, name in enumerate(self.random.choice(names, 12, replace=False)):
            self.network.case(f"y{number}", str(self.random.choice(["Relu", "Abs", "Neg"])), [str(name)])
        self.network.outputs.extend(names[-3:])
        return self.network


@pytest.mark.parametrize("seed", range(6))
def test_random_networks(tmp_path: Path, seed: int) -> None:
    """Forty operators, all on oneDNN."""
    grower = _Grower(seed)
    for _ in range(40):
        grower.grow()
    network = grower.finished()
    network.outputs = list(dict.fromkeys(network.outputs))
    check_operators(network, tmp_path)
