"""How often ResNet8 keeps its class on DIANA, and what of that is rounding of which kind.

    python plugins/match-diana/tests/passes/measure_classes.py [--count N] [--seed S]

The stored samples are few. So images are made in the same way (waves of low frequency and noise), and the original in
QuantizeLinear and DequantizeLinear is compared with the integer graph, with what the passes leave if weights or tensors
are not rounded, and with the other forms of the same network that are stored.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
from diana_pass_models import POWER_OF_TWO, context, integer_graph, quantised_graph
from match_core import Model
from match_core.ir.reader import constant, shape_of
from match_core.load.load import load_model
from match_quant.powers import copies
from match_quant.real_constant import real_constant
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

SHARED = Path(__file__).resolve().parents[4].parent / "shared" / "models"
Images = NDArray[np.int8]


def images(count: int, seed: int) -> Images:
    """[count, 1, 3, 32, 32]"""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:32, 0:32] / 32
    made = []
    for _ in range(count):
        image = 0.15 * random.normal(size=(3, 32, 32))
        for _ in range(6):
            along, across, phase = random.uniform((-4, -4, 0), (4, 4, 1))
            wave = np.sin(2 * np.pi * (along * rows + across * columns + phase))
            image += random.normal(size=(3, 1, 1)) * wave
        image -= image.min()
        made.append(np.rint(255 * image / image.max() - 128))
    return np.stack(made).astype(np.int8)[:, None]


def classes(model: Model, given: Images) -> NDArray[np.intp]:
    """The first of the largest results for each image. A float model gets the values of the pixels."""
    runner = ReferenceRunner(model)
    (name,) = runner.input_names
    floats = np.dtype(model.graph.inputs[0].dtype) == np.float32
    values = given.astype(np.float32) + 128 if floats else given
    return np.array([next(iter(runner.run({name: x}).values())).argmax() for x in values])


def with_real_weights(model: Model, original: Model) -> Model:
    """The passes' model with the original's weights and biases, as floats."""
    given = {node.name: node for node in original.graph.nodes if node.op in ("Conv", "Gemm")}
    changed = model.copy()
    for node in (node for node in changed.graph.nodes if node.name in given):
        for position, tensor in enumerate(node.inputs[1:], 1):
            values, stored = real_constant(given[node.name].inputs[position]), shape_of(tensor)
            assert values is not None
            copies = stored[1] // values.shape[1] if position == 1 else 1
            whole = np.concatenate([values / copies] * copies, axis=1) if copies > 1 else values
            node.inputs[position] = _constant(f"{node.name}_{position}_real", whole.astype(np.float32))
    return changed


def with_real_tensors(model: Model) -> Model:
    """The passes' model in which only the ends, and what stands behind the mean of all pixels, are rounded."""
    changed = model.copy()
    for node in [node for node in changed.graph.nodes if node.op == "DequantizeLinear"]:
        maker = None if constant(node.inputs[0]) is not None else next(iter(node.inputs[0].inputs), None)
        if maker is None or maker.op != "QuantizeLinear" or len(shape_of(maker.inputs[0])) != 4:
            continue
        if shape_of(maker.inputs[0])[2:] == (1, 1):
            continue
        for reader in list(node.outputs[0].outputs):
            reader.inputs = [maker.inputs[0] if tensor is node.outputs[0] else tensor for tensor in reader.inputs]
    return changed


def forms() -> dict[str, Model]:
    """What is compared with the original."""
    original = quantised_graph(stored("int8_qdq"))
    passed = POWER_OF_TWO.run(original, context())
    with patch.object(copies, "_SHARE", 0.0):
        plain = integer_graph(stored("int8_qdq"))
    return {
        "the integer graph": integer_graph(stored("int8_qdq")),
        "without copies of inputs": plain,
        "weights not rounded": with_real_weights(passed, original),
        "tensors not rounded": with_real_tensors(passed),
        "neither rounded": with_real_tensors(with_real_weights(passed, original)),
        "the original in integers": stored("int8_int"),
        "the float network": stored("f32"),
    }


def stored(form: str) -> Model:
    """A form of the network."""
    return load_model(SHARED / f"mlperf_resnet8_{form}" / "model.onnx")


def main(arguments: Sequence[str]) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="made images")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    (kept,) = np.load(SHARED / "mlperf_resnet8_int8_qdq" / "inputs.npz").values()
    sets = (kept, images(options.count, options.seed))
    wanted = [classes(stored("int8_qdq"), given) for given in sets]
    sys.stdout.write(
        f"| the original's class is kept by | of {len(kept)} stored | of {options.count} made |\n|---|--:|--:|\n"
    )
    for name, model in forms().items():
        same = [int(np.sum(classes(model, given) == found)) for given, found in zip(sets, wanted, strict=True)]
        sys.stdout.write(f"| {name} | {same[0]} | {same[1]} ({same[1] / options.count:.1%}) |\n")


def _constant(name: str, values: NDArray[np.float32]) -> object:
    import onnx_graphsurgeon as gs

    return gs.Constant(name, values)


if __name__ == "__main__":
    main(sys.argv[1:])
