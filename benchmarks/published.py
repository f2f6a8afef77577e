"""Published figures that the benchmarks stand beside, with their sources. All of silicon; none measured here."""

from __future__ import annotations

from dataclasses import dataclass

#: Clock of the published measurements (MATCH, IEEE TCAD 2025, section VI).
CLOCK_HZ = 260e6

#: Milliseconds of one inference on GAP9 at 260 MHz (MATCH, tables III and IV): network -> column.
NETWORK_MS = {
    "mobilenetv1_025": {"CPU": 236.22, "cluster": 11.2, "NE16": 5.02, "all": 4.94, "DORY": 11.29, "NNTool": 1.61},
    "resnet8": {"CPU": 342.72, "cluster": 5.48, "NE16": 2.9, "all": 2.15, "DORY": 5.76, "NNTool": 0.88},
    "dscnn": {"CPU": 83.41, "cluster": 4.25, "NE16": 14.46, "all": 1.57, "DORY": 4.19, "NNTool": 0.68},
    "autoencoder": {"CPU": 6.12, "cluster": 0.54, "NE16": 6.12, "all": 0.54, "DORY": 0.52, "NNTool": 0.26},
}

#: The same on DIANA at 260 MHz, with the digital array and the host (MATCH, section VI; HTVM is arXiv 2406.07453).
DIANA_NETWORK_MS = {
    "mobilenetv1_025": {"MATCH": 6.08, "HTVM": 6.17},
    "resnet8": {"MATCH": 0.79, "HTVM": 1.27},
    "dscnn": {"MATCH": 7.3, "HTVM": 7.26},
    "autoencoder": {"MATCH": 0.4, "HTVM": 0.36},
}
#: Multiply-accumulates per cycle of DIANA's digital array on the 3x3 convolution of 64 to 64 channels, 32x32 (MATCH,
#: section VI), and measured throughput over predicted throughput there and for depthwise layers.
DIANA_MACS_PER_CYCLE = 146.12
DIANA_FIDELITY = {"standard": 0.95, "depthwise": 0.77}

#: Measured throughput over predicted throughput for layers of 64 channels (MATCH, section VI): (unit, kind) -> share.
FIDELITY = {
    ("cluster", "standard"): 0.91,
    ("cluster", "depthwise"): 0.88,
    ("NE16", "standard"): 0.83,
    ("NE16", "depthwise"): 0.77,
}

#: Latency in per cent that units side by side save against the fastest unit for each layer, one after another, float16
#: on Carfield at 50 MHz on an FPGA (MATCHA, arXiv 2604.09124, sections 4 and 5).
SIDE_BY_SIDE_GAIN = {
    "matcha_resnet_block_f16": 35.02,
    "matcha_resnext_block_f16": 17.55,
    "matcha_transformer_block_f16": 23.65,
    "matcha_resnet8_f16": 28.8,
    "matcha_autoencoder_f16": 33.3,
    "matcha_dscnn_f16": 0.0,
    "matcha_mobilenet_f16": 0.0,
}
#: The same with whole layers only, where it is published. The paper calls the last one ResNet-18 for CIFAR-10; its
#: public repository has ResNet8 (match examples/targets/carfield/model_fp16).
WHOLE_LAYERS_GAIN = {
    "matcha_resnet_block_f16": 18.22,
    "matcha_resnext_block_f16": 9.47,
    "matcha_transformer_block_f16": 7.21,
    "matcha_resnet8_f16": 13.3,
}
#: Least and largest speed-up over the host alone, of blocks and of whole networks (the same paper, section 4).
SPEED_UPS = {"block": (11.04, 40.34), "network": (4.61, 12.28)}
#: Multiply-accumulates per cycle in binary16 that the paper's public optimiser assumes (match/matcha/optimize.py).
OPTIMISER_MACS_PER_CYCLE = {"host": 0.5, "pulp": 8.0, "spatz": 6.0}
#: What the paper's figures are of, beside those of a target.
SIDE_BY_SIDE_PLATFORM = {
    "carfield": "FPGA, its own kernels, RedMulE for one layer",
    "carfield_poll": "FPGA, its own kernels, RedMulE for one layer",
    "carfield_matcha": "FPGA, its own kernels",
}

#: Operating point of the figures of ITA and its cluster (Wiese et al., IEEE Design & Test 42:5, 2025): 0.65 V;
#: multiply-accumulates per cycle of ITA.
ITA_CLOCK_HZ = 425e6
ITA_PEAK_MACS = 1024


@dataclass(frozen=True, slots=True)
class Encoder:
    """Throughput of an encoder with ITA and on the cores alone (the same paper, table I; each layer measured by itself
    and summed); ``giga_operations`` of one inference as the paper counts them; ``millijoules`` of one with ITA."""

    inferences_per_second: float
    cores_inferences_per_second: float
    giga_operations: float
    millijoules: float


ITA_NETWORKS = {
    "mobilebert": Encoder(32.5, 0.16, 4.74, 1.60),
    "dinov2": Encoder(4.83, 0.06, 11.7, 7.31),
    "whisper": Encoder(6.52, 0.08, 9.74, 5.55),
}


@dataclass(frozen=True, slots=True)
class Peak:
    """A test of ITA in its cluster (the same paper, section V; it does not state sizes): part of the peak, throughput
    and energy efficiency. 663 GOp/s are 76.2 % of the peak, so the two figures of attention differ."""

    utilisation: float
    giga_operations_per_second: float
    giga_operations_per_joule: float


ITA_PEAKS = {"GEMM": Peak(0.851, 741.0, 5420.0), "attention": Peak(0.749, 663.0, 6350.0)}
#: GEMM on the cores alone: 741 GOp/s are 986 times theirs, and 5.42 TOp/J 188 times (the same section).
ITA_CORES_GEMM = Peak(741 / 986 / 870.4, 741 / 986, 5420 / 188)
#: Energy efficiency of the networks on the cores alone; ranges of power and energy efficiency with ITA (table I).
ITA_CORES_GIGA_OPERATIONS_PER_JOULE = 28.9
ITA_MILLIWATTS, ITA_GIGA_OPERATIONS_PER_JOULE = (35.2, 52.0), (1600.0, 2960.0)
