"""The layout of weights and biases of the digital array in L2 (sheet 5.2).

Every group of four bytes is reversed. Biases of convolutions lie in planes: the least significant byte of 16 channels,
then the next one. Those of dense layers are words of 128 bits, the least significant byte first.
"""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import Match, Workload
from numpy.typing import NDArray

from match_diana.digital import structures as s
from match_diana.digital.limits import CHANNEL_BLOCK, COPY_BYTES, DENSE_BIAS_BYTES, DEPTHWISE_GROUP, LANES, round_up
from match_diana.digital.workloads import channels_computed

Bytes = NDArray[np.uint8]
Arrays = dict[str, NDArray[np.generic]]


def pack_conv(weight: NDArray[np.generic], bias: NDArray[np.int64], channels: int) -> Bytes:
    """[channels / 16] blocks of [C][Fy][Fx][16 channels], then 64 bytes of biases; ``weight`` [K, C, Fy, Fx] and
    ``bias`` [K] are filled up with zeros."""
    outputs, inputs, fy, fx = weight.shape
    filled = np.zeros((channels, inputs, fy, fx), np.int8)
    filled[:outputs] = weight
    blocks = filled.reshape(-1, LANES, inputs * fy * fx).transpose(0, 2, 1).reshape(channels // LANES, -1)
    biases = np.zeros(channels, np.int64)
    biases[:outputs] = bias
    return _reversed(np.concatenate([blocks.view(np.uint8), _bias_planes(biases)], axis=1))


def pack_depthwise(weight: NDArray[np.generic], bias: NDArray[np.int64], channels: int) -> Bytes:
    """As a convolution of one input channel with each channel followed by three others, all zero; ``weight``
    [K, 1, Fy, Fx]."""
    spread = np.zeros((DEPTHWISE_GROUP * channels, *weight.shape[1:]), np.int8)
    spread[: DEPTHWISE_GROUP * len(weight) : DEPTHWISE_GROUP] = weight
    biases = np.zeros(len(spread), np.int64)
    biases[: DEPTHWISE_GROUP * len(weight) : DEPTHWISE_GROUP] = bias
    return pack_conv(spread, biases, len(spread))


def pack_depthwise_blocks(weight: NDArray[np.generic], bias: NDArray[np.int64], size_bytes: int) -> Bytes:
    """Blocks of 16 outputs as convolutions of the same input channels, 16 or of the last block fewer; ``weight``
    [K, 1, Fy, Fx]. Zeros behind them make up the size."""
    packed = np.zeros(size_bytes, np.uint8)
    start = 0
    for first in range(0, len(weight), LANES):
        own = weight[first : first + LANES, 0]
        block = np.zeros((len(own), len(own), *own.shape[1:]), np.int8)
        block[np.arange(len(own)), np.arange(len(own))] = own
        values = pack_conv(block, bias[first : first + LANES], LANES)
        packed[start : start + values.size] = values
        start += values.size
    return packed


def pack_dense(weight: NDArray[np.generic], bias: NDArray[np.int64]) -> Bytes:
    """[K / 16] blocks of [C / 16][16 K][16 C], then 16 biases of 16 bytes; ``weight`` [C, K] is filled up with
    zeros."""
    inputs, outputs = weight.shape
    c, k = round_up(inputs, LANES), round_up(outputs, COPY_BYTES)
    filled = np.zeros((c, k), np.int8)
    filled[:inputs, :outputs] = weight
    blocks = filled.reshape(c // LANES, LANES, k // LANES, LANES).transpose(2, 0, 3, 1).reshape(k // LANES, -1)
    words = np.zeros((k, DENSE_BIAS_BYTES // 8), "<i8")
    words[:outputs, 0] = bias
    words[:outputs, 1] = bias >> 63
    biases = words.view(np.uint8).reshape(k // LANES, -1)
    return _reversed(np.concatenate([blocks.view(np.uint8), biases], axis=1))


def _bias_planes(biases: NDArray[np.int64]) -> Bytes:
    """[blocks of 16][4 bytes][16]."""
    planes: Bytes = biases.astype("<i4").view(np.uint8).reshape(-1, LANES, 4).transpose(0, 2, 1)
    return planes.reshape(len(planes), -1)


def _reversed(values: NDArray[np.uint8]) -> Bytes:
    """Every four bytes in reverse."""
    return np.ascontiguousarray(values.reshape(-1, 4)[:, ::-1]).reshape(-1)


# ---- by pattern ------------------------------------------------------------------------------------------------


def _bias(match: Match, channels: int) -> NDArray[np.int64]:
    return s.made_requant(match).biases(channels)


def conv_weights(match: Match, workload: Workload) -> Arrays:
    """Of a convolution that writes rows."""
    weight = match.const("weight")
    return {"weights": pack_conv(weight, _bias(match, len(weight)), workload.dim("K").size)}


def channels_weights(match: Match, workload: Workload) -> Arrays:
    """Of a convolution that writes channels."""
    weight = match.const("weight")
    blocks = workload.dim("K").size
    channels = blocks * CHANNEL_BLOCK if blocks > 1 else channels_computed(len(weight))
    return {"weights": pack_conv(weight, _bias(match, len(weight)), channels)}


def depthwise_weights(match: Match, workload: Workload) -> Arrays:
    """Constants of a depthwise convolution, and the bytes after them that the array reads too."""
    weight = match.const("weight")
    rows, row_bytes = (axis.size for axis in workload.operand("weights").axes)
    packed = pack_depthwise(weight, _bias(match, len(weight)), rows - 1)
    return {"weights": np.concatenate([packed, np.zeros(row_bytes, np.uint8)])}


def depthwise_block_weights(match: Match, workload: Workload) -> Arrays:
    """Of a depthwise convolution in blocks of 16 channels."""
    weight = match.const("weight")
    size = prod(axis.size for axis in workload.operand("weights").axes)
    return {"weights": pack_depthwise_blocks(weight, _bias(match, len(weight)), size)}


def dense_weights(match: Match, workload: Workload) -> Arrays:
    """Of a dense layer."""
    weight = match.const("weight")
    return {"weights": pack_dense(weight, _bias(match, weight.shape[1]))}


def identity_weights(match: Match, workload: Workload) -> Arrays:
    """Of a 1x1 convolution that copies 16 channels."""
    weight = np.eye(LANES, dtype=np.int8).reshape(LANES, LANES, 1, 1)
    return {"weights": pack_conv(weight, np.zeros(LANES, np.int64), LANES)}
