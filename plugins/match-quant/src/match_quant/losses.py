"""What quantisation changes: the outputs of a quantised network against those of the float network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_verify.noise import noise_of
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

from match_quant.static import Row

if TYPE_CHECKING:
    import onnx

Outputs = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Distance:
    """Differences of an output over all samples: largest and mean difference, the largest value of the float network,
    the share of samples whose largest element has the same position (None for a single element, and for more axes than
    batch and classes), and the ratio of signal to quantisation noise in dB."""

    name: str
    max_abs: float
    mean_abs: float
    largest: float
    top1_agreement: float | None
    sqnr_db: float

    def as_json(self) -> dict[str, object]:
        """The entry of ``match quantize --json``."""
        return {
            "name": self.name,
            "max_abs": self.max_abs,
            "mean_abs": self.mean_abs,
            "largest": self.largest,
            "top1_agreement": self.top1_agreement,
            "sqnr_db": self.sqnr_db,
        }


def outputs_of(proto: onnx.ModelProto, rows: Sequence[Row]) -> dict[str, NDArray[np.float64]]:
    """Outputs of all samples, stacked. ToolError MATCH-R002 if ONNX Runtime refuses the network."""
    runner = ReferenceRunner(proto)
    runs = [runner.run(row) for row in rows]
    return {name: np.stack([run[name] for run in runs]).astype(np.float64) for name in runs[0]}


def scores_of(proto: onnx.ModelProto, rows: Sequence[Row]) -> dict[str, NDArray[np.float64]]:
    """As ``outputs_of``, but of an output of Softmax, what Softmax reads: its results of clear samples are 0 and 1
    whatever is lost before."""
    tensors = score_tensors(proto)
    runner = ReferenceRunner(proto, list(tensors.values()))
    runs = [runner.run(row) for row in rows]
    return {name: np.stack([run[at] for run in runs]).astype(np.float64) for name, at in tensors.items()}


def score_tensors(proto: onnx.ModelProto) -> dict[str, str]:
    """The tensors of ``scores_of`` by output."""
    return {output.name: _scores(proto.graph, output.name) for output in proto.graph.output}


def _scores(graph: onnx.GraphProto, output: str) -> str:
    makers = {name: node for node in graph.node for name in node.output}
    node = makers.get(output)
    while node is not None and node.op_type in ("QuantizeLinear", "DequantizeLinear"):
        node = makers.get(node.input[0])
    return node.input[0] if node is not None and node.op_type in ("Softmax", "LogSoftmax") else output


def distance(name: str, before: NDArray[np.float64], after: NDArray[np.float64]) -> Distance:
    """Of one output, samples first."""
    difference = np.abs(before - after)
    rows = len(before) * (before.shape[1] if before.ndim == 3 else 1)  # [samples, batch, classes]
    flat, changed = before.reshape(rows, -1), after.reshape(rows, -1)
    scores = before.ndim <= 3 and flat.shape[1] > 1
    agreement = float((flat.argmax(1) == changed.argmax(1)).mean()) if scores else None
    return Distance(
        name,
        float(difference.max(initial=0)),
        float(difference.mean()) if difference.size else 0.0,
        float(np.abs(before).max(initial=0)),
        agreement,
        noise_of(before, after).sqnr_db,
    )


def worst_db(before: Outputs, after: Outputs) -> float:
    """The ratio of signal to quantisation noise of the output that has the lowest one, in dB."""
    return min((noise_of(before[name], after[name]).sqnr_db for name in before), default=float("inf"))
