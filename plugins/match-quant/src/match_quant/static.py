"""A float network, its samples, and its 8-bit forms: ONNX Runtime's quantiser, one step at a time.

Each way to derive ranges runs the samples once; quantised forms with other types, or with layers that stay in float,
use the same ranges.
"""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from match_core.contract.errors import ToolError
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

Method = Literal["minmax", "entropy", "percentile"]
_T = TypeVar("_T")
Row = Mapping[str, NDArray[np.generic]]
#: The oldest opset that supports one scale per channel of the weights.
_PER_CHANNEL_OPSET = 13
#: Samples of which all tensors are in memory at once, while their histograms are made; an estimate.
_CHUNK = 16


@dataclass(frozen=True, slots=True)
class Scheme:
    """``method``: how samples determine the range of a tensor; ``percentile``: the share of values within it, for that
    method. ``per_channel``: weights have one scale per output channel. ``activations``: their element type."""

    method: Method = "minmax"
    per_channel: bool = True
    activations: Literal["int8", "uint8"] = "int8"
    percentile: float = 99.999

    @property
    def title(self) -> str:
        """The choice in a few words."""
        ranges = f"percentile {self.percentile:g}" if self.method == "percentile" else self.method
        return f"{ranges}, {'per channel' if self.per_channel else 'per tensor'}"


class Quantiser:
    """``rows``: samples that determine ranges. Without ``prepared``, the quantiser's own preparation (folding of
    constants and batch normalisation) is left out. ToolError MATCH-R004 if it fails."""

    def __init__(self, proto: onnx.ModelProto, rows: Sequence[Row], source: str, *, prepared: bool = True) -> None:
        self._rows, self._source = rows, source
        self._ranges: dict[tuple[Method, float], Any] = {}
        named = _named(_modern(proto))
        self.network = self._step(lambda folder: _prepared(named, folder)) if prepared else named

    def quantised(self, scheme: Scheme, in_float: Collection[str] = ()) -> onnx.ModelProto:
        """QuantizeLinear and DequantizeLinear around all operators but the nodes ``in_float``. ToolError MATCH-R004."""
        from onnxruntime.quantization import QDQQuantizer, QuantType

        measured = self._measured(scheme)

        def run(folder: Path) -> onnx.ModelProto:
            import onnx

            activations = QuantType.QInt8 if scheme.activations == "int8" else QuantType.QUInt8
            # Positional: the names of some of these parameters have changed between versions.
            arguments = (scheme.per_channel, False, QuantType.QInt8, activations, measured)
            quantizer = QDQQuantizer(
                _inferred(self.network, folder), *arguments, [], sorted(in_float), quantised_operators(), {}
            )
            quantizer.quantize_model()
            quantizer.model.save_model_to_file(str(folder / "quantised.onnx"), False)
            return onnx.load(str(folder / "quantised.onnx"))

        return self._step(run)

    def ranges(self, scheme: Scheme) -> dict[str, tuple[float, float]]:
        """(least, largest) value of each tensor that was measured, by name. ToolError MATCH-R004."""
        found = self._measured(scheme)
        pairs = ((name, found[name].range_value) for name in found.keys())  # noqa: SIM118 - not a dict
        return {name: (float(np.min(low)), float(np.max(high))) for name, (low, high) in pairs}

    def _measured(self, scheme: Scheme) -> Any:
        key = (scheme.method, scheme.percentile)
        if key not in self._ranges:
            self._ranges[key] = self._step(lambda folder: _ranges(self.network, self._rows, scheme, folder))
        return self._ranges[key]

    def _step(self, run: Callable[[Path], _T]) -> _T:
        with tempfile.TemporaryDirectory(prefix="match-quantize-") as folder, _without_log():
            try:
                return run(Path(folder))
            except Exception as error:  # the quantiser raises its own exceptions and those of ONNX Runtime
                raise _refused(self._source, error) from error


def quantised_operators() -> list[str]:
    """Operators that the quantiser knows."""
    from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

    return sorted({*QLinearOpsRegistry, *QDQRegistry})


def _prepared(proto: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process

    onnx.save(proto, str(folder / "source.onnx"))
    quant_pre_process(str(folder / "source.onnx"), str(folder / "prepared.onnx"), skip_symbolic_shape=True)
    return onnx.load(str(folder / "prepared.onnx"))


def _ranges(proto: onnx.ModelProto, rows: Sequence[Row], scheme: Scheme, folder: Path) -> Any:
    import onnx
    from onnxruntime.quantization import CalibrationMethod, create_calibrator

    methods = {
        "minmax": CalibrationMethod.MinMax,
        "entropy": CalibrationMethod.Entropy,
        "percentile": CalibrationMethod.Percentile,
    }
    onnx.save(proto, str(folder / "network.onnx"))
    calibrator = create_calibrator(
        folder / "network.onnx",
        quantised_operators(),
        augmented_model_path=str(folder / "augmented.onnx"),
        calibrate_method=methods[scheme.method],
        extra_options={"percentile": scheme.percentile} if scheme.method == "percentile" else {},
    )
    for start in range(0, len(rows), _CHUNK):
        calibrator.collect_data(_Reader(rows[start : start + _CHUNK]))
    return calibrator.compute_data()


def _inferred(proto: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """A copy with shapes of all tensors, as the quantiser reads it."""
    import onnx
    from onnxruntime.quantization.quant_utils import load_model_with_shape_infer

    onnx.save(proto, str(folder / "network.onnx"))
    found: onnx.ModelProto = load_model_with_shape_infer(folder / "network.onnx")
    return found


@contextmanager
def _without_log() -> Iterator[None]:
    """Suppress what the quantiser prints, and its warnings about temporary files; its errors are raised as errors."""
    root, quiet = logging.getLogger(), logging.NullHandler()
    root.addHandler(quiet)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        root.removeHandler(quiet)


class _Reader:
    """Returns the samples one at a time, through the quantiser's interface."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = iter(rows)

    def get_next(self) -> Row | None:
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


def _named(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy in which every node has a name of its own."""
    named = type(proto)()
    named.CopyFrom(proto)
    seen: set[str] = {node.name for node in named.graph.node}
    used: set[str] = set()
    for index, node in enumerate(named.graph.node):
        if not node.name or node.name in used:
            node.name = next(name for name in _names(node, index) if name not in seen)
        seen.add(node.name)
        used.add(node.name)
    return named


def _names(node: onnx.NodeProto, index: int) -> Iterator[str]:
    yield f"{node.op_type}_{index}"
    yield from (f"{node.op_type}_{index}_{more}" for more in range(index + 2))


def _refused(where: str, error: Exception) -> ToolError:
    text = str(error).strip().splitlines()
    return ToolError(
        code="MATCH-R004",
        what="the network cannot be quantised",
        where=where,
        why=f"{type(error).__name__}: {text[0][:300]}" if text else type(error).__name__,
        help=("check that the model is a float network that ONNX Runtime can run", "quantise it with another tool"),
    )
