"""The one check of what a file states, before anything uses it: tensors, sizes, names and attributes of all graphs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from match_core.contract.errors import ModelError
from match_core.load.integer_operators import rename_integer_operators

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

#: Most elements of a tensor: indices of programs have 32 bits.
MOST_ELEMENTS = (1 << 31) - 1
_PADDED = ("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv")
#: What the standard allows, by attribute: whole numbers (each one of a list) from and to, and words.
_RANGES = {
    name: ends
    for names, ends in (
        (
            "align_corners allowzero antialias batch_axis ceil_mode center_point_box count_include_pad detect_negative "
            "detect_positive exclude_outside exclusive fmod input_forget interleaved inverse is_causal is_test "
            "keepdims largest layout linear_before_reset new_axis noop_with_empty_axes onesided output_sequence "
            "periodic reverse saturate select_last_index sorted spatial storage_order training_mode time_axis transA "
            "transB upper broadcast",
            (0, 1),
        ),
        (
            "blocksize dilations group hidden_size kernel_shape num_groups num_outputs offset_group output_height "
            "output_width pooled_shape size strides",
            (1, MOST_ELEMENTS),
        ),
        ("axes axis perm", (-64, 64)),  # more than a tensor of so many elements has
        (
            "batch_dims block_size kv_num_heads max_gram_length max_skip_count min_gram_length ngram_counts "
            "num_heads output_padding output_shape q_num_heads rotary_embedding_dim sampling_ratio split",
            (0, MOST_ELEMENTS),
        ),
        ("pads paddings", (-MOST_ELEMENTS, MOST_ELEMENTS)),
        ("qk_matmul_output_mode", (0, 3)),
    )
    for name in names.split()
} | {f"{operator}.pads": (0, MOST_ELEMENTS) for operator in _PADDED}
_RANGES |= {"LpNormalization.p": (1, 2), "LpPool.p": (1, 64), "GlobalLpPool.p": (1, 64)}
_WORDS = {
    "approximate": "none tanh",
    "auto_pad": "NOTSET SAME_UPPER SAME_LOWER VALID",
    "coordinate_transformation_mode": "align_corners asymmetric half_pixel half_pixel_symmetric output_half_pixel "
    "pytorch_half_pixel tf_crop_and_resize tf_half_pixel_for_nn",
    "direction": "LEFT RIGHT forward reverse bidirectional",
    "keep_aspect_ratio_policy": "stretch not_larger not_smaller",
    "DepthToSpace.mode": "DCR CRD",
    "GridSample.mode": "linear nearest cubic bilinear bicubic",
    "Pad.mode": "constant reflect edge wrap",
    "Resize.mode": "nearest linear cubic bilinear",
    "RoiAlign.mode": "avg max",
    "TensorScatter.mode": "linear circular",
    "TfIdfVectorizer.mode": "TF IDF TFIDF",
    "Upsample.mode": "nearest linear bilinear",
    "nearest_mode": "round_prefer_floor round_prefer_ceil floor ceil",
    "padding_mode": "zeros border reflection",
    "reduction": "none sum mean add mul max min",
    "round_mode": "up down nearest",
}
_EQUATION = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*(,[A-Za-z]*(\.\.\.)?[A-Za-z]*)*(->[A-Za-z]*(\.\.\.)?[A-Za-z]*)?")
_FINITE = (
    *("activation_alpha", "activation_beta", "alpha", "beta", "bias", "clip", "cubic_coeff_a", "epsilon", "gamma"),
    *("height_scale", "lambd", "ratio", "scale", "scales", "softcap", "spatial_scale", "weights", "width_scale"),
)
#: Position of the scales among an operator's inputs.
_SCALES = {"QuantizeLinear": (1,), "DequantizeLinear": (1,), "QLinearConv": (1, 4, 6), "QLinearMatMul": (1, 4, 6)}


def graphs_of(proto: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    """The model's graph, its functions and all of their subgraphs."""
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [*proto.functions, proto.graph]
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                waiting.extend((*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs))


def tensors_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.TensorProto]:
    """The constants of one graph: initialisers and attributes."""
    yield from getattr(graph, "initializer", ())
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        yield from (*((attribute.t,) if attribute.HasField("t") else ()), *attribute.tensors)


def check_sound(proto: onnx.ModelProto, source: str) -> None:
    """Refuse files that are not valid ONNX, by its checker or by what that lets pass. All data are inside the proto;
    integer operators get a domain of their own.

    Errors: ModelError MATCH-F003.
    """
    import onnx

    where, fault = next((found for graph in graphs_of(proto) for found in _faults(graph)), ("", ""))
    rename_integer_operators(proto)
    try:
        if not fault:
            onnx.checker.check_model(proto)
    except (UnicodeDecodeError, onnx.checker.ValidationError) as error:  # or its message is not text
        fault = " ".join(str(error).replace("==> Context:", "").split())[:400] or "the checker gives no reason"
    if fault:
        place = ", ".join(filter(None, (source, where)))
        advice = ("export the model again", "run onnx.checker.check_model on it")
        raise ModelError("MATCH-F003", "the model is not valid ONNX", place, fault, advice)


