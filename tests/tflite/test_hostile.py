"""Damaged files end in coded errors: cut off, with wrong bytes, contradicting themselves, with huge counts."""

from __future__ import annotations

import builtins
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
import tflite
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.contract.errors import ModelError
from match_core.load.load import model_from_proto
from match_tflite.convert import tflite_to_onnx
from match_tflite.plugin import is_tflite

from tests.examples import examples
from tests.tflite_files.builder import POOL, VALID, TfliteBuilder, one_operator, quantised_network

WHOLE = quantised_network()


def ends_well(content: bytes) -> None:
    """The file is read, or refused with a code."""
    try:
        proto = tflite_to_onnx(content, "net.tflite")
        onnx.checker.check_model(proto)
        model_from_proto(proto, "net", "net.tflite")
    except (ModelError, onnx.checker.ValidationError) as error:
        assert isinstance(error, onnx.checker.ValidationError) or error.code.startswith("MATCH-F")


@pytest.mark.parametrize("part", range(0, 100, 7))
def test_a_file_that_was_cut_off(part: int) -> None:
    content = WHOLE[: 8 + (len(WHOLE) - 8) * part // 100]
    assert is_tflite(content)
    with pytest.raises(ModelError) as caught:
        tflite_to_onnx(content, "net.tflite")
    assert caught.value.code in ("MATCH-F021", "MATCH-F022", "MATCH-F023")


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(st.integers(8, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_wrong_bytes(changes: list[tuple[int, int]]) -> None:
    content = bytearray(WHOLE)
    for place, value in changes:
        content[place] = value
    ends_well(bytes(content))


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(2, len(WHOLE) // 4 - 1), st.sampled_from((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 65536)))
def test_wrong_words(place: int, value: int) -> None:
    """Offsets, counts and vtables of flatbuffers are words."""
    ends_well(WHOLE[: 4 * place] + struct.pack("<I", value) + WHOLE[4 * place + 4 :])


def test_the_root_leads_out_of_the_file() -> None:
    with pytest.raises(ModelError, match="damaged"):
        tflite_to_onnx(struct.pack("<I", 2**31) + WHOLE[4:], "net.tflite")


def test_tables_that_are_named_again_and_again_take_no_time() -> None:
    """One tensor with a long name, which every entry of a long vector means: squared, were it believed."""
    b = TfliteBuilder()
    b.tensor("x" * 100_000, (1,))
    content = bytearray(b.content([0], [0]))
    model = tflite.Model.GetRootAs(bytes(content), 0)
    tensor = model.Subgraphs(0).Tensors(0)._tab.Pos
    subgraph = model.Subgraphs(0)._tab
    field = subgraph.Pos + subgraph.Offset(4)
    start = len(content) + -len(content) % 4
    content += bytes(start - len(content)) + struct.pack("<I", 100_000)
    # Offsets of flatbuffers lead forwards, and wrap around at 32 bits in no reader but a careless one.
    count = 100_000
    content += b"".join(struct.pack("<I", (tensor - (start + 4 + 4 * i)) % 2**32) for i in range(count))
    struct.pack_into("<I", content, field, start - field)
    began = time.monotonic()
    with pytest.raises(ModelError) as caught:
        tflite_to_onnx(bytes(content), "net.tflite")
    assert caught.value.code == "MATCH-F021"
    assert time.monotonic() - began < 5


def two_results(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4)), b.tensor("y", (1, 4))
    b.operator("RELU", [x], [y])
    b.operator("ABS", [x], [y])
    return [x], [y]


def read_before(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y, z = (b.tensor(name, (1, 4)) for name in "xyz")
    b.operator("RELU", [y], [z])
    b.operator("ABS", [x], [y])
    return [x], [z]


def no_such_tensor(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4)), b.tensor("y", (1, 4))
    b.operator("RELU", [9], [y])
    return [x], [y]


def no_input(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4)), b.tensor("y", (1, 4))
    b.operator("ADD", [x], [y], ("AddOptions", {}))
    return [x], [y]


def too_few_values(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x = b.tensor("x", (1, 1 << 20), data=b"1234")
    return [], [x]


def other_options(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4)), b.tensor("y", (1, 4))
    b.operator("SOFTMAX", [x], [y], ("AddOptions", {}))
    return [x], [y]


def no_options(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4, 4, 1)), b.tensor("y", (1, 2, 2, 1))
    b.operator("MAX_POOL_2D", [x], [y])
    return [x], [y]


def wrong_reshape(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4)), b.tensor("y", (1, 5))
    b.operator("RESHAPE", [x], [y])
    return [x], [y]


