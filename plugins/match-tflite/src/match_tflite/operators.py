"""The supported operators, and the functions that translate them."""

from __future__ import annotations

from collections.abc import Callable

from match_tflite import convolutions, dense, elementwise, images, moves, padding, recurrent, reductions, svdf, variables
from match_tflite.call import Call

Translation = Callable[[Call], None]

OPERATORS: dict[str, Translation] = {
    **dict.fromkeys(elementwise.UNARY, elementwise.unary),
    **dict.fromkeys(elementwise.COMPOSED, elementwise.composed),
    **dict.fromkeys(elementwise.BINARY, elementwise.binary),
    **dict.fromkeys(reductions.REDUCTIONS, reductions.reduce),
    "CONV_2D": convolutions.conv,
    "DEPTHWISE_CONV_2D": convolutions.depthwise,
    "TRANSPOSE_CONV": convolutions.transposed,
    "AVERAGE_POOL_2D": convolutions.average_pool,
    "MAX_POOL_2D": convolutions.max_pool,
    "PAD": padding.pad,
    "PADV2": padding.pad,
    "MIRROR_PAD": padding.mirror_pad,
    "FULLY_CONNECTED": dense.fully_connected,
    "BATCH_MATMUL": dense.batch_matmul,
    "DEQUANTIZE": elementwise.dequantize,
    "CAST": elementwise.cast,
    "SQUARED_DIFFERENCE": elementwise.squared_difference,
    "NOT_EQUAL": elementwise.not_equal,
    "ADD_N": elementwise.add_n,
    "SELECT": elementwise.select,
    "SELECT_V2": elementwise.select,
    "SOFTMAX": elementwise.softmax,
    "LOG_SOFTMAX": elementwise.log_softmax,
    "L2_NORMALIZATION": elementwise.l2_normalization,
    "RESHAPE": moves.reshape,
    "SQUEEZE": moves.reshape,
    "EXPAND_DIMS": moves.reshape,
    "TRANSPOSE": moves.transpose,
    "CONCATENATION": moves.concatenation,
    "PACK": moves.pack,
    "UNPACK": moves.unpack,
    "SPLIT": moves.split,
    "SPLIT_V": moves.split_v,
    "SLICE": moves.slice_,
    "STRIDED_SLICE": moves.strided_slice,
    "GATHER": moves.gather,
    "TILE": moves.tile,
    "BROADCAST_TO": moves.broadcast_to,
    "FILL": moves.broadcast_to,
    "SHAPE": moves.shape,
    "RANK": moves.rank,
    "ARG_MAX": reductions.arg,
    "ARG_MIN": reductions.arg,
    "RESIZE_NEAREST_NEIGHBOR": images.nearest,
    "RESIZE_BILINEAR": images.bilinear,
    "VAR_HANDLE": variables.nothing,
    "CALL_ONCE": variables.nothing,
    "READ_VARIABLE": variables.read_variable,
    "ASSIGN_VARIABLE": variables.assign_variable,
    "SVDF": svdf.svdf,
    "LSTM": recurrent.lstm,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": recurrent.lstm,
    "RNN": recurrent.rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN": recurrent.rnn,
    "SPACE_TO_DEPTH": images.space_and_depth,
    "DEPTH_TO_SPACE": images.space_and_depth,
}
