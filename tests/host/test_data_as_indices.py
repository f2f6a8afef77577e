"""Numbers that programs read when they run never lead out of a tensor: indices, lengths, axes, labels, coordinates.

Every operator that addresses by data runs under sanitizers with the extremes of their type. Inputs and outputs lie in
blocks of exactly the size that the program asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.conformance.batch import Failed, run_batch
from tests.conformance.programs import Program, compile_file
from tests.conformance.suite import Array, Sample

LOW, HIGH = np.iinfo(np.int64).min, np.iinfo(np.int64).max
#: What integers that programs read may be; clipped to the range of their type.
WHOLE = (LOW, HIGH, -(1 << 31), (1 << 31) - 1, (1 << 31), (1 << 32) + 1, -5, -1, 0, 1, 3, 5)
REAL = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, -1.0, 0.0, 0.5, 1e10, -2147483648.5)


@dataclass(frozen=True)
class Case:
    """One operator: its inputs, of which those named in ``odd`` get extremes; ``outputs``: shapes and types."""

    inputs: Mapping[str, Array]
    odd: Sequence[str]
    outputs: Sequence[tuple[tuple[int, ...], int]]
    attributes: Mapping[str, object] = field(default_factory=dict)
    domain: str = ""
    opset: int = 24


def _f(*shape: int) -> Array:
    return (np.arange(np.prod(shape), dtype=np.float32) / 7 - 1).reshape(shape)


def _i(*shape: int, dtype: str = "int64") -> Array:
    return np.zeros(shape, dtype)


F, I64, I32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
X = _f(4, 6)
_ROI = {"x": _f(2, 3, 6, 6), "rois": _f(2, 4), "batch": _i(2)}
_LSTM = {"x": _f(4, 3, 2), "w": _f(1, 12, 2), "r": _f(1, 12, 3), "b": _f(1, 24), "lengths": _i(3, dtype="int32")}
_GRU = {"x": _f(4, 3, 2), "w": _f(1, 9, 2), "r": _f(1, 9, 3), "b": _f(1, 18), "lengths": _i(3, dtype="int32")}
_RNN = {"x": _f(4, 3, 2), "w": _f(1, 3, 2), "r": _f(1, 3, 3), "b": _f(1, 6), "lengths": _i(3, dtype="int32")}
_CACHE = {"q": _f(1, 2, 3, 4), "k": _f(1, 2, 5, 4), "v": _f(1, 2, 5, 4), "m": _f(3, 5)}

CASES: dict[str, tuple[str, Case]] = {
    "Gather": ("Gather", Case({"x": X, "i": _i(3)}, ["i"], [((3, 6), F)])),
    "Gather of 32 bits": ("Gather", Case({"x": X, "i": _i(3, dtype="int32")}, ["i"], [((4, 3), F)], {"axis": 1})),
    "GatherElements": ("GatherElements", Case({"x": X, "i": _i(3, 5)}, ["i"], [((3, 5), F)])),
    "GatherElements of 32 bits": (
        "GatherElements",
        Case({"x": X, "i": _i(4, 2, dtype="int32")}, ["i"], [((4, 2), F)], {"axis": -1}),
    ),
    "GatherND": ("GatherND", Case({"x": X, "i": _i(3, 2)}, ["i"], [((3,), F)])),
    "GatherND of rows": ("GatherND", Case({"x": X, "i": _i(3, 1)}, ["i"], [((3, 6), F)])),
    "GatherND in batches": (
        "GatherND",
        Case({"x": X, "i": _i(4, 1)}, ["i"], [((4,), F)], {"batch_dims": 1}),
    ),
    **{
        f"ScatterElements {reduction}": (
            "ScatterElements",
            Case({"x": X, "i": _i(3, 5), "u": _f(3, 5)}, ["i"], [((4, 6), F)], {"reduction": reduction, "axis": 1}),
        )
        for reduction in ("none", "add", "mul", "max", "min")
    },
    **{
        f"ScatterND {reduction}": (
            "ScatterND",
            Case({"x": X, "i": _i(3, 2), "u": _f(3)}, ["i"], [((4, 6), F)], {"reduction": reduction}),
        )
        for reduction in ("none", "add", "mul", "max", "min")
    },
    "ScatterND of rows": ("ScatterND", Case({"x": X, "i": _i(3, 1), "u": _f(3, 6)}, ["i"], [((4, 6), F)])),
    "TensorScatter": (
        "TensorScatter",
        Case({"x": _f(2, 5, 3), "u": _f(2, 2, 3), "i": _i(2)}, ["i"], [((2, 5, 3), F)], {"axis": 1}),
    ),
    "TensorScatter in circles": (
        "TensorScatter",
        Case(
            {"x": _f(2, 5, 3), "u": _f(2, 2, 3), "i": _i(2)}, ["i"], [((2, 5, 3), F)], {"axis": 1, "mode": "circular"}
        ),
    ),
    "OneHot": (
        "OneHot",
        Case({"i": _i(5), "d": np.array([4]), "v": _f(2)}, ["i"], [((5, 4), F)]),
    ),
    "OneHot of floats": (
        "OneHot",
        Case({"i": _f(5), "d": np.array([4]), "v": _f(2)}, ["i"], [((5, 4), F)]),
    ),
    "OneHot of any depth": ("OneHot", Case({"i": _i(5), "d": _i(1), "v": _f(2)}, ["i", "d"], [((5, 4), F)])),
    "TopK": ("TopK", Case({"x": X, "k": _i(1)}, ["k"], [((4, 3), F), ((4, 3), I64)])),
    "TopK of odd numbers": ("TopK", Case({"x": X, "k": np.array([3])}, ["x"], [((4, 3), F), ((4, 3), I64)])),
    "ArgMax of odd numbers": ("ArgMax", Case({"x": X}, ["x"], [((4, 1), I64)], {"axis": 1})),
    "Slice": (
        "Slice",
        Case({"x": X, "s": _i(2), "e": _i(2), "a": _i(2), "t": _i(2)}, ["s", "e", "a", "t"], [((3, 3), F)]),
    ),
    "Slice of 32 bits": (
        "Slice",
        Case({n: X if n == "x" else _i(1, dtype="int32") for n in "xseat"}, ["s", "e", "a", "t"], [((4, 3), F)]),
    ),
    **{
        f"Pad {mode}": (
            "Pad",
            Case({"x": X, "p": _i(4)}, ["p"], [((6, 7), F)], {"mode": mode}),
        )
        for mode in ("constant", "edge", "reflect", "wrap")
    },
    "Pad of axes": (
        "Pad",
        Case({"x": X, "p": _i(2), "v": np.float32(1), "a": _i(1)}, ["p", "a"], [((4, 8), F)]),
    ),
    "Tile": ("Tile", Case({"x": X, "r": _i(2)}, ["r"], [((8, 6), F)])),
    "Expand": ("Expand", Case({"x": _f(1, 6), "s": _i(2)}, ["s"], [((4, 6), F)])),
    "Reshape": ("Reshape", Case({"x": X, "s": _i(2)}, ["s"], [((6, 4), F)])),
    **{
        name: (name, Case({"x": X, "a": _i(1)}, ["a"], [((1, 6), F)]))
        for name in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd")
    },
    "CumSum": ("CumSum", Case({"x": X, "a": np.array(0)}, ["a"], [((4, 6), F)])),
    "CumSum of 32 bits": ("CumSum", Case({"x": X, "a": np.array(0, np.int32)}, ["a"], [((4, 6), F)])),
    "Trilu": ("Trilu", Case({"x": X, "k": np.array(0)}, ["k"], [((4, 6), F)])),
    "Trilu lower": ("Trilu", Case({"x": X, "k": np.array(0)}, ["k"], [((4, 6), F)], {"upper": 0})),
    "ReverseSequence": ("ReverseSequence", Case({"x": X, "l": _i(6)}, ["l"], [((4, 6), F)])),
    "ReverseSequence by batch": (
        "ReverseSequence",
        Case({"x": X, "l": _i(4)}, ["l"], [((4, 6), F)], {"batch_axis": 0, "time_axis": 1}),
    ),
    "LSTM": ("LSTM", Case(_LSTM, ["lengths"], [((4, 1, 3, 3), F)], {"hidden_size": 3})),
    "LSTM backwards": (
        "LSTM",
        Case(_LSTM, ["lengths"], [((4, 1, 3, 3), F)], {"hidden_size": 3, "direction": "reverse"}),
    ),
    "GRU": ("GRU", Case(_GRU, ["lengths"], [((4, 1, 3, 3), F)], {"hidden_size": 3, "direction": "reverse"})),
    "RNN": ("RNN", Case(_RNN, ["lengths"], [((4, 1, 3, 3), F)], {"hidden_size": 3, "direction": "reverse"})),
    "RoiAlign": (
        "RoiAlign",
        Case(
            _ROI, ["batch", "rois"], [((2, 3, 2, 2), F)], {"output_height": 2, "output_width": 2, "sampling_ratio": 2}
        ),
    ),
    "RoiAlign maximum": (
        "RoiAlign",
        Case(
            _ROI,
            ["batch", "rois"],
            [((2, 3, 2, 2), F)],
            {"output_height": 2, "output_width": 2, "mode": "max", "sampling_ratio": 0},
        ),
    ),
    "MaxRoiPool": (
        "MaxRoiPool",
        Case({"x": _f(2, 3, 6, 6), "rois": _f(2, 5)}, ["rois"], [((2, 3, 2, 2), F)], {"pooled_shape": [2, 2]}),
    ),
    **{
        f"GridSample {mode} {padding}": (
            "GridSample",
            Case(
                {"x": _f(1, 2, 4, 4), "g": _f(1, 3, 3, 2)},
                ["g"],
                [((1, 2, 3, 3), F)],
                {"mode": mode, "padding_mode": padding},
            ),
        )
        for mode in ("linear", "nearest", "cubic")
        for padding in ("zeros", "border", "reflection")
    },
    "AffineGrid": (
        "AffineGrid",
        Case({"t": _f(1, 2, 3), "s": _i(4)}, ["t", "s"], [((1, 3, 3, 2), F)]),
    ),
    **{
        f"Resize {mode} {where}": (
            "Resize",
            Case(
                {"x": _f(1, 1, 4, 4), "r": _f(8), "s": np.ones(4, np.float32)},
                ["r", "s"],
                [((1, 1, 5, 5), F)],
                {"mode": mode, "coordinate_transformation_mode": where},
            ),
        )
        for mode in ("nearest", "linear", "cubic")
        for where in ("half_pixel", "tf_crop_and_resize", "align_corners")
    },
    "MaxUnpool": (
        "MaxUnpool",
        Case(
            {"x": _f(1, 1, 2, 2), "i": _i(1, 1, 2, 2)},
            ["i"],
            [((1, 1, 4, 4), F)],
            {"kernel_shape": [2, 2], "strides": [2, 2]},
        ),
    ),
    "Col2Im": (
        "Col2Im",
        Case({"x": _f(1, 4, 4), "s": _i(2), "b": _i(2)}, ["s", "b"], [((1, 1, 3, 3), F)]),
    ),
    "CenterCropPad": ("CenterCropPad", Case({"x": X, "s": _i(2)}, ["s"], [((3, 8), F)])),
    "NegativeLogLikelihoodLoss": (
        "NegativeLogLikelihoodLoss",
        Case({"x": X, "t": _i(4), "w": _f(6)}, ["t"], [((4,), F)], {"reduction": "none"}),
    ),
    "SoftmaxCrossEntropyLoss": (
        "SoftmaxCrossEntropyLoss",
        Case({"x": X, "t": _i(4), "w": _f(6)}, ["t"], [((), F)], {"reduction": "mean"}),
    ),
    "NonMaxSuppression": (
        "NonMaxSuppression",
        Case({"b": _f(1, 5, 4), "s": _f(1, 2, 5), "m": np.array([3])}, ["b", "s"], [((6, 3), I64)]),
    ),
    "Compress": ("Compress", Case({"x": X, "c": np.ones(4, bool)}, [], [((4, 6), F)], {"axis": 0})),
    "DFT": ("DFT", Case({"x": _f(1, 4, 6, 1), "": X, "a": np.array(1)}, ["a"], [((1, 4, 4, 2), F)], {"onesided": 1})),
    "STFT": (
        "STFT",
        Case({"x": _f(1, 16, 1), "s": np.array(4), "w": _f(8)}, ["s"], [((1, 3, 5, 2), F)]),
    ),
    "RotaryEmbedding": (
        "RotaryEmbedding",
        Case({"x": _f(1, 2, 3, 4), "c": _f(5, 2), "s": _f(5, 2), "p": _i(1, 3)}, ["p"], [((1, 2, 3, 4), F)]),
    ),
    "Attention": (
        "Attention",
        Case({**_CACHE, "": X, "-": X, "n": _i(1)}, ["n"], [((1, 2, 3, 4), F)]),
    ),
    "TfIdfVectorizer": (
        "TfIdfVectorizer",
        Case(
            {"x": _i(7)},
            ["x"],
            [((3,), F)],
            {
                "mode": "TF",
                "min_gram_length": 1,
                "max_gram_length": 2,
                "max_skip_count": 1,
                "ngram_counts": [0, 1],
                "ngram_indexes": [0, 1, 2],
                "pool_int64s": [2, 5, 6],
            },
        ),
    ),
    "BitShift": (
        "BitShift",
        Case(
            {"x": _i(6, dtype="uint32"), "n": _i(6, dtype="uint32")},
            ["n"],
            [((6,), TensorProto.UINT32)],
            {"direction": "LEFT"},
        ),
    ),
    "Div": ("Div", Case({"x": _i(6), "n": _i(6)}, ["x", "n"], [((6,), I64)])),
    "Mod": ("Mod", Case({"x": _i(6), "n": _i(6)}, ["x", "n"], [((6,), I64)])),
    "Mod as C": ("Mod", Case({"x": _i(6), "n": _i(6)}, ["x", "n"], [((6,), I64)], {"fmod": 1})),
    "Pow": ("Pow", Case({"x": _i(6), "n": _i(6)}, ["x", "n"], [((6,), I64)])),
    "Abs": ("Abs", Case({"x": _i(6)}, ["x"], [((6,), I64)])),
    "Neg": ("Neg", Case({"x": _i(6, dtype="int32")}, ["x"], [((6,), I32)])),
    **{
        f"Cast to {helper.tensor_dtype_to_np_dtype(kind).name}": (
            "Cast",
            Case({"x": _f(11)}, ["x"], [((11,), kind)], {"to": kind}),
        )
        for kind in (I64, I32, TensorProto.INT8, TensorProto.UINT8, TensorProto.UINT64, TensorProto.BOOL)
    },
    "QuantizeLinear": (
        "QuantizeLinear",
        Case({"x": _f(11), "s": np.float32(0.1), "z": np.uint8(3)}, ["x"], [((11,), TensorProto.UINT8)]),
    ),
    "DynamicQuantizeLinear": (
        "DynamicQuantizeLinear",
        Case({"x": _f(11)}, ["x"], [((11,), TensorProto.UINT8), ((), F), ((), TensorProto.UINT8)]),
    ),
    "ArrayFeatureExtractor": (
        "ArrayFeatureExtractor",
        Case({"x": X, "i": _i(3)}, ["i"], [((4, 3), F)], domain="ai.onnx.ml"),
    ),
    "LabelEncoder": (
        "LabelEncoder",
        Case({"x": _i(6)}, ["x"], [((6,), F)], {"keys_int64s": [0, 1], "values_floats": [0.5, 1.5]}, "ai.onnx.ml"),
    ),
}

#: Operators whose results have no fixed size unless the inputs "d", "m" and "k" are constants.
_WITH_CONSTANTS = ("OneHot", "NonMaxSuppression", "TopK")


def _model(operator: str, case: Case) -> onnx.ModelProto:
    given = {name: array for name, array in case.inputs.items() if name not in ("", "-")}
    constant = [n for n in given if n in "dmk" and n not in case.odd and operator in _WITH_CONSTANTS]
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in given.items()
        if n not in constant
    ]
    outputs = [helper.make_tensor_value_info(f"y{n}", kind, shape) for n, (shape, kind) in enumerate(case.outputs)]
    names = [name if name in given else "" for name in case.inputs]
    node = helper.make_node(
        operator, names, [value.name for value in outputs], "node", domain=case.domain, **case.attributes
    )
    constants = [onnx.numpy_helper.from_array(np.asarray(given[name]), name) for name in constant]
    graph = helper.make_graph([node], "one", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", case.opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _samples(case: Case, program: Program) -> list[Sample]:
    """Every extreme in every place, and mixtures of them."""
    draw = np.random.default_rng(5)
    made = []
    for extreme in (*range(max(len(WHOLE), len(REAL))), *([None] * 12)):
        values = []
        for tensor in program.inputs:
            array = np.asarray(case.inputs[tensor.name])
            if tensor.name in case.odd:
                array = _odd(array, extreme, draw)
            values.append(array)
        made.append(Sample(tuple(values), ()))
    return made


def _odd(array: Array, extreme: int | None, draw: np.random.Generator) -> Array:
    if array.dtype.kind == "f":
        choices = np.array(REAL, array.dtype)
    else:
        info = np.iinfo(array.dtype)
        choices = np.array([min(max(value, int(info.min)), int(info.max)) for value in WHOLE], array.dtype)
    if extreme is None:
        return draw.choice(choices, array.shape).astype(array.dtype)
    return np.full(array.shape, choices[extreme % len(choices)], array.dtype)


#: One case of each kernel that had let numbers through; the others run in `make test-slow`.
BRIEF = (
    "GatherElements",
    "ScatterND add",
    "TensorScatter",
    "GRU",
    "RoiAlign maximum",
    "STFT",
    "GridSample cubic zeros",
)


def _stopped(names: Iterable[str], folder: Path) -> dict[str, str]:
    """By case, what stopped a sample or refused the model; without those that ran."""
    (folder / "objects").mkdir()
    found, programs = {}, {}
    for number, name in enumerate(names):
        operator, case = CASES[name]
        onnx.save(_model(operator, case), folder / f"odd{number}.onnx")
        made = compile_file(folder / f"odd{number}.onnx", f"odd{number}")
        if isinstance(made, Program):
            programs[name] = (made, _samples(case, made))
        else:
            found[name] = f"{made.code}: {made.reason}"
    ran = run_batch(list(programs.values()), folder, folder / "objects")
    stopped = {name: result.reason for name, result in zip(programs, ran, strict=True) if isinstance(result, Failed)}
    return {**found, **stopped}


def test_data_stay_in_their_tensors(tmp_path: Path) -> None:
    assert _stopped(BRIEF, tmp_path) == {}


@pytest.mark.slow
def test_data_stay_in_their_tensors_for_every_operator(tmp_path: Path) -> None:
    assert _stopped(CASES, tmp_path) == {}