def no_stride(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4, 4, 1)), b.tensor("y", (1, 2, 2, 1))
    b.operator("MAX_POOL_2D", [x], [y], ("Pool2DOptions", {"FilterHeight": 1, "FilterWidth": 1}))
    return [x], [y]


def wrong_scale(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4), "int8", scale=-1.0), b.tensor("y", (1, 4))
    b.operator("DEQUANTIZE", [x], [y])
    return [x], [y]


def three_scales(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4), "int8", scale=[1.0, 2.0, 3.0], zero=[0, 0, 0], axis=1), b.tensor("y", (1, 4))
    b.operator("DEQUANTIZE", [x], [y])
    return [x], [y]


def no_image(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y, w = b.tensor("x", (4, 4)), b.tensor("y", (4, 4)), b.constant("w", np.ones((1, 1, 1, 1), np.float32))
    b.operator("CONV_2D", [x, w], [y], ("Conv2DOptions", {"StrideH": 1, "StrideW": 1}))
    return [x], [y]


def flat_image(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 4, 4, 1)), b.tensor("y", (1, 4))
    b.operator("MAX_POOL_2D", [x], [y], ("Pool2DOptions", {**POOL, "Padding": VALID}))
    return [x], [y]


def wrong_fold(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y, z = b.tensor("x", (1, 4)), b.tensor("y", (3, 4)), b.tensor("z", (1, 3))
    b.operator("DEQUANTIZE", [b.constant("w", np.ones((2, 4), np.float16))], [y])
    b.operator("FULLY_CONNECTED", [x, y], [z], ("FullyConnectedOptions", {}))
    return [x], [z]


def result_out_of_reach(b: TfliteBuilder) -> tuple[list[int], list[int]]:
    x, y = b.tensor("x", (1, 2, 2, 1)), b.tensor("y", (1, 9, 9, 1))
    shape, w = b.constant("shape", np.array([1, 9, 9, 1], np.int32)), b.constant("w", np.ones((1, 2, 2, 1), np.float32))
    b.operator("TRANSPOSE_CONV", [shape, w, x], [y], ("TransposeConvOptions", {"StrideH": 2, "StrideW": 2}))
    return [x], [y]


Make = Callable[[TfliteBuilder], tuple[list[int], list[int]]]


@pytest.mark.parametrize(
    "make",
    [
        two_results,
        read_before,
        no_such_tensor,
        no_input,
        too_few_values,
        other_options,
        no_options,
        wrong_reshape,
        no_stride,
        wrong_scale,
        three_scales,
        no_image,
        flat_image,
        wrong_fold,
        result_out_of_reach,
    ],
)
def test_contradictions(make: Make) -> None:
    builder = TfliteBuilder()
    ends = make(builder)
    with pytest.raises(ModelError) as caught:
        tflite_to_onnx(builder.content(*ends), "net.tflite")
    assert caught.value.code == "MATCH-F021"


def test_a_shape_that_the_operator_does_not_make() -> None:
    b = TfliteBuilder()
    x, y, z = b.tensor("x", (1, 4)), b.tensor("y", (1, 5)), b.tensor("z", (1, 5))
    b.operator("RELU", [x], [y])
    b.operator("ABS", [y], [z])
    with pytest.raises(ModelError) as caught:
        model_from_proto(tflite_to_onnx(b.content([x], [z]), "net.tflite"), "net", "net.tflite")
    assert caught.value.code == "MATCH-F006"


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (one_operator("LSTM"), "MATCH-F022", "LSTM"),
        (one_operator("my_op"), "MATCH-F022", "CUSTOM my_op"),
        (one_operator("RELU", element=tflite.TensorType.STRING), "MATCH-F023", "STRING"),
        (one_operator("RELU", shape=(1, -1)), "MATCH-F023", "-1"),
    ],
    ids=["unknown", "custom", "text", "open_size"],
)
def test_what_is_not_supported(content: bytes, code: str, told: str) -> None:
    with pytest.raises(ModelError) as caught:
        tflite_to_onnx(content, "net.tflite")
    assert caught.value.code == code
    assert told in str(caught.value)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "tflite":
            raise ImportError("no such package")
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModelError, match="cannot be read") as caught:
        tflite_to_onnx(WHOLE, "net.tflite")
    assert caught.value.code == "MATCH-F020"
    assert "match-tflite" in caught.value.help[0]
