"""Made layers at the ends of common networks: windows over one spectrum, and maps of few classes."""

from __future__ import annotations

from collections.abc import Callable

from onnx import TensorProto, helper

from benchmarks.cortexm_ahead import biased
from benchmarks.cortexm_net import Net


def _spectrum(net: Net) -> None:
    """Long windows over one spectrum, one or two frames and bands apart, with padding or without."""
    frames, bands = net.between(14, 50), net.between(8, 20)
    taps = net.between(4, 10), net.between(3, 4)
    before = [(size - 1) // 2 if net.between(0, 3) else 0 for size in taps]
    after = [size - 1 - first if first else 0 for size, first in zip(taps, before, strict=True)]
    strides = [net.between(1, 2), net.between(1, 2)]
    y = biased(
        net, net.source(1, 1, frames, bands), 4 * net.between(1, 16), 1, *taps, pads=before + after, strides=strides
    )
    net.result(net.add("Relu", y) if net.between(0, 2) else y, 2.0)


def _map(net: Net) -> None:
    """One number of each position of an image, in other networks two to five, which a network ends with."""
    inputs, outputs, side = 4 * net.between(1, 5), max(1, net.between(-3, 5)), net.between(8, 34)
    x = net.between_layers(net.add("Relu", biased(net, net.source(1, 3, side, side), inputs, 3, 1, 1)))
    y = net.between_layers(biased(net, x, outputs, inputs, 1, 1))
    net.outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, None))


END_KINDS: dict[str, Callable[[Net], None]] = {
    **{f"spectrum_{number}": _spectrum for number in range(4)},
    **{f"map_{number}": _map for number in range(10)},
}
