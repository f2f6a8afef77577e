"""Sets of networks whose layers ``benchmarks.cortexm_layers`` counts: those of ../shared, and made ones."""

from __future__ import annotations

from benchmarks import (
    eighteenth_models,
    eighth_models,
    eleventh_models,
    fifteenth_models,
    fourteenth_models,
    fresh_models,
    late_models,
    nineteenth_models,
    ninth_models,
    seventeenth_models,
    seventh_models,
    sixteenth_models,
    sixth_models,
    small_models,
    tenth_models,
    thirteenth_models,
    twelfth_models,
    twentieth_models,
    twentyfirst_models,
    twentysecond_models,
    twentythird_models,
)
from benchmarks.breadth_models import FLOATS, MADE
from benchmarks.runs import MODELS

#: Of the set of all stored networks.
MOST_STORED_BYTES = 1_000_000

#: Sets of networks that fit all boards, and the layers that are made.
SETS: dict[str, tuple[str, ...]] = {
    "int8": (
        *(f"mlperf_{name}_int8_qdq" for name in ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")),
        *(f"mlperf_{name}_int8_int" for name in ("resnet8", "dscnn", "autoencoder", "streaming_wakeword")),
        "mlperf_resnet8_int8_qop",
        "mlperf_streaming_wakeword_int8_qdq",
        *(f"micro_conv_{name}_qdq" for name in ("std_16x16_c16_relu_u8", "dw_16x16_c16_relu_u8", "std_8x8_c64")),
        "ita_mobilebert_l1_int8_qdq",
    ),
    "int8, held out": (
        *(f"mlperf_{name}_int8_qop" for name in ("dscnn", "autoencoder", "mobilenetv1_025", "streaming_wakeword")),
        "mlperf_mobilenetv1_025_int8_int",
        *(f"micro_conv_dw_{name}" for name in ("2x2_c16_qdq", "8x8_c1_qdq", "32x32_c16_qdq", "16x16_c64_pc_int")),
        *(f"micro_conv_std_{name}" for name in ("2x2_c64_qdq", "16x16_c1_qdq", "16x16_c16_pc_qdq", "8x8_c16_int")),
        *(f"micro_conv_std_{name}" for name in ("16x16_c64_pc_qop", "32x32_c16_qdq", "16x16_c16_relu_u8_int")),
        *("micro_conv_dw_16x16_c16_pc_qop", "ita_mobilebert_l1_int8_pc_qdq", "mobilebert_l1_int8_qdq"),
        "ita_dinov2_l1_int8_qdq",
    ),
    "float32": ("mlperf_resnet8_f32", "mlperf_dscnn_f32", "mlperf_mobilenetv1_025_f32", "transformer_enc128_f32"),
    "float32, held out": (
        *("mlperf_autoencoder_f32", "transformer_enc128_gelu_f32", "ita_mobilebert_l1_f32", "resnet18_cifar10_w16_f32"),
        *("resnext50_block1_f32", "mobilebert_l1_f32", "mlperf_dscnn_w8f32"),
    ),
    "made": ("made",),
}
#: Networks of no set until the model was done: stored layers, and those of breadth_models.py.
_SEEN = {name for names in SETS.values() for name in names}
SETS |= {
    "int8, new": (
        *sorted(path.name for path in MODELS.glob("micro_conv_*") if path.name not in _SEEN),
        *(name for name in MADE if name != "float"),
    ),
    "float32, new": (*FLOATS, "resnet50_block1_f32", "resnet50_block1_bn_f32"),
}
#: Networks of no set until then: listed before any layer of them was counted. They were counted once with the model of
#: commit 3c40a880, and have been in view since.
_STORED = (
    *("Models/EEGFormer", "Models/MLPerf/KeywordSpotting", "Models/miniMobileNet", "Models/CCT/Int/ICCT_ITA"),
    *("Kernels/Integer/GEMM/Regular_RQPerColumn", "Kernels/Integer/Attention", "Kernels/Integer/Conv/DW_2D_RQ"),
    *("Kernels/Integer/Conv/PW_2D_RQ/Regular_RQ", "Kernels/Integer/Softmax/Regular"),
)
SETS |= {
    "int8, third": (
        *("ita_whisper_l1_int8_qdq", "whisper_tiny_l1_int8_qdq", "dinov2_small_l1_int8_qdq"),
        *(*(f"quantlib/{name}" for name in _STORED), *small_models.INTEGER),
    ),
    "float32, third": tuple(small_models.FLOAT),
    "float16, third": (
        *(f"matcha_{name}_f16" for name in ("autoencoder", "dscnn", "mobilenet", "resnet8", "transformer_block")),
        *(f"matcha_{name}_block_f16" for name in ("convnext", "resnet", "resnext")),
        *("resnet18_cifar10_w16_f16", "resnet50_block1_f16", "resnext50_block1_f16"),
        *("transformer_enc128_f16", "transformer_enc128_gelu_f16"),
    ),
}
#: Small networks, of no set until the model was done once more.
_LATER = {
    "fourth": fresh_models,
    "fifth": late_models,
    "sixth": sixth_models,
    "seventh": seventh_models,
    "eighth": eighth_models,
    "ninth": ninth_models,
    "tenth": tenth_models,
    "eleventh": eleventh_models,
    "twelfth": twelfth_models,
    "thirteenth": thirteenth_models,
    "fourteenth": fourteenth_models,
    "fifteenth": fifteenth_models,
    "sixteenth": sixteenth_models,
    "seventeenth": seventeenth_models,
    "eighteenth": eighteenth_models,
    "nineteenth": nineteenth_models,
    "twentieth": twentieth_models,
    "twenty-first": twentyfirst_models,
    "twenty-second": twentysecond_models,
    "twenty-third": twentythird_models,
}
for _name, _models in _LATER.items():
    SETS |= {f"int8, {_name}": tuple(_models.INTEGER), f"float32, {_name}": tuple(_models.FLOAT)}
#: All stored networks up to 1 MB in int8 or float32, whatever set they are in.
_SMALL = sorted(path.parent.name for path in MODELS.glob("*/model.onnx") if path.stat().st_size <= MOST_STORED_BYTES)
STORED: dict[str, tuple[str, ...]] = {
    "int8, stored": tuple(name for name in _SMALL if "f32" not in name and "f16" not in name),
    "float32, stored": tuple(name for name in _SMALL if "f32" in name),
}
#: Networks that are made, without samples.
BUILT = {**MADE, **FLOATS}
for _models in (small_models, *_LATER.values()):
    BUILT |= {**_models.INTEGER, **_models.FLOAT}
#: Not on cores without an FPU: more than 100 million float32 products, which take minutes of an emulator, and float16.
LONG: tuple[str, ...] = ("resnext50_block1_f32", "mobilebert_l1_f32", "resnet50_block1_f32", "resnet50_block1_bn_f32")
LONG += SETS["float16, third"]
