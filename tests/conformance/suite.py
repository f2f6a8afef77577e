"""The cases of ``onnx.backend.test`` and which of them are static: every input and output a dense tensor of numbers
whose sizes the model states."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[np.generic]
#: Kinds whose models and data are files of the onnx package.
STORED_KINDS = ("simple", "pytorch-converted", "pytorch-operator")


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs and expected outputs, in the order of the model's own."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


@dataclass(frozen=True)
class Case:
    """One test of the suite. ``left_out``: why it is not static; empty where it is."""

    name: str
    kind: str
    model: onnx.ModelProto
    samples: tuple[Sample, ...]
    rtol: float
    atol: float
    left_out: str = ""

    @property
    def operator(self) -> str:
        """The operator that a node test is about: the last one of its model (some begin with Constant nodes)."""
        node = self.model.graph.node[-1]
        return f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def node_cases() -> tuple[Case, ...]:
    """All node tests, in the suite's order."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # expected values that overflow or divide by zero on purpose
        found = collect_testcases(None)
    return tuple(_node_case(test) for test in found)


def stored_cases() -> tuple[Case, ...]:
    """The tests of the kinds ``simple`` and ``pytorch-*``, whose models are files."""
    from onnx.backend.test.loader import load_model_tests

    return tuple(_stored_case(test) for kind in STORED_KINDS for test in load_model_tests(kind=kind))


def _node_case(test: object) -> Case:
    model: onnx.ModelProto = test.model  # type: ignore[attr-defined]
    reason = _left_out(model)
    samples = () if reason else tuple(_sample(*data) for data in test.data_sets)  # type: ignore[attr-defined]
    return Case(test.name, "node", model, samples, test.rtol, test.atol, reason)  # type: ignore[attr-defined]


def _sample(inputs: Sequence[object], outputs: Sequence[object]) -> Sample:
    return Sample(tuple(_array(value) for value in inputs), tuple(_array(value) for value in outputs))


def _array(value: object) -> Array:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _stored_case(test: object) -> Case:
    folder = Path(test.model_dir)  # type: ignore[attr-defined]
    model = onnx.load(folder / "model.onnx")
    reason = _left_out(model)
    samples = () if reason else tuple(_stored_sample(data) for data in sorted(folder.glob("test_data_set_*")))
    return Case(test.name, test.kind, model, samples, test.rtol, test.atol, reason)  # type: ignore[attr-defined]


def _stored_sample(folder: Path) -> Sample:
    def read(kind: str) -> tuple[Array, ...]:
        count = len(list(folder.glob(f"{kind}_*.pb")))
        return tuple(numpy_helper.to_array(onnx.load_tensor(folder / f"{kind}_{i}.pb")) for i in range(count))

    return Sample(read("input"), read("output"))


def fed_inputs(model: onnx.ModelProto) -> tuple[onnx.ValueInfoProto, ...]:
    """The graph inputs that have no initialiser: those that a caller gives."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return tuple(value for value in model.graph.input if value.name not in constants)


def _left_out(model: onnx.ModelProto) -> str:
    values = (*((v, "input") for v in fed_inputs(model)), *((v, "output") for v in model.graph.output))
    return next((reason for value, kind in values for reason in _reasons(value, kind)), "")


def _reasons(value: onnx.ValueInfoProto, kind: str) -> Iterator[str]:
    which = value.type.WhichOneof("value")
    if which != "tensor_type":
        yield f"an {kind} is {_words(which)}"
        return
    tensor = value.type.tensor_type
    if tensor.elem_type == onnx.TensorProto.STRING:
        yield f"an {kind} holds strings"
    elif not tensor.HasField("shape") or not all(dim.HasField("dim_value") for dim in tensor.shape.dim):
        yield f"an {kind} has no fixed shape"


def _words(which: str | None) -> str:
    names = {"sequence_type": "a sequence", "optional_type": "an optional", "map_type": "a map"}
    return names.get(which or "", "no dense tensor")
