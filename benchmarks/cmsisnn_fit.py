"""Instructions of the parts of CMSIS-NN's functions, fitted to counts on the emulator.

``CMSIS_NN_DIR=... python -m benchmarks.cmsisnn_fit`` compiles the layers of cortexm_cases.py and some more for
Cortex-M4 and M55 with all layers that the library computes on it, runs them on QEMU and prints the tables of
``match_cmsisnn/figures.py``. The networks of MLPerf Tiny have no part in it.
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
from match_core.plugin.facade import Plugins

from benchmarks.cmsisnn_cases import addition, average, maximum
from benchmarks.cmsisnn_forced import forced, library
from benchmarks.cortexm_cases import CASES, ConvCase, DenseCase, OtherCase, model_of
from benchmarks.cortexm_fit import Counts, counted, fit

TARGETS = ("stm32l4r5_cmsis_nn", "corstone300_cmsis_nn")
#: Among them depthwise layers with other windows than 3x3, which the library computes with another function.
MORE = (
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


def main(arguments: Sequence[str]) -> int:
    """Print the figures and the errors of the fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args(arguments)
    if library() is None:
        parser.exit(1, "CMSIS_NN_DIR is not set\n")
    plugins, forms = Plugins.load(), defaultdict[str, list[tuple[Counts, int]]](list)
    layers = [case for case in (*CASES, *MORE) if not isinstance(case, OtherCase)]
    # Layers whose sums are between two results are refused; other weights give others.
    models = [model_of(case, seed, whole=True) for seed, case in enumerate((*layers, *layers[::2]))]
    models += [average(channels, size) for channels, size in ((48, (7, 7)), (20, (3, 5)), (96, (25, 5)), (200, (3, 3)))]
    models += [maximum(channels, (16, 16), (2, 2), 2, (0, 0, 0, 0)) for channels in (16, 40)]
    models += [maximum(24, (13, 11), (3, 3), 1, (1, 1, 1, 1)), addition((1, 24, 12, 12)), addition((1, 10, 30, 30))]
    with forced():
        for target in TARGETS:
            for model in models:
                with tempfile.TemporaryDirectory(prefix="match-cmsisnn-") as folder:
                    path = Path(folder) / "net.onnx"
                    onnx.save(model, path)
                    for pattern, counts, number, _ in counted(Path(folder) / "build", path, target, plugins):
                        own = [name for name in counts if name.endswith("_calls")]
                        if pattern.startswith("cmsis_nn_") and number:
                            forms[own[0].removesuffix("_calls")].append((counts, number))
    for form, samples in forms.items():
        names = tuple(dict.fromkeys(name for counts, _ in samples for name in counts if name != "elements"))
        values = fit(samples, names)
        errors = [sum(values[n] * c.get(n, 0) for n in names) / number - 1 for c, number in samples]
        parts = {name.removeprefix(f"{form}_"): value for name, value in values.items() if value}
        sys.stdout.write(f'    "{form}": {parts},\n')
        worst = max(map(abs, errors))
        sys.stdout.write(f"    # {len(samples)} layers: median {np.median(np.abs(errors)):.1%}, worst {worst:.1%}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
