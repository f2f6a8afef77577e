"""Networks with int16 activations on emulated Cortex-M cores, beside the same networks in int8 and in floating point.

``python -m benchmarks.cortexm_int16 [NAME ...]`` needs arm-none-eabi-gcc, qemu-system-arm and ../shared/models. ONNX
Runtime quantises MLPerf Tiny's float networks with their samples: activations to int8, to int16, and to int16 with zero
points, which stay in floating point. A softmax at the end is left out. ``steps``: the largest differences of outputs
to the quantised file in double precision (exact_qdq.py) and in ONNX Runtime's float32.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from match_core.contract.errors import InfeasibleError
from match_core.contract.runner import Place
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model
from numpy.typing import NDArray

from benchmarks.cortexm import CORES
from benchmarks.exact_qdq import computed
from benchmarks.runs import MODELS, told
from benchmarks.tables import Cell, Column, Table

COMMAND = "benchmarks.cortexm_int16"
NAMES = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
FLOAT, STAYS, WIDE, BYTES = "float32", "int16 in floating point", "int16", "int8"
Arrays = Mapping[str, NDArray[np.generic]]


def without_softmax(source: Path, path: Path) -> Path:
    """The float network without a softmax at its end."""
    import onnx

    model = onnx.load(source)
    last = model.graph.node[-1]
    if last.op_type == "Softmax":
        model.graph.output[0].name = last.input[0]
        model.graph.node.remove(last)
    onnx.save(model, path)
    return path


def quantised(source: Path, path: Path, form: str, samples: Arrays) -> Path:
    """The network with activations of this form, and int8 weights per channel."""
    from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static

    class Reader(CalibrationDataReader):
        def __init__(self) -> None:
            count = len(next(iter(samples.values())))
            self.left = [{name: array[n] for name, array in samples.items()} for n in range(count)]

        def get_next(self) -> Arrays | None:
            return self.left.pop() if self.left else None

    quantize_static(
        source,
        path,
        Reader(),
        activation_type=QuantType.QInt8 if form == BYTES else QuantType.QInt16,
        weight_type=QuantType.QInt8,
        per_channel=True,
        extra_options={"ActivationSymmetric": form == WIDE},
    )
    return path


def _from_double(path: Path, samples: Arrays, outputs: NDArray[np.generic]) -> int:
    """The largest difference of these outputs, integers for each sample, from double precision; 0 for floats."""
    import onnx

    model = onnx.load(path)
    last = model.graph.node[-1]
    if last.op_type != "DequantizeLinear":
        return 0
    most = 0
    for sample, values in enumerate(outputs.astype(np.int64)):
        exact = computed(model, {name: array[sample] for name, array in samples.items()})[last.input[0]]
        most = max(most, int(np.abs(values.reshape(-1) - exact.reshape(-1).astype(np.int64)).max()))
    return most


def table(names: Sequence[str], plugins: Plugins) -> Table:
    """A row for each network, core and form."""
    runner = next(runner for runner in plugins.runners() if runner.name == "qemu")
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        folder = MODELS / f"mlperf_{name}_f32"
        with np.load(folder / "inputs.npz") as archive:
            samples = {key: archive[key] for key in archive.files}
        for core, (target, machine) in CORES.items():
            least = 0.0
            for form in (WIDE, BYTES, STAYS, FLOAT):
                with tempfile.TemporaryDirectory(prefix="match-cortexm-") as work:
                    path = without_softmax(folder / "model.onnx", Path(work) / "float.onnx")
                    path = path if form == FLOAT else quantised(path, Path(work) / "net.onnx", form, samples)
                    two = {key: array[:2] for key, array in samples.items()}
                    placed = VerifyRequest(path, target, arrays=two, place=Place(runner, machine), cache=False)
                    try:
                        counted = verify_model(placed, plugins)
                    except InfeasibleError as error:
                        told(f"{name} {core} {form}: {error}")
                        rows.append((name, core, form, *[None] * 5))
                        continue
                    apart = verify_model(VerifyRequest(path, target, arrays=samples, quantized_io=True), plugins)
                    (output,) = apart.outputs
                    steps = (_from_double(path, samples, apart.run.outputs[output.name]), int(output.max_abs_lsb))
                # Floats a rounding apart may be a step apart behind a quantiser.
                if form != STAYS and not (counted.computed and apart.computed):
                    sys.exit(f"FAILURE: {name} in {form} on {machine}: the outputs are not those of the network")
                count = counted.run.cycles_total * 1e-6
                least = least or count
                ram = counted.compilation.program.memory[0].arena_bytes
                cells = steps if form in (WIDE, BYTES) else (None, None)
                rows.append((name, core, form, count, count / least, ram, *cells))
                told(f"{name} {core} {form}: {count:.3f} million instructions, steps {cells}")
    columns = (
        Column("network"),
        Column("core"),
        Column("activations"),
        Column("M instructions", ".3f"),
        Column("by int16", ".2f"),
        Column("RAM", ",d"),
        Column("steps, double", "d"),
        Column("steps, float32", "d"),
    )
    return Table("cortexm_int16", f"*emulated, gcc -O3, `python -m {COMMAND}`*", columns, tuple(rows))


def main(arguments: Sequence[str]) -> int:
    """Print a table, write CSV."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--update", action="store_true", help="put the table into docs/deploy-cortexm.md")
    options = parser.parse_args(arguments)
    if not MODELS.is_dir():
        parser.exit(1, f"the networks are not on this machine: there is no {MODELS}\n")
    made = table(options.names or NAMES, Plugins.load())
    made.write_csv()
    sys.stdout.write(f"{made.markdown()}\n")
    if options.update:
        made.put(Path(__file__).resolve().parents[1] / "docs" / "deploy-cortexm.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
