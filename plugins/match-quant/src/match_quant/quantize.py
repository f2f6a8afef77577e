"""Static 8-bit quantisation of a float network by ONNX Runtime's quantiser, with the user's samples."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from match_core.contract.errors import ToolError
from match_core.io.arrays import TensorSpec, read_samples
from match_core.io.files import whole_file
from match_core.load.dims import fix_sizes
from match_core.load.read import read_proto

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx
    from match_core.contract.front_end import FrontEnd
    from numpy.typing import NDArray

Method = Literal["minmax", "entropy", "percentile"]
#: The oldest opset that supports one scale per channel of the weights.
_PER_CHANNEL_OPSET = 13


@dataclass(frozen=True, slots=True)
class QuantizeRequest:
    """``data``: an ``.npz`` file with samples for every input. ``activations``: their element type. ``per_channel``:
    weights have one scale per output channel. ``method``: how samples determine the range of a tensor. ``dims``: (name,
    size) of dynamic sizes; the quantised network has these sizes."""

    model: Path
    data: Path
    output: Path
    activations: Literal["int8", "uint8"] = "int8"
    per_channel: bool = True
    method: Method = "minmax"
    dims: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Distance:
    """Differences of an output over all samples: largest and mean difference, the largest value of the float network,
    and the share of samples whose largest element has the same position (None for one element)."""

    name: str
    max_abs: float
    mean_abs: float
    largest: float
    top1_agreement: float | None


@dataclass(frozen=True, slots=True)
class Quantized:
    """The result: the number of samples, and the differences between the outputs of the quantised and the float network
    on them."""

    samples: int
    distances: tuple[Distance, ...]


def quantize_model(request: QuantizeRequest, front_ends: Sequence[FrontEnd] = ()) -> Quantized:
    """Write the quantised network (QuantizeLinear and DequantizeLinear around its operators). ModelError and UsageError
    as for reading models and samples, ToolError MATCH-R004 if the quantiser fails; nothing is written then."""
    proto, _ = read_proto(request.model, front_ends)
    fix_sizes(proto, request.dims, request.model.name)
    samples = read_samples(request.data, _specs(proto, request.model.name))
    arrays = samples.arrays
    rows = [{name: np.asarray(array[index]) for name, array in arrays.items()} for index in range(samples.count)]
    quantised = _quantised(proto, rows, request)
    before, after = _outputs(proto, rows), _outputs(quantised, rows)
    with whole_file(request.output, "the model") as file:
        file.write(quantised.SerializeToString(deterministic=True))  # equal models give equal bytes
    distances = tuple(_distance(name, before[name], after[name]) for name in before)
    return Quantized(samples.count, distances)


def _specs(proto: onnx.ModelProto, source: str) -> list[TensorSpec]:
    """The inputs with static shapes. ModelError MATCH-F013 if one is not static."""
    from match_core.load.load import model_from_proto

    copied = type(proto)()
    copied.CopyFrom(proto)
    model = model_from_proto(copied, "net", source)
    return [
        TensorSpec(str(t.name), tuple(int(size) for size in t.shape), np.dtype(t.dtype).name)
        for t in model.graph.inputs
    ]


def _quantised(
    proto: onnx.ModelProto, rows: list[dict[str, NDArray[np.generic]]], request: QuantizeRequest
) -> onnx.ModelProto:
    import onnx
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    methods = {
        "minmax": CalibrationMethod.MinMax,
        "entropy": CalibrationMethod.Entropy,
        "percentile": CalibrationMethod.Percentile,
    }
    types = {"int8": QuantType.QInt8, "uint8": QuantType.QUInt8}
    with tempfile.TemporaryDirectory(prefix="match-quantize-") as folder, _without_log():
        source, prepared, result = (Path(folder, f"{name}.onnx") for name in ("source", "prepared", "quantised"))
        onnx.save(_modern(proto), str(source))
        try:
            quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
            quantize_static(
                str(prepared),
                str(result),
                _Reader(rows),
                quant_format=QuantFormat.QDQ,
                per_channel=request.per_channel,
                activation_type=types[request.activations],
                weight_type=QuantType.QInt8,
                calibrate_method=methods[request.method],
            )
            return onnx.load(str(result))
        except Exception as error:  # the quantiser raises its own exceptions and those of ONNX Runtime
            raise _refused(request.model.name, error) from error


@contextmanager
def _without_log() -> Iterator[None]:
    """Suppress the quantiser's warnings about temporary files; its errors are raised as errors."""
    root, quiet = logging.getLogger(), logging.NullHandler()
    root.addHandler(quiet)
    try:
        yield
    finally:
        root.removeHandler(quiet)


class _Reader:
    """Returns the samples one at a time, through the quantiser's interface."""

    def __init__(self, rows: list[dict[str, NDArray[np.generic]]]) -> None:
        self._rows = iter(rows)

    def get_next(self) -> dict[str, NDArray[np.generic]] | None:
        """The next sample, None after the last one."""
        return next(self._rows, None)


def _modern(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model in an opset that supports one scale per channel."""
    from onnx import version_converter

    version = max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    if version >= _PER_CHANNEL_OPSET:
        return proto
    converted: onnx.ModelProto = version_converter.convert_version(proto, _PER_CHANNEL_OPSET)
    return converted


def _outputs(proto: onnx.ModelProto, rows: list[dict[str, NDArray[np.generic]]]) -> dict[str, NDArray[np.float64]]:
    """Outputs of all samples, stacked."""
    from match_verify.reference import ReferenceRunner

    runner = ReferenceRunner(proto)
    runs: list[Mapping[str, Any]] = [runner.run(row) for row in rows]
    return {name: np.stack([run[name] for run in runs]).astype(np.float64) for name in runs[0]}


def _distance(name: str, before: NDArray[np.float64], after: NDArray[np.float64]) -> Distance:
    difference = np.abs(before - after)
    flat, changed = before.reshape(len(before), -1), after.reshape(len(after), -1)
    agreement = float((flat.argmax(1) == changed.argmax(1)).mean()) if flat.shape[1] > 1 else None
    return Distance(name, float(difference.max()), float(difference.mean()), float(np.abs(before).max()), agreement)


def _refused(where: str, error: Exception) -> ToolError:
    text = str(error).strip().splitlines()
    return ToolError(
        code="MATCH-R004",
        what="the network cannot be quantised",
        where=where,
        why=f"{type(error).__name__}: {text[0]}" if text else type(error).__name__,
        help=("check that the model is a float network that ONNX Runtime can run", "quantise it with another tool"),
    )
