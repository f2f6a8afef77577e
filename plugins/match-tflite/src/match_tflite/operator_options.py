"""The fields of operators' options that are read: operator -> (table of the schema, its fields)."""

from __future__ import annotations

_POOL = ("Pool2DOptions", ("Padding", "StrideH", "StrideW", "FilterHeight", "FilterWidth", "FusedActivationFunction"))
_REDUCE = ("ReducerOptions", ("KeepDims",))

#: Other operators are translated without their options, or not at all.
OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ADD": ("AddOptions", ("FusedActivationFunction",)),
    "SUB": ("SubOptions", ("FusedActivationFunction",)),
    "MUL": ("MulOptions", ("FusedActivationFunction",)),
    "DIV": ("DivOptions", ("FusedActivationFunction",)),
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
    "CONV_2D": (
        "Conv2DOptions",
        ("Padding", "StrideH", "StrideW", "DilationHFactor", "DilationWFactor", "FusedActivationFunction"),
    ),
    "DEPTHWISE_CONV_2D": (
        "DepthwiseConv2DOptions",
        ("Padding", "StrideH", "StrideW", "DilationHFactor", "DilationWFactor", "FusedActivationFunction"),
    ),
    "TRANSPOSE_CONV": ("TransposeConvOptions", ("Padding", "StrideH", "StrideW", "FusedActivationFunction")),
    "FULLY_CONNECTED": ("FullyConnectedOptions", ("FusedActivationFunction", "WeightsFormat")),
    "BATCH_MATMUL": ("BatchMatMulOptions", ("AdjX", "AdjY")),
    "SOFTMAX": ("SoftmaxOptions", ("Beta",)),
    "LEAKY_RELU": ("LeakyReluOptions", ("Alpha",)),
    "GELU": ("GeluOptions", ("Approximate",)),
    "L2_NORMALIZATION": ("L2NormOptions", ("FusedActivationFunction",)),
    "CONCATENATION": ("ConcatenationOptions", ("Axis", "FusedActivationFunction")),
    "MIRROR_PAD": ("MirrorPadOptions", ("Mode",)),
    "STRIDED_SLICE": (
        "StridedSliceOptions",
        ("BeginMask", "EndMask", "EllipsisMask", "NewAxisMask", "ShrinkAxisMask", "Offset"),
    ),
    "PACK": ("PackOptions", ("Axis",)),
    "UNPACK": ("UnpackOptions", ("Axis",)),
    "GATHER": ("GatherOptions", ("Axis", "BatchDims")),
    "RESIZE_NEAREST_NEIGHBOR": ("ResizeNearestNeighborOptions", ("AlignCorners", "HalfPixelCenters")),
    "RESIZE_BILINEAR": ("ResizeBilinearOptions", ("AlignCorners", "HalfPixelCenters")),
    "SPACE_TO_DEPTH": ("SpaceToDepthOptions", ("BlockSize",)),
    "DEPTH_TO_SPACE": ("DepthToSpaceOptions", ("BlockSize",)),
    "VAR_HANDLE": ("VarHandleOptions", ("Container", "SharedName")),
    "CALL_ONCE": ("CallOnceOptions", ("InitSubgraphIndex",)),
    "SVDF": ("SVDFOptions", ("Rank", "FusedActivationFunction")),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        "UnidirectionalSequenceLSTMOptions",
        ("FusedActivationFunction", "CellClip", "ProjClip", "TimeMajor"),
    ),
    "LSTM": ("LSTMOptions", ("FusedActivationFunction", "CellClip", "ProjClip")),
    "RNN": ("RNNOptions", ("FusedActivationFunction",)),
    "UNIDIRECTIONAL_SEQUENCE_RNN": ("SequenceRNNOptions", ("FusedActivationFunction", "TimeMajor")),
    "MEAN": _REDUCE,
    "SUM": _REDUCE,
    "REDUCE_MAX": _REDUCE,
    "REDUCE_MIN": _REDUCE,
    "REDUCE_PROD": _REDUCE,
}
