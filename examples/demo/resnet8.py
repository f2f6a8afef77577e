"""The demo model's network: the ResNet8 of MLPerf Tiny's image classification task, in torch.

A 3x3 stem with 16 channels, three residual stages with 16, 32 and 64 channels, the last two with stride 2 and
a 1x1 convolution on the shortcut, global average pooling and one dense layer.
"""

# torch has few types and is not installed where the types are checked.
# mypy: disable-error-code="import-not-found,misc,no-any-return,no-untyped-call,call-overload"

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


class ConvNorm(nn.Module):
    """Convolution and batch normalisation; `fold` merges the second into the first for export."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(out_channels)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, in_channels, h, w) -> (batch, out_channels, h / stride, w / stride)."""
        return self.norm(self.conv(x))

    def fold(self) -> nn.Conv2d:
        """One convolution with bias that computes what both do in inference."""
        return fuse_conv_bn_eval(self.conv, self.norm)


class ResidualStage(nn.Module):
    """Two 3x3 convolutions added to the input, which passes a 1x1 convolution where the shape changes."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.conv1: nn.Module = ConvNorm(in_channels, out_channels, stride)
        self.relu1 = nn.ReLU()
        self.conv2: nn.Module = ConvNorm(out_channels, out_channels, stride=1)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            self.shortcut = nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=stride)
        self.relu2 = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """(batch, in_channels, h, w) -> (batch, out_channels, h / stride, w / stride)."""
        return self.relu2(self.shortcut(x) + self.conv2(self.relu1(self.conv1(x))))


class ResNet8(nn.Module):
    """The whole network. The attribute names become node names in the ONNX file."""

    def __init__(self, class_count: int) -> None:
        super().__init__()
        self.stem: nn.Module = ConvNorm(3, 16, stride=1)
        self.stem_relu = nn.ReLU()
        self.stage1 = ResidualStage(16, 16, stride=1)
        self.stage2 = ResidualStage(16, 32, stride=2)
        self.stage3 = ResidualStage(32, 64, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.dense = nn.Linear(64, class_count)
        self.softmax: nn.Module = nn.Identity()  # the loss wants logits; `deployable` puts the softmax here

    def forward(self, x: Tensor) -> Tensor:
        """(batch, 3, 32, 32) -> (batch, class_count); logits unless `deployable` made this network."""
        x = self.stem_relu(self.stem(x))
        x = self.stage3(self.stage2(self.stage1(x)))
        return self.softmax(self.dense(self.flatten(self.pool(x))))


def deployable(trained: ResNet8) -> ResNet8:
    """A copy for export: batch normalisation folded into convolutions, probabilities instead of logits."""
    network = copy.deepcopy(trained).eval().to(memory_format=torch.contiguous_format)
    for owner in (network, network.stage1, network.stage2, network.stage3):
        for name, child in tuple(owner.named_children()):
            if isinstance(child, ConvNorm):
                setattr(owner, name, child.fold())
    network.softmax = nn.Softmax(dim=1)
    return network
