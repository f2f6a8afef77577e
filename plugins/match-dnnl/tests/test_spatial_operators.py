"""Operators on images with odd parameters, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from dnnl_networks import Network, check_operators


def test_convolutions(tmp_path: Path) -> None:
    """Groups, depthwise, gaps between taps, one-sided padding, one and three spatial axes, no bias, one channel."""
    n = Network()
    image, wide = n.input(1, 6, 11, 9), n.input(1, 32, 7, 10)
    n.case("plain", "Conv", [image, n.floats(5, 6, 3, 3), n.floats(5)], pads=[1, 1, 1, 1])
    n.case("grouped", "Conv", [image, n.floats(9, 2, 3, 2)], group=3, pads=[0, 1, 2, 0], strides=[2, 1])
    n.case("depthwise", "Conv", [image, n.floats(6, 1, 3, 5), n.floats(6)], group=6, pads=[1, 2, 1, 2])
    n.case("multiplied", "Conv", [image, n.floats(12, 1, 3, 3)], group=6, strides=[1, 2])
    n.case("spread", "Conv", [image, n.floats(4, 6, 3, 2), n.floats(4)], dilations=[3, 2], pads=[3, 0, 1, 2])
    n.case("one_sided", "Conv", [wide, n.floats(48, 32, 3, 3)], pads=[0, 0, 1, 1], strides=[2, 2])
    n.case("point", "Conv", [wide, n.floats(17, 32, 1, 1), n.floats(17)], strides=[3, 2])
    n.case("same", "Conv", [wide, n.floats(16, 32, 4, 4)], auto_pad="SAME_UPPER", strides=[2, 3])
    n.case("line", "Conv", [n.input(1, 7, 40), n.floats(8, 7, 5), n.floats(8)], pads=[4, 0], dilations=[2])
    n.case("line_grouped", "Conv", [n.input(1, 8, 12), n.floats(8, 2, 3)], group=4)
    n.case("volume", "Conv", [n.input(1, 3, 5, 6, 7), n.floats(4, 3, 2, 3, 3)], pads=[1, 0, 1, 0, 1, 1])
    n.case("mono", "Conv", [n.input(1, 1, 8, 8), n.floats(1, 1, 8, 8), n.floats(1)])
    check_operators(n, tmp_path)


def test_transposed_convolutions(tmp_path: Path) -> None:
    """Weights are stored the other way round; padding cuts off, output_padding adds."""
    n = Network()
    image = n.input(1, 6, 5, 7)
    n.case("plain", "ConvTranspose", [image, n.floats(6, 4, 3, 3), n.floats(4)])
    n.case("strided", "ConvTranspose", [image, n.floats(6, 5, 4, 3)], strides=[2, 3], pads=[1, 0, 2, 1])
    n.case("added", "ConvTranspose", [image, n.floats(6, 5, 3, 3)], strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])
    n.case("grouped", "ConvTranspose", [image, n.floats(6, 2, 3, 2), n.floats(6)], group=3, strides=[2, 1])
    n.case("spread", "ConvTranspose", [image, n.floats(6, 3, 2, 3)], dilations=[2, 3])
    n.case("line", "ConvTranspose", [n.input(1, 4, 9), n.floats(4, 3, 4), n.floats(3)], strides=[2], pads=[1, 1])
    n.case("volume", "ConvTranspose", [n.input(1, 2, 3, 4, 3), n.floats(2, 3, 2, 2, 2)], strides=[2, 1, 2])
    up = n.node("ConvTranspose", [image, n.floats(6, 4, 2, 2), n.floats(4)], strides=[2, 2])
    n.case("activated", "Relu", [up])
    check_operators(n, tmp_path)


def test_pooling(tmp_path: Path) -> None:
    """Padding counted or not, windows with gaps, results rounded up, the whole image."""
    n = Network()
    image = n.input(1, 19, 11, 9)
    n.case("most", "MaxPool", [image], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1])
    n.case("gaps", "MaxPool", [image], kernel_shape=[2, 3], dilations=[3, 2], strides=[1, 2])
    n.case("up", "MaxPool", [image], kernel_shape=[3, 3], strides=[3, 2], ceil_mode=1)
    n.case("mean", "AveragePool", [image], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    n.case("counted", "AveragePool", [image], kernel_shape=[3, 3], pads=[1, 2, 0, 1], count_include_pad=1)
    n.case("mean_up", "AveragePool", [image], kernel_shape=[2, 4], strides=[2, 3], ceil_mode=1, pads=[0, 1, 0, 1])
    n.case("all_mean", "GlobalAveragePool", [image])
    n.case("all_most", "GlobalMaxPool", [image])
    n.case("line", "MaxPool", [n.input(1, 4, 13)], kernel_shape=[4], strides=[3], pads=[1, 2])
    n.case("volume", "AveragePool", [n.input(1, 2, 4, 5, 6)], kernel_shape=[2, 2, 3], strides=[2, 1, 1])
    check_operators(n, tmp_path)


def test_normalisation(tmp_path: Path) -> None:
    """Over batches and across channels."""
    n = Network()
    image = n.input(1, 7, 6, 5)
    given = [n.floats(7), n.floats(7), n.floats(7), n.floats(7, low=0.5, high=2.0)]
    n.case("batch", "BatchNormalization", [image, *given], epsilon=1e-3)
    rows = n.input(4, 9)
    given = [n.floats(9), n.floats(9), n.floats(9), n.floats(9, low=0.5, high=2.0)]
    n.case("batch_rows", "BatchNormalization", [rows, *given])
    n.case("across", "LRN", [image], size=3, alpha=0.3, beta=0.6, bias=1.5)
    n.case("across_all", "LRN", [image], size=11)
    check_operators(n, tmp_path)


def test_resize(tmp_path: Path) -> None:
    """Nearest in whole multiples, linear in any."""
    n = Network()
    image = n.input(1, 5, 4, 6)
    scales = n.constant(np.array([1, 1, 3, 2], np.float32))
    n.case("nearest", "Resize", [image, "", scales], mode="nearest")
    asymmetric = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor", "mode": "nearest"}
    n.case("floor", "Resize", [image, "", scales], **asymmetric)
    n.case("linear", "Resize", [image, "", "", n.constant([1, 5, 7, 9])], mode="linear")
    n.case("smaller", "Resize", [image, "", "", n.constant([1, 5, 2, 3])], mode="linear")
    n.case("line", "Resize", [n.input(1, 3, 5), "", "", n.constant([1, 3, 12])], mode="linear")
    moved = n.node("Conv", [image, n.floats(8, 5, 1, 1)])
    n.case("behind", "Resize", [moved, "", scales], **asymmetric)
    check_operators(n, tmp_path)


def test_padding(tmp_path: Path) -> None:
    """In front of a convolution, which takes it in; of channels; with another value; on its own."""
    n = Network()
    image, six = n.input(1, 6, 7, 8), np.array(6.5, np.float32)
    edges = n.constant([0, 0, 1, 2, 0, 0, 0, 3])
    n.case("taken", "Conv", [n.node("Pad", [image, edges]), n.floats(4, 6, 3, 3)], pads=[1, 0, 0, 1])
    shared = n.node("Pad", [image, edges])
    n.case("shared_conv", "Conv", [shared, n.floats(4, 6, 3, 3)])
    n.case("shared", "Relu", [shared])
    n.case("valued", "Conv", [n.node("Pad", [image, edges, n.constant(six)]), n.floats(3, 6, 2, 2)])
    channels = n.node("Pad", [image, n.constant([0, 1, 0, 0, 0, 1, 0, 0])])
    n.case("channels", "Conv", [channels, n.floats(3, 8, 2, 2)])
    n.case("axes", "Sqrt", [n.node("Pad", [n.node("Abs", [image]), n.constant([1, 2, 3, 0]), "", n.constant([3, 1])])])
    check_operators(n, tmp_path)
