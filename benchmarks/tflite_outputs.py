"""How far programs made from TFLite files are from TFLite: ``python -m benchmarks.tflite_outputs [TARGET ...]``.

The files and what TFLite's reference kernels give for stored inputs are in ../shared/models. Prints the table of
docs/tflite.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from match_core.load.read import source_proto
from match_core.plugin.facade import Plugins
from match_tflite.plugin import match_load
from match_verify.verify import VerifyRequest, verify_model
from numpy.typing import NDArray

from tests.conftest import SHARED_MODELS

#: Folder -> whether the place of the largest output is the answer.
NETWORKS = {
    "mlperf_autoencoder_int8_qdq": False,
    "mlperf_dscnn_int8_qdq": True,
    "mlperf_mobilenetv1_025_int8_qdq": True,
    "mlperf_resnet8_int8_qdq": True,
    "mlperf_streaming_wakeword_int8_qdq": True,
    "mlperf_dscnn_f32": True,
}
TARGETS = ("host", "gap9")
HEADER = (
    "| network | target | samples | top-1 as TFLite | values that differ | worst | mean |",
    "|---|---|--:|--:|--:|--:|--:|",
)


@dataclass(frozen=True, slots=True)
class Distance:
    """Outputs of a program against TFLite's. ``worst`` and ``mean``: in steps of integer outputs, absolute for float
    ones. ``top1``: how many samples have their largest value at the same place, None where that means nothing."""

    network: str
    target: str
    samples: int
    top1: int | None
    different: int
    values: int
    worst: float
    mean: float
    floating: bool

    def row(self) -> str:
        """A row of the table."""
        top1 = "-" if self.top1 is None else f"{self.top1} of {self.samples}"
        differ = "-" if self.floating else f"{self.different} of {self.values}"
        worst = f"{self.worst:.1e}" if self.floating else f"{self.worst:g}"
        mean = f"{self.mean:.1e}" if self.floating else f"{self.mean:.3f}"
        return f"| {self.network} | {self.target} | {self.samples} | {top1} | {differ} | {worst} | {mean} |"


def stored(folder: Path) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Inputs by the name that the TFLite file gives them, in its layout, and TFLite's outputs. The stored inputs are
    those of an ONNX file that takes images as NCHW."""
    (value,) = source_proto(folder / "model.tflite", match_load()).graph.input
    shape = [int(dimension.dim_value) for dimension in value.type.tensor_type.shape.dim]
    with np.load(folder / "inputs.npz") as inputs, np.load(folder / "outputs.npz") as outputs:
        (array,) = (inputs[name] for name in inputs.files)
        (expected,) = (outputs[name] for name in outputs.files if name.startswith("tflite__"))
    array = array.transpose(0, 1, 3, 4, 2) if array.ndim == 5 else array
    assert list(array.shape[1:]) == shape
    return {value.name: np.ascontiguousarray(array)}, expected


def distance(network: str, target: str, plugins: Plugins) -> Distance:
    """Compiles, runs on the twin, compares. The program itself must equal the integer graph."""
    folder = SHARED_MODELS / network
    arrays, expected = stored(folder)
    result = verify_model(VerifyRequest(folder / "model.tflite", target, arrays=arrays), plugins)
    if not result.ok:
        raise SystemExit(f"{network} on {target}: the program is not what was compiled")
    (got,) = result.run.outputs.values()
    difference = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    flat = len(got), -1
    same = int((got.reshape(flat).argmax(1) == expected.reshape(flat).argmax(1)).sum())
    return Distance(
        network=network,
        target=target,
        samples=len(got),
        top1=same if NETWORKS[network] else None,
        different=int((difference > 0).sum()),
        values=difference.size,
        worst=float(difference.max()),
        mean=float(difference.mean()),
        floating=got.dtype.kind == "f",
    )


def main(targets: tuple[str, ...]) -> Iterator[str]:
    """The table line by line."""
    yield from HEADER
    plugins = Plugins.load()
    for network in NETWORKS:
        for target in targets:
            yield distance(network, target, plugins).row()


if __name__ == "__main__":
    for line in main(tuple(sys.argv[1:]) or TARGETS):
        print(line, flush=True)
