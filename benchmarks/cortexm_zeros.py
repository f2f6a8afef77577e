"""Shares of zeros that float32 networks are expected to read, beside those of samples (match_cortexm/zeros.py).

``python -m benchmarks.cortexm_zeros`` prints, for the trained networks of ../shared/models, the shares of what Relu
makes: in all stored samples, with ONNX Runtime, and expected.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import onnxruntime
from match_cortexm.zeros import Zeros
from numpy.typing import NDArray
from onnx import helper

from benchmarks.runs import MODELS
from benchmarks.tables import Column, Table

#: Networks with several Relus whose weights were trained.
TRAINED = ("mlperf_resnet8_f32", "mlperf_dscnn_f32", "mlperf_mobilenetv1_025_f32", "mlperf_autoencoder_f32")


def shares(model: onnx.ModelProto, ops: Sequence[str], samples: Sequence[NDArray[Any]]) -> list[tuple[float, float]]:
    """The mean share in samples of the only input and the expected one, of what these operators make."""
    names = [name for node in model.graph.node if node.op_type in ops for name in node.output]
    tensors, zeros = gs.import_onnx(model).tensors(), Zeros()
    seen = onnx.ModelProto()
    seen.CopyFrom(model)
    del seen.graph.output[:]
    seen.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    session = onnxruntime.InferenceSession(seen.SerializeToString())
    source = session.get_inputs()[0].name
    runs = [session.run(names, {source: values}) for values in samples]
    sampled = [float(np.mean([np.mean(run[place] == 0) for run in runs])) for place in range(len(names))]
    return [(share, zeros.expected(tensors[name]).zeros) for share, name in zip(sampled, names, strict=True)]


def trained_shares(folder: Path) -> list[tuple[float, float]]:
    """Those of what Relu makes in a stored network, with its samples."""
    model = onnx.shape_inference.infer_shapes(onnx.load(folder / "model.onnx"))
    with np.load(folder / "inputs.npz") as archive:
        (values,) = (archive[key] for key in archive.files)
    sizes = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim]
    return shares(model, ("Relu",), [sample.reshape(sizes) for sample in values])


def main() -> int:
    """Print the table."""
    rows = []
    for name in TRAINED:
        found = trained_shares(MODELS / name)
        off = [100 * abs(sampled - expected) for sampled, expected in found]
        least, most = (100 * end(sampled for sampled, _ in found) for end in (min, max))
        rows.append((name, len(found), least, most, float(np.median(off)), max(off)))
    names = ("Relus", "least zeros, %", "most, %", "median difference, points", "largest, points")
    columns = (Column("network"), Column(names[0], ",d"), *(Column(name, ".0f") for name in names[1:]))
    table = Table("cortexm-zeros", "*ONNX Runtime, `python -m benchmarks.cortexm_zeros`*", columns, tuple(rows))
    sys.stdout.write(f"{table.markdown()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
