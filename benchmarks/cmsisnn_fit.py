"""Instructions of the parts of CMSIS-NN's functions, fitted to counts on the emulator.

``CMSIS_NN_DIR=... python -m benchmarks.cmsisnn_fit`` compiles made layers for Cortex-M4 and M55 with all
layers that the library computes on it, runs them on QEMU and prints the tables of ``match_cmsisnn/figures.py``. The
networks of MLPerf Tiny have no part in it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.cmsisnn_cases import addition, average, maximum
from benchmarks.cmsisnn_forced import forced, library
from benchmarks.cortexm_cases import ConvCase, DenseCase, model_of
from benchmarks.cortexm_counts import Layer, layers_of
from benchmarks.cortexm_fit import fit, total

TARGETS = {"cortex_m4": "stm32l4r5_cmsis_nn", "cortex_m55": "corstone300_cmsis_nn"}
SAME = (1, 1, 1, 1)
#: Among them depthwise layers with other windows than 3x3, which the library computes with another function.
LAYERS = (
    ConvCase(8, 20, 20, 8, (3, 3), 1, SAME),
    ConvCase(8, 22, 22, 24, (3, 3), 1),
    ConvCase(12, 14, 14, 20, (3, 3), 1, SAME),
    ConvCase(40, 9, 9, 24, (3, 3), 1, SAME),
    ConvCase(24, 18, 18, 16, (3, 3), 2, SAME),
    ConvCase(3, 40, 40, 12, (3, 3), 1, SAME),
    ConvCase(3, 41, 41, 8, (3, 3), 2, (0, 0, 1, 1)),
    ConvCase(4, 30, 12, 16, (5, 3), 1, (2, 1, 2, 1)),
    ConvCase(1, 40, 12, 32, (8, 4), 2, (3, 1, 3, 1)),
    ConvCase(1, 28, 28, 16, (5, 5), 1, (2, 2, 2, 2)),
    ConvCase(20, 21, 3, 20, (1, 1)),
    ConvCase(12, 25, 25, 12, (1, 1)),
    ConvCase(48, 13, 11, 40, (1, 1)),
    ConvCase(96, 7, 7, 64, (1, 1)),
    ConvCase(160, 4, 4, 192, (1, 1)),
    ConvCase(24, 16, 16, 32, (1, 1), 2),
    ConvCase(12, 21, 21, 12, (3, 3), 1, SAME, 12),
    ConvCase(48, 12, 12, 48, (3, 3), 1, SAME, 48),
    ConvCase(24, 19, 19, 24, (3, 3), 2, (0, 0, 1, 1), 24),
    ConvCase(160, 5, 5, 160, (3, 3), 1, SAME, 160),
    ConvCase(96, 20, 4, 96, (3, 3), 1, SAME, 96),
    ConvCase(32, 14, 14, 32, (3, 3), 1, (0, 0, 0, 0), 32),
    ConvCase(200, 4, 4, 200, (3, 3), 2, SAME, 200),
    ConvCase(24, 15, 15, 24, (2, 2), 1, (0, 0, 0, 0), 24),
    ConvCase(16, 14, 14, 16, (5, 3), 1, (2, 1, 2, 1), 16),
    DenseCase(400, 96),
    DenseCase(96, 160),
    DenseCase(48, 12),
    DenseCase(20, 100),
    DenseCase(300, 7),
    ConvCase(16, 12, 12, 24, (1, 1), 2),
    ConvCase(128, 4, 4, 144, (1, 1)),
    ConvCase(240, 3, 3, 200, (1, 1)),
    ConvCase(80, 8, 6, 72, (1, 1)),
    ConvCase(80, 7, 7, 80, (3, 3), 1, (1, 1, 1, 1), 80),
    ConvCase(20, 14, 14, 20, (3, 3), 2, (0, 0, 1, 1), 20),
    DenseCase(56, 14),
    DenseCase(12, 100),
    ConvCase(64, 6, 6, 32, (1, 1)),
    DenseCase(130, 24),
    DenseCase(64, 64),
    DenseCase(256, 16),
    DenseCase(10, 30),
    ConvCase(24, 15, 15, 24, (5, 5), 1, (2, 2, 2, 2), 24),
    ConvCase(64, 9, 9, 64, (3, 1), 1, (1, 0, 1, 0), 64),
    ConvCase(40, 12, 12, 40, (4, 4), 2, (1, 1, 1, 1), 40),
)


def _inputs(model: onnx.ModelProto) -> dict[str, NDArray[np.int8]]:
    """A sample of random bytes."""
    rng = np.random.default_rng(0)
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in model.graph.input}
    return {name: rng.integers(-128, 128, [1, *shape], np.int8) for name, shape in shapes.items()}


def main(arguments: Sequence[str]) -> int:
    """Print the figures and the errors of the fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    if library() is None:
        parser.exit(1, "CMSIS_NN_DIR is not set\n")
    forms = defaultdict[str, list[Layer]](list)
    # Layers whose sums are between two results are refused; other weights give others.
    models = [model_of(case, seed, whole=True) for seed, case in enumerate((*LAYERS, *LAYERS[::2]))]
    models += [average(channels, size) for channels, size in ((48, (7, 7)), (20, (3, 5)), (96, (25, 5)), (200, (3, 3)))]
    models += [maximum(channels, (16, 16), (2, 2), 2, (0, 0, 0, 0)) for channels in (16, 40)]
    models += [maximum(24, (13, 11), (3, 3), 1, (1, 1, 1, 1)), addition((1, 24, 12, 12)), addition((1, 10, 30, 30))]
    with forced():
        for core, target in TARGETS.items():
            for model in models:
                with tempfile.TemporaryDirectory(prefix="match-cmsisnn-") as folder:
                    path = Path(folder) / "net.onnx"
                    onnx.save(model, path)
                    for layer in layers_of(path, _inputs(model), core, target):
                        if layer.keys[0].startswith("cmsis_nn_") and layer.counted:
                            calls = next(name for name in layer.counts if name.endswith("_calls"))
                            forms[calls.removesuffix("_calls")].append(layer)
    for form, group in forms.items():
        names = list(dict.fromkeys(name for layer in group for name in layer.counts if name.startswith(form)))
        values = fit(group, names, every=True)
        errors = [abs(total(layer, values) / layer.counted - 1) for layer in group]
        parts = {name.removeprefix(f"{form}_"): value for name, value in values.items()}
        sys.stdout.write(f'    "{form}": {parts},\n')
        sys.stdout.write(f"    # {len(group)} layers: median {np.median(errors):.1%}, worst {max(errors):.1%}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