def decode_texts(message: Any) -> None:
    """Decode every text of a message. Errors: UnicodeDecodeError."""
    for field, value in message.ListFields():
        if field.message_type is not None or field.type == field.TYPE_STRING:
            for part in value if hasattr(value, "extend") else (value,):
                if field.message_type is not None:
                    decode_texts(part)
                elif isinstance(part, bytes):  # as protobuf returns what it cannot decode
                    part.decode()


def _faults(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[tuple[str, str]]:
    for tensor in tensors_of(graph):
        if fault := _of_tensor(tensor):
            yield f"tensor {tensor.name!r}", fault
    for value in (*getattr(graph, "input", ()), *getattr(graph, "output", ()), *graph.value_info):
        if not isinstance(value, str) and value.type.HasField("tensor_type"):
            for dim in (dim for dim in value.type.tensor_type.shape.dim if dim.dim_value < 0):
                dim.Clear()  # exporters write -1 for a size that is not fixed
            dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            if fault := _of_sizes(dims):
                yield f"tensor {value.name!r}", fault
    outputs = Counter(value if isinstance(value, str) else value.name for value in graph.output)
    yield from ((f"output {name!r}", "two outputs have this name") for name in outputs if outputs[name] > 1)
    constants = {tensor.name: tensor for tensor in getattr(graph, "initializer", ())}
    for node in graph.node:
        for attribute in node.attribute:
            if fault := "" if attribute.ref_attr_name else _of_attribute(node, attribute):
                yield f"node {node.name!r} ({node.op_type}), attribute {attribute.name!r}", fault
        for name in (node.input[i] for i in _SCALES.get(node.op_type, ()) if i < len(node.input)):
            signed = any(a.name == "block_size" and a.i for a in node.attribute)  # ONNX Runtime writes such scales
            if name in constants and (fault := _of_scale(constants[name], signed)):
                yield f"node {node.name!r} ({node.op_type}), scale {name!r}", fault
        zero = constants.get(node.input[2]) if node.op_type == "DequantizeLinear" and len(node.input) > 2 else None
        if zero is not None and zero.data_type == zero.INT32 and _array(zero).any():
            yield f"node {node.name!r} ({node.op_type}), zero point {zero.name!r}", "zero points of int32 are 0"


def _of_sizes(dims: list[int]) -> str:
    if min(dims, default=0) < 0 or math.prod(dims) > MOST_ELEMENTS:
        return f"its dimensions are {dims}; a tensor has 0 to {MOST_ELEMENTS} elements"
    return ""


def _of_tensor(tensor: onnx.TensorProto) -> str:
    import onnx

    if (fault := _of_sizes(list(tensor.dims))) or tensor.data_type == onnx.TensorProto.STRING:
        return fault
    try:
        onnx.numpy_helper.to_array(tensor)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        return f"its data do not fit element type {tensor.data_type} and dimensions {list(tensor.dims)}: {error}"
    return ""


def _array(tensor: onnx.TensorProto) -> NDArray[np.float32]:
    import numpy as np
    import onnx

    return onnx.numpy_helper.to_array(tensor).astype(np.float32)


def _of_scale(tensor: onnx.TensorProto, signed: bool) -> str:
    import numpy as np

    values = _array(tensor)
    bad = values[~(np.isfinite(values) & (signed | (values > 0)))]
    words = "scales of blocks are finite" if signed else "scales are finite and above 0"
    return f"{bad.flat[0]} is no scale: {words}" if bad.size else ""


def _of_attribute(node: onnx.NodeProto, attribute: onnx.AttributeProto) -> str:
    name = attribute.name
    try:
        words = [attribute.s.decode(), *(text.decode() for text in attribute.strings)]
    except UnicodeDecodeError as error:
        return f"it is not UTF-8: {error}"
    if node.domain not in ("", "ai.onnx"):
        return ""
    numbers = [attribute.i] if attribute.type == attribute.INT else list(attribute.ints)
    own = f"{node.op_type}.{name}"
    ends = _RANGES.get(own) or _RANGES.get(name)
    if ends is not None and not all(ends[0] <= number <= ends[1] for number in numbers):
        return f"{numbers} is outside the range from {ends[0]} to {ends[1]}"
    for number in (attribute.f, *attribute.floats) if name in _FINITE else ():
        if not math.isfinite(number):
            return f"{number} is not finite"
    if name == "equation":
        attribute.s = attribute.s.replace(b" ", b"")  # inference of shapes does not end behind a space
        if not _EQUATION.fullmatch(attribute.s.decode()):
            return f"{words[0]!r} is no equation of labels, commas and an arrow"
    known = (_WORDS.get(own) or _WORDS.get(name, "")).split()
    if known and words[0] not in known and words[0].lower() not in known:
        return f"{words[0]!r} is none of {', '.join(known)}"
    return ""
